//! Recordings from the command line: what they hold, exports, imports.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use common::{
    Running, advise, advise_with, assert_valid, c_program, recorded, root, run, text, workload,
};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

fn rows(path: PathBuf) -> u64 {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    reader.metadata().file_metadata().num_rows() as u64
}

#[test]
fn an_export_has_every_event() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("kv.trace");
    let kv = workload("kv").unwrap();
    let recorded = run([
        "record",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        "--ops=2K",
        "--keys=1K",
    ]);
    let recorded = recorded
        .exits(0)
        .says(&["accesses of 1 thread in", "dropped events: 0"]);
    assert!(
        recorded.stdout.starts_with("kv: ops=2048 "),
        "{recorded:#?}"
    );
    let info = run(["trace", "info", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    let exported = run(["export", text(&dir), "--to", "parquet"]).exits(0);
    exported.says(&[" events, ", " sites, ", " 1 thread written"]);
    let table = |name: &str| dir.join("parquet").join(name);
    let events = info["events"].as_object().unwrap();
    let all: u64 = events.values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(rows(table("events.parquet")), all);
    assert!(rows(table("sites.parquet")) > 100);
    assert_eq!(rows(table("threads.parquet")), 1);
    let threads = fs::File::open(table("threads.parquet")).unwrap();
    let threads = SerializedFileReader::new(threads).unwrap();
    let thread = threads.get_row_iter(None).unwrap().next().unwrap().unwrap();
    let (start, end) = (thread.get_ulong(7).unwrap(), thread.get_ulong(8).unwrap());
    assert!(0 < start && start < end, "{start} to {end}");

    let again = run(["export", text(&dir), "--to", "parquet"]).exits(2);
    again.says(&["events.parquet", "exists"]);
    let elsewhere = folder.path().join("elsewhere");
    run([
        "export",
        text(&dir),
        "--to",
        "parquet",
        "-o",
        text(&elsewhere),
    ])
    .exits(0);
    assert!(elsewhere.join("events.parquet").exists());
}

#[test]
fn samples_of_perf_say_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    for (name, function) in [("perf-mem-intel", None), ("perf-chains", Some("from "))] {
        let input = root().join(format!("crates/trace/tests/fixtures/{name}.txt"));
        let dir = folder.path().join(name);
        let import = ["import", text(&input), "-o", text(&dir)];
        run(import).exits(0).says(&[" samples in "]);
        run(import)
            .exits(2)
            .says(&["holds a trace already", "--force"]);

        let plain = run(["advise", text(&dir)]).exits(0).stdout;
        assert!(plain.contains("Stores by function"), "{plain}");
        assert!(function.is_none_or(|f| plain.contains(f)), "{plain}");
        let json = run(["advise", text(&dir), "--format", "json"])
            .exits(0)
            .json();
        assert_valid("samples.schema.json", &json);
        let functions = json["functions"].as_array().unwrap();
        assert!(!functions.is_empty(), "{json:#}");
        let shares: f64 = functions.iter().map(|f| f["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9, "{shares}");
        let sarif = run(["advise", text(&dir), "--format", "sarif"]);
        sarif.exits(2).says(&["no SARIF", "json"]);
        run(["trace", "info", text(&dir)])
            .exits(2)
            .says(&["samples", "advise"]);
    }
}

#[test]
fn lines_of_perf_that_were_not_understood_are_told_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("torn");
    let input = root().join("crates/trace/tests/fixtures/perf-torn.txt");
    let ran = run(["import", text(&input), "-o", text(&dir)]).exits(0);
    let ran = ran.says(&[
        "2 samples in",
        "not understood: 4 lines",
        "prestore: line 1: ",
    ]);
    assert!(!ran.stderr.contains("SkippedLine"), "{ran:?}");
    // Samples without callers are not said to be from somewhere.
    let plain = run(["advise", text(&dir)]).exits(0).stdout;
    assert!(plain.lines().all(|l| l.trim_end() == l), "{plain:?}");
    // What is damaged is wrong input, as with other recordings.
    fs::write(dir.join("samples.jsonl"), "{").unwrap();
    run(["advise", text(&dir)])
        .exits(2)
        .says(&["samples.jsonl"]);
}

#[test]
fn an_export_to_where_nothing_can_be_written_is_told_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "rank", &["--keys=1K", "--iters=1"]);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let export = |out: &str| run(["export", text(&dir), "--to", "parquet", "-o", out]).exits(2);
    export(text(&file.join("below"))).says(&["file/below", "choose another output directory"]);
    export(text(&file)).says(&["exists already"]);
    export("/proc").says(&["/proc", "choose another output directory"]);

    // A limit on the size of files stands for a disk that fills up meanwhile.
    let out = folder.path().join("out");
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$@\"", "bash"]);
    command.arg(env!("CARGO_BIN_EXE_prestore"));
    command.args(["export", text(&dir), "--to", "parquet", "-o", text(&out)]);
    let ran = Running::start(command).finish().exits(3);
    let ran = ran.says(&["cannot write", ".parquet", "File too large"]);
    assert!(!ran.stderr.contains("External"), "{ran:?}");
    assert!(!out.exists());
}

/// `clzero`, which the engine's decoder lacks and AMD processors have.
const UNKNOWN: &str = r#"
    static char line[128] __attribute__((aligned(64)));
    int main(void) {
        for (int i = 0; i < 50; i++) {
            __builtin_memset(line, i + 1, sizeof line);
            __asm__ volatile("clzero" : : "a"(line) : "memory");
        }
        return line[3];
    }
"#;

#[test]
fn instructions_unknown_to_the_engine_are_named_at_the_end() {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap();
    if !cpu.split_whitespace().any(|flag| flag == "clzero") {
        eprintln!("skipped: the processor has no clzero");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = c_program(folder.path(), "unknown", UNKNOWN, &[]);
    let dir = folder.path().join("unknown.trace");
    let note = "1 instruction unknown to the engine, executed 50 times in all";
    let bytes = "0f 01 fc";
    run(["record", "-o", text(&dir), "--", text(&program)])
        .exits(0)
        .says(&[note, bytes]);
    let counts = ["--scope", "count"];
    for advised in [
        advise(&program, &[]),
        run(["advise", text(&dir), "--format", "json"])
            .exits(0)
            .json(),
        advise_with(&counts, &program, &[]),
    ] {
        let notes = advised["notes"].to_string();
        assert!(notes.contains(note) && notes.contains(bytes), "{notes}");
    }
    let plain = run(["trace", "info", text(&dir)]).exits(0).stdout;
    assert!(plain.contains("Unknown opcodes 1 "), "{plain}");
}
