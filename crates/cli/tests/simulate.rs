//! `prestore simulate`: what it prints, and what it says about input that cannot be simulated.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;

use common::{Ran, assert_valid, c_program, recorded, root, run, text};

fn simulate(dir: &Path, options: &[&str]) -> Ran {
    run(["simulate", text(dir)].iter().chain(options))
}

const TINY: [&str; 2] = ["--machine", "tiny"];
const ON_A: [&str; 4] = ["--machine", "machine-a", "--format", "json"];

#[test]
fn results_follow_their_schema_and_their_seed() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=5K", "--keys=2048"]);
    let first = simulate(&dir, &ON_A).exits(0);
    let json = first.json();
    assert_valid("simulate.schema.json", &json);
    assert_eq!(json["machine"], "machine-a");
    assert!(json["instructions"].as_u64() > json["accesses"].as_u64());
    assert_eq!(simulate(&dir, &ON_A).stdout, first.stdout);
    let other = simulate(&dir, &[&ON_A[..], &["--seed", "2"]].concat()).exits(0);
    assert_ne!(other.stdout, first.stdout);

    let file = folder.path().join("result.json");
    let to_file = simulate(&dir, &[&ON_A[..], &["-o", text(&file)]].concat()).exits(0);
    assert_eq!(to_file.stdout, "");
    assert_eq!(fs::read_to_string(&file).unwrap(), first.stdout);

    let plain = simulate(&dir, &["--machine", "machine-a"]).exits(0).stdout;
    for part in ["Where the time went", "media to memory", "L3", "Latencies"] {
        assert!(plain.contains(part), "'{part}' is missing: {plain}");
    }
}

#[test]
fn no_more_is_simulated_than_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=5K", "--keys=2048"]);
    for limit in [1, 5000] {
        let most = limit.to_string();
        let json = simulate(&dir, &[&ON_A[..], &["--limit", &most]].concat());
        let json = json.exits(0).json();
        assert!(
            json["accesses"].as_u64() <= Some(limit),
            "{limit}: {json:#}"
        );
        let notes = json["notes"].to_string();
        assert!(notes.contains("only the first"), "{notes}");
    }
}

#[test]
fn a_machine_that_no_memory_could_hold_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=5K", "--keys=2048"]);
    let setting = ["--set", "core.store_buffer.entries=4294967295"];
    simulate(&dir, &[&ON_A[..], &setting].concat())
        .exits(2)
        .says(&[
            "core.store_buffer.entries",
            "4294967295 is more than any machine has",
        ]);
}

#[test]
fn parts_of_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(
        folder.path(),
        "listing1",
        &["--iters=2000", "--warmup=1000"],
    );
    let json = |options: &[&str]| {
        simulate(&dir, &[&ON_A[..], options].concat())
            .exits(0)
            .json()
    };
    let accesses = |options: &[&str]| json(options)["accesses"].as_u64().unwrap();
    let all = accesses(&[]);
    // The program's region 1 comes after its warm-up.
    let region = accesses(&["--region", "1"]);
    assert!(region < all, "{region} of {all}");
    let late = accesses(&["--warmup", "20K"]);
    assert!(late < all && late + 30_000 > all, "{late} of {all}");
    let early = json(&["--limit", "20K"]);
    let early_accesses = early["accesses"].as_u64().unwrap();
    assert!(
        (10_000..30_000).contains(&early_accesses),
        "{early_accesses}"
    );
    assert!(early["notes"][0].as_str().unwrap().contains("first 20000"));

    simulate(&dir, &[&TINY[..], &["--region", "7"]].concat())
        .exits(2)
        .says(&["region 7", "1"]);
    simulate(&dir, &[&TINY[..], &["--warmup", "1G"]].concat())
        .exits(2)
        .says(&["--warmup 1000000000", "smaller"]);
}

#[test]
fn more_threads_than_cores() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--iters=300", "--threads=3", "--elements=64"];
    let dir = recorded(folder.path(), "listing1", &args);
    simulate(&dir, &TINY)
        .exits(2)
        .says(&["2 cores", "tiny", "--set core.count=3"]);
    simulate(&dir, &[&TINY[..], &["--set", "core.count=4"]].concat()).exits(0);
}

