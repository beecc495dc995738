//! What the scopes, windows and regions let through.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{
    Running, advise, advise_with, c_program, finding, findings, kv, prestore, run, steady_program,
    text,
};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

const SHORT: &str = "--ops=100K";

fn functions(report: &Value) -> Vec<&str> {
    let names = findings(report)
        .iter()
        .map(|f| f["function"].as_str().unwrap());
    names.collect()
}

#[test]
fn counts_are_those_of_all_accesses() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let counts = advise_with(&["--scope", "count"], &program, &[]);
    let all = advise(&program, &[]);
    assert_eq!(counts["instructions"], all["totals"]["instructions"]);
    assert_eq!(counts["stores"], all["totals"]["stores"]);
    let much = &counts["functions"][0];
    assert_eq!(much["function"], "much");
    assert_eq!(much["stores"], 20 << 16);
    assert_eq!(finding(&all, "much")["stores"], 20 << 16);
    assert_eq!(counts["functions"][1]["stores"], 20 << 12);
}

#[test]
fn functions_are_those_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let options = ["--scope", "functions", "--function", "little"];
    let little = advise_with(&options, &program, &[]);
    assert_eq!(functions(&little), ["little"]);
    assert_eq!(little["scope"], "functions");
    let all = advise(&program, &[]);
    let (chosen, known) = (finding(&little, "little"), finding(&all, "little"));
    for key in [
        "stores",
        "store_bytes",
        "sequential_share",
        "rewrite",
        "line",
    ] {
        assert_eq!(chosen[key], known[key], "{key}");
    }
}

#[test]
fn functions_that_nothing_ran_of_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let dir = folder.path().join("a trace");
    let recorded = |names: &[&str]| {
        let mut command = prestore();
        command.args(["record", "--force", "-o", text(&dir)]);
        command.args(["--scope", "functions"]);
        for name in names {
            command.args(["--function", name]);
        }
        Running::start({
            command.arg("--").arg(&program);
            command
        })
        .finish()
    };
    recorded(&["little", "nosuch"]).exits(0).says(&[
        "no stores of nosuch were seen",
        "--scope count",
        // As a shell reads it back.
        &format!("next: prestore advise '{}'", text(&dir)),
    ]);
    recorded(&["nosuch"])
        .exits(3)
        .says(&["no stores of nosuch were seen", "--scope count"]);
}