#[test]
fn a_machine_file_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "listing3", &["--iters=100"]);
    let tiny = fs::read_to_string(root().join("machines/tiny.toml")).unwrap();
    let file = folder.path().join("mine.toml");
    for (from, to, words) in [
        ("width = 1", "widht = 1", &["widht", "width"][..]),
        ("clock = \"1 GHz\"", "clock = 1", &["clock", "unit"]),
        ("size = \"1 KiB\"", "size = \"1000 B\"", &["L1D", "ways"]),
        (
            "default_memory = \"dram\"",
            "default_memory = \"pmem\"",
            &["pmem", "dram"],
        ),
    ] {
        let at = tiny.find(from).unwrap();
        let line = tiny[..at].matches('\n').count() + 1;
        fs::write(&file, tiny.replacen(from, to, 1)).unwrap();
        simulate(&dir, &["--machine", text(&file)])
            .exits(2)
            .says(&[&format!("mine.toml:{line}")])
            .says(words);
    }
    simulate(&dir, &["--machine", "no/such/file.toml"])
        .exits(2)
        .says(&["no/such/file.toml"]);
    simulate(&dir, &[&TINY[..], &["--set", "core.width=0"]].concat())
        .exits(2)
        .says(&["width"]);
}

#[test]
fn a_recording_that_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=50K", "--keys=2048"]);
    let whole = simulate(&dir, &ON_A).exits(0).json();
    let streams = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let longest = streams
        .max_by_key(|p| fs::metadata(p).unwrap().len())
        .unwrap();
    let bytes = fs::read(&longest).unwrap();
    fs::write(&longest, &bytes[..bytes.len() / 2]).unwrap();

    simulate(&dir, &ON_A).exits(2).says(&["--lenient"]);
    let part = simulate(&dir, &[&ON_A[..], &["--lenient"]].concat())
        .exits(0)
        .json();
    assert!(!part["notes"].as_array().unwrap().is_empty(), "{part:#}");
    let [some, all] = [&part, &whole].map(|json| json["accesses"].as_u64().unwrap());
    assert!(some > 0 && some < all, "{some} of {all}");

    simulate(&folder.path().join("missing"), &ON_A)
        .exits(2)
        .says(&["missing", "prestore record"]);
    simulate(folder.path(), &ON_A)
        .exits(2)
        .says(&["not a trace"]);
}

/// A list and an array of the same nodes in the same order: the list's next node is known only when the one before is
/// there, the array's are fetched side by side.
#[test]
fn a_list_takes_longer_than_an_array_of_its_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <stdlib.h>
        #include "prestore_region.h"
        #define NODES (1 << 16)
        static struct node { struct node *next; long value, other[6]; } nodes[NODES] __attribute__((aligned(64)));
        static struct node *order[NODES];
        int main(int count, char **arguments) {
            for (long i = 0; i < NODES; i++) order[i] = &nodes[i * 40503 % NODES];
            for (long i = 0; i < NODES; i++) order[i]->next = order[(i + 1) % NODES];
            long sum = 0;
            struct node *at = order[0];
            PRESTORE_REGION_BEGIN(1);
            if (atoi(arguments[1]))
                for (long i = 0; i < NODES; i++, at = at->next) sum += at->value;
            else
                for (long i = 0; i < NODES; i++) sum += order[i]->value;
            PRESTORE_REGION_END(1);
            return sum != 0;
        }"#;
    let include = root().join("include");
    for level in ["-O0", "-O2"] {
        let program = c_program(
            folder.path(),
            "list",
            source,
            &[level, "-I", text(&include)],
        );
        let seconds = |which: &str| {
            let dir = folder.path().join(which);
            let to = ["record", "--quiet", "--force", "--output", text(&dir), "--"];
            run(to.iter().chain(&[text(&program), which])).exits(0);
            [&[][..], &["--independent-loads"]].map(|options| {
                let options = [&ON_A[..], &["--region", "1"], options].concat();
                let json = simulate(&dir, &options).exits(0).json();
                json["seconds"].as_f64().unwrap()
            })
        };
        let ([list, at_once], [array, _]) = (seconds("1"), seconds("0"));
        assert!(list > 3.0 * array, "{level}: {list} s and {array} s");
        assert!(list > 2.0 * at_once, "{level}: {list} s and {at_once} s");
    }
}