#[test]
fn without_names_they_are_those_that_store_most() {
    let mut command = prestore();
    command.args(["advise", "--format", "json", "--scope", "functions", "--"]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish().exits(0);
    let ran = ran.says(&["functions that store most: craft_value"]);
    let report = ran.json();
    let value = finding(&report, "craft_value");
    assert_eq!(value["verdict"], "skip");
    // Shares are of all the program's stores, which the first run counted.
    let all = advise(&kv(), &[SHORT]);
    let share = |f: &Value| f["store_share"].as_f64().unwrap();
    let difference = share(value) - share(finding(&all, "craft_value"));
    assert!(difference.abs() < 0.001, "{difference}");
}

#[test]
fn stripped_programs_are_taken_whole() {
    let folder = tempfile::tempdir().unwrap();
    let stripped = folder.path().join("kv");
    let strip = Command::new("strip")
        .arg("-o")
        .args([&stripped, &kv()])
        .status();
    assert!(strip.unwrap().success());
    let mut command = prestore();
    command.args(["advise", "--format", "json", "--scope", "functions", "--"]);
    command.arg(&stripped).arg(SHORT);
    let ran = Running::start(command).finish().exits(0);
    let ran = ran.says(&["no symbols tell the functions of these apart", "/kv"]);
    let report = ran.json();
    let most = &report["findings"][0];
    assert_eq!(most["verdict"], "skip");
    assert!(most["store_share"].as_f64().unwrap() > 0.5, "{most}");
}

#[test]
fn recorded_functions_give_the_same_findings() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let dir = folder.path().join("steady.trace");
    let options = ["--scope", "functions", "--function", "much"];
    let mut command = prestore();
    command.args(["record", "-o", text(&dir)]).args(options);
    command.arg("--").arg(&program);
    Running::start(command).finish().exits(0);
    let stored = run(["advise", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    let live = advise_with(&options, &program, &[]);
    assert_eq!(functions(&stored), ["much"]);
    for key in ["stores", "verdict", "contexts", "rewrite", "fence_distance"] {
        let (stored, live) = (finding(&stored, "much"), finding(&live, "much"));
        assert_eq!(stored[key], live[key], "{key}");
    }
}

#[test]
fn a_function_that_never_ran_is_named() {
    let mut command = prestore();
    command.args([
        "advise",
        "--scope",
        "functions",
        "--function",
        "no_such_function",
        "--",
    ]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish();
    assert_eq!(ran.code(), 3, "{ran:#?}");
    ran.says(&["no_such_function", "--scope count"]);
}

#[test]
fn without_counters_samples_become_counts() {
    let mut command = prestore();
    command.args(["advise", "--scope", "sample", "--format", "json", "--"]);
    command.arg(kv()).arg(SHORT);
    let ran = Running::start(command).finish().exits(0);
    let report = ran.json();
    assert_eq!(report["functions"][0]["function"], "craft_value");
    if report["scope"] == "sample" {
        assert_eq!(report["exactness"]["kind"], "sampled");
        return;
    }
    assert_eq!(report["scope"], "count");
    assert_eq!(report["exactness"]["kind"], "exact");
    ran.says(&["no store samples:", "counting stores exactly instead"]);
}

#[test]
fn a_window_bounds_what_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let whole = advise(&program, &[]);
    let total = |report: &Value, what: &str| report["totals"][what].as_u64().unwrap();
    let all = total(&whole, "stores");
    let options = ["--skip", "1M", "--take", "1M"];
    let report = advise_with(&options, &program, &[]);
    assert_eq!(report["exactness"]["kind"], "windowed");
    // Every loop of the program stores about as often; the window is exact to a block.
    let stores = total(&report, "stores") as f64;
    let expected = all as f64 * 1e6 / total(&whole, "instructions") as f64;
    assert!(
        (stores / expected - 1.0).abs() < 0.1,
        "{stores}, {expected}"
    );
    let detail = report["exactness"]["detail"].as_str().unwrap();
    assert!(detail.contains("1.00 M of"), "{detail}");

    let options = ["--take", "100K", "--period", "1M", "--scope", "count"];
    let counts = advise_with(&options, &program, &[]);
    let counted = counts["stores"].as_u64().unwrap();
    assert!(
        counted > all / 20 && counted < all / 5,
        "{counted} of {all}"
    );
}

#[test]
fn a_region_is_a_phase_of_the_program() {
    let whole = advise(&kv(), &[SHORT]);
    let phase = advise_with(&["--region", "1"], &kv(), &[SHORT]);
    let any = advise_with(&["--region", "any"], &kv(), &[SHORT]);
    assert_eq!(phase["exactness"]["kind"], "windowed");
    let stores = |report: &Value| finding(report, "craft_value")["stores"].as_u64().unwrap();
    // The load phase crafts 32 Ki values of 128 words, outside the region.
    assert_eq!(stores(&whole) - stores(&phase), (32 << 10) * 128);
    assert_eq!(stores(&phase), stores(&any));
    assert_eq!(finding(&phase, "craft_value")["verdict"], "skip");
}

#[test]
fn places_are_lines_files_and_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let all = advise(&program, &[]);
    let known = finding(&all, "little");
    let line = known["line"].as_u64().unwrap();
    let address = format!("steady+{:#x}", known["offset"].as_u64().unwrap());
    let (one, wide) = (
        format!("steady.c:{line}"),
        format!("steady.c:{line}-{}", line + 1),
    );
    for place in [&one, &wide, &address] {
        let little = advise_with(&["--scope", "functions", "--place", place], &program, &[]);
        assert_eq!(functions(&little), ["little"], "{place}");
        for key in ["stores", "store_bytes", "rewrite", "line"] {
            let found = &finding(&little, "little")[key];
            assert_eq!(*found, known[key], "{place}: {key}");
        }
    }
    for by_path in [
        ["--module", "./steady"],
        ["--place", &format!("./{address}")],
    ] {
        let mut command = prestore();
        command.current_dir(folder.path());
        command.args(["advise", "--format", "json", "--scope", "functions"]);
        command.args(by_path).arg("--").arg(&program);
        let found = Running::start(command).finish().exits(0).json();
        assert_eq!(
            finding(&found, "little")["stores"],
            known["stores"],
            "{by_path:?}"
        );
    }
    let file = advise_with(
        &["--scope", "functions", "--place", "steady.c"],
        &program,
        &[],
    );
    assert_eq!(functions(&file), functions(&all));
}

/// Copies two halves of an array, from two lines of one function.
const HALVES: &str = r#"
    #include <string.h>
    static char from[1 << 16], to[2][1 << 24];
    __attribute__((noipa)) static void copy(long at, long n) {
        memcpy(to[0] + at, from, n);
        memcpy(to[1] + at, from, n / 2);
    }
    int main(void) {
        for (long at = 0; at < sizeof to[0]; at += sizeof from) copy(at, sizeof from);
        return to[0][7] + to[1][9];
    }
"#;

#[test]
fn what_is_called_at_a_place_or_from_a_module_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    // A jump to memcpy at the end of a function is no call at its line.
    let flags = ["-fno-builtin", "-fno-optimize-sibling-calls"];
    let program = c_program(folder.path(), "halves", HALVES, &flags);
    let bytes = |options: &[&str]| stored_bytes(folder.path(), &program, options);
    let call = |text: &str| 1 + HALVES.lines().position(|l| l.contains(text)).unwrap();
    let (first, second) = (call("to[0] + at"), call("to[1] + at"));
    // Some processors' memcpy stores up to two vectors of each of the 256 copies twice.
    let is = |found: &[u64], copied: &[u64]| {
        let twice = |(found, copied): (&u64, &u64)| (0..=256 * 128).contains(&(found - copied));
        assert_eq!(found.len(), copied.len(), "{found:?}");
        assert!(found.iter().zip(copied).all(twice), "{found:?}");
    };
    let (found, stored) = bytes(&["--place", &format!("halves.c:{second}")]);
    is(&found, &[1 << 23]);
    assert_eq!(finding(&stored, "copy")["line"], second);
    is(
        &bytes(&["--place", &format!("halves.c:{first}")]).0,
        &[1 << 24],
    );
    let (both, _) = bytes(&["--module", "halves"]);
    is(&both, &[1 << 24, 1 << 23]);
    let shown = run(["trace", "info", text(&folder.path().join("trace"))]).exits(0);
    assert!(shown.stdout.contains("functions (halves)"), "{shown:#?}");
}

/// How many bytes each finding stores, of a recording with these options and of a run that is looked at while it
/// runs, which are the same; and what is said of the recording.
fn stored_bytes(folder: &Path, program: &Path, options: &[&str]) -> (Vec<u64>, Value) {
    let dir = folder.join("trace");
    let mut command = prestore();
    command.args(["record", "--force", "-o", text(&dir)]);
    command.args(["--scope", "functions"]);
    command.args(options).arg("--").arg(program);
    Running::start(command).finish().exits(0);
    let stored = run(["advise", text(&dir), "--format", "json"]).exits(0);
    let stored = stored.json();
    let live = advise_with(&[&["--scope", "functions"], options].concat(), program, &[]);
    let bytes = |report: &Value| {
        let of = |f: &Value| (f["line"].as_u64(), f["store_bytes"].as_u64().unwrap());
        findings(report).iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(bytes(&stored), bytes(&live));
    (bytes(&live).iter().map(|(_, n)| *n).collect(), stored)
}

/// Writes two arrays in one block of code.
const BOTH: &str = r#"
    static long one[1 << 16], two[1 << 18];
    __attribute__((noipa)) static void both(long n) {
        for (long i = 0; i < n; i++) {
            one[i] = i;
            two[4 * i] = i;
        }
    }
    int main(void) {
        both(1 << 16);
        return one[7] + two[8] - 9;
    }
"#;

#[test]
fn a_place_in_the_middle_of_a_block_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "both", BOTH, &["-O1"]);
    let bytes = |place: &str| stored_bytes(folder.path(), &program, &["--place", place]);
    for array in ["one[i] =", "two[4 * i] ="] {
        let line = 1 + BOTH.lines().position(|l| l.contains(array)).unwrap();
        let (by_line, stored) = bytes(&format!("both.c:{line}"));
        assert_eq!(by_line, [8 << 16], "{array}");
        let finding = finding(&stored, "both");
        assert_eq!(finding["line"], line, "{array}");
        let (by_address, again) =
            bytes(&format!("both+{:#x}", finding["offset"].as_u64().unwrap()));
        assert_eq!(by_address, [8 << 16], "{array}");
        assert_eq!(findings(&again)[0]["line"], line, "{array}");
    }
}

#[test]
fn places_that_are_none_or_that_nothing_stores_at_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = steady_program(folder.path());
    let advise = |options: &[&str]| {
        let mut command = prestore();
        command
            .args(["advise", "--scope", "functions"])
            .args(options);
        command.arg("--").arg(&program);
        Running::start(command).finish()
    };
    for wrong in ["steady.c:", "steady.c:x", "steady.c:9-3", "+0x10"] {
        advise(&["--place", wrong]).exits(2).says(&["FILE:LINE"]);
    }
    for nowhere in [["--place", "steady.c:100"], ["--module", "libz"]] {
        let missing = format!("no stores of {} were seen", nowhere[1]);
        advise(&nowhere).exits(3).says(&[&missing, "--scope count"]);
    }
    let some = ["--module", "steady", "--module", "libz"];
    let ran = advise(&some).exits(0);
    // Among the notes of the findings.
    assert!(
        ran.stdout.contains("no stores of libz were seen"),
        "{ran:#?}"
    );
}
