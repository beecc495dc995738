//! `prestore try`: stores of findings are changed in the running program.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::{
    Ran, Running, advise, assert_valid, c_program, compile, finding, findings, prestore, root, run,
    text,
};
use serde_json::Value;

fn program(folder: &Path, name: &str) -> PathBuf {
    let source = root().join(format!("crates/cli/tests/programs/trial/{name}.c"));
    let program = folder.join(name);
    compile(&source, &program, &["-pthread", "-mno-avx"]);
    program
}

/// With each block's code proved before it runs.
fn tried(options: &[&str], program: &Path, args: &[&str]) -> Ran {
    let mut command = prestore();
    command
        .env("PRESTORE_CHECK_CODE", "1")
        .args(["try", "--runs", "2", "--format", "json"])
        .args(options)
        .arg("--")
        .arg(program)
        .args(args);
    Running::start(command).finish()
}

/// All findings of `program`, made `op`.
fn all_tried(op: &str, program: &Path) -> Value {
    let numbers: Vec<String> = (1..=findings(&advise(program, &[])).len())
        .map(|n| n.to_string())
        .collect();
    let json = tried(&["--finding", &numbers.join(","), "--op", op], program, &[])
        .exits(0)
        .json();
    assert_valid("try.schema.json", &json);
    json
}

/// Does this processor have the instruction?
fn is_executed_here(op: &str) -> bool {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags: Vec<&str> = cpu.split_whitespace().collect();
    match op {
        "clean" => flags.contains(&"clwb"),
        "demote" => flags.contains(&"cldemote"),
        _ => true,
    }
}

fn same(effect: &Value) {
    assert_eq!(effect["stdout"], "same", "{effect:#}");
    assert_eq!(effect["exit"], "same", "{effect:#}");
}

#[test]
fn streaming_stores_of_every_form_are_made_non_temporal() {
    let folder = tempfile::tempdir().unwrap();
    let stream = program(folder.path(), "stream");
    let json = tried(&[], &stream, &[]).exits(0).json();
    assert_valid("try.schema.json", &json);
    for function in ["general", "constant", "scalar", "vector"] {
        let f = finding(&json, function);
        assert_eq!(f["op"], "skip", "{f:#}");
        assert_eq!(f["changed"], f["instructions"], "{f:#}");
        assert_eq!(f["unaligned"], u64::from(function == "vector"), "{f:#}");
        same(&f["effect"]);
    }
    same(&json["together"]);
    assert_eq!(json["together"]["fences"], 0, "one thread needs none");

    let shown = run(["try", "--runs", "1", "--", text(&stream)]).exits(0);
    for part in [
        "all together",
        "scalar (stream.c:",
        "skip",
        "under the engine",
    ] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
}

#[test]
fn lines_that_are_left_are_flushed() {
    let folder = tempfile::tempdir().unwrap();
    let unmapped = program(folder.path(), "unmapped");
    for op in ["clean", "demote"] {
        let json = all_tried(op, &unmapped);
        let f = finding(&json, "fill");
        if !is_executed_here(op) {
            assert_eq!(f["changed"], 0, "{f:#}");
            continue;
        }
        // The line left last may be gone by then.
        assert_eq!(f["changed"], f["instructions"], "{f:#}");
        same(&f["effect"]);
    }
}

#[test]
fn a_finding_may_have_many_stores() {
    let folder = tempfile::tempdir().unwrap();
    let many = program(folder.path(), "many");
    for op in ["clean", "demote", "skip"] {
        let json = all_tried(op, &many);
        let f = finding(&json, "fill");
        assert_eq!(f["instructions"], 32, "{f:#}");
        if !is_executed_here(op) {
            assert_eq!(f["changed"], 0, "{f:#}");
            continue;
        }
        same(&f["effect"]);
    }
}

#[test]
fn other_threads_see_stores_in_the_programs_order() {
    let folder = tempfile::tempdir().unwrap();
    let handoff = program(folder.path(), "handoff");
    let report = advise(&handoff, &["400"]);
    let number = finding(&report, "fill")["number"].to_string();
    let options = ["--finding", &number, "--op", "skip"];
    let json = tried(&options, &handoff, &["400"]).exits(0).json();
    let f = finding(&json, "fill");
    assert_eq!(f["changed"], f["instructions"], "{f:#}");
    // Each message is told of by a plain store, which must not overtake it.
    assert_eq!(f["effect"]["fences"], 400, "{f:#}");
    same(&f["effect"]);
}

#[test]
fn the_order_of_plain_stores_is_given_up_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let handoff = program(folder.path(), "handoff");
    let report = advise(&handoff, &["400"]);
    let number = finding(&report, "fill")["number"].to_string();
    let options = ["--relaxed-order", "--finding", &number, "--op", "skip"];
    // That it may print something else then is what the note says.
    let json = tried(&options, &handoff, &["400"]).json();
    let f = finding(&json, "fill");
    assert_eq!(f["changed"], f["instructions"], "{f:#}");
    assert_eq!(f["effect"]["fences"], 0, "{f:#}");
    let notes = json["notes"].to_string();
    assert!(notes.contains("as asked"), "{notes}");
}

#[test]
fn what_has_no_form_that_means_the_same_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = folder.path().join("refused");
    let source = root().join("crates/cli/tests/programs/trial/refused.c");
    compile(&source, &refused, &["-mno-avx", "-fomit-frame-pointer"]);
    let json = all_tried("skip", &refused);
    for (function, reason) in [
        ("bytes", "less than 4 bytes"),
        ("in_place", "reads what it writes"),
        ("atomic", "atomics"),
        ("string", "string instructions"),
        ("mmx", "no non-temporal instruction"),
        ("stack", "on the stack"),
    ] {
        let f = finding(&json, function);
        let reasons = f["refused"].as_array().unwrap();
        let told = reasons
            .iter()
            .any(|r| r["reason"].as_str().unwrap().contains(reason));
        assert!(told, "{function}: {f:#}");
        assert_eq!(f["changed"], 0, "{f:#}");
        assert_eq!(f["effect"], Value::Null, "{f:#}");
    }
}

#[test]
fn a_fault_in_a_changed_store_is_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let faults = program(folder.path(), "faults");
    let json = all_tried("skip", &faults);
    let f = finding(&json, "fill");
    assert_eq!(f["changed"], 1, "{f:#}");
    same(&f["effect"]);
    let native = std::process::Command::new(&faults).output().unwrap();
    let native = String::from_utf8(native.stdout).unwrap();
    assert_eq!(native, "256 faults, 0 elsewhere, 0 wrong, 5eed\n");
}

#[test]
fn a_program_that_prints_something_else_each_time_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let clock = c_program(
        folder.path(),
        "clock",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n\
         __attribute__((noinline)) static void fill(long *to) {\n\
         for (int i = 0; i < 500000; i++) { to[i] = i; __asm__ volatile(\"\" ::: \"memory\"); } }\n\
         int main(void) { struct timespec t; fill(malloc(4000000)); clock_gettime(CLOCK_REALTIME, &t);\n\
         printf(\"%ld.%09ld\\n\", (long)t.tv_sec, t.tv_nsec); return 0; }\n",
        &[],
    );
    let report = advise(&clock, &[]);
    let number = finding(&report, "fill")["number"].to_string();
    let options = ["--finding", &number, "--op", "skip"];
    let json = tried(&options, &clock, &[]).exits(0).json();
    let effect = &finding(&json, "fill")["effect"];
    assert_eq!(effect["stdout"], "varies", "{effect:#}");
    assert_eq!(effect["exit"], "same", "{effect:#}");
    for runs in ["1", "2"] {
        let shown = run([
            "try",
            "--runs",
            runs,
            "--finding",
            &number,
            "--op",
            "skip",
            "--",
            text(&clock),
        ]);
        assert!(
            shown.stdout.contains("differs between its unchanged runs"),
            "{shown:#?}"
        );
    }
}

#[test]
fn findings_of_a_recording_are_tried_on_the_same_file_only() {
    let folder = tempfile::tempdir().unwrap();
    let stream = program(folder.path(), "stream");
    let dir = folder.path().join("trace");
    run(["record", "-o", text(&dir), "--", text(&stream)]).exits(0);
    let json = tried(&["--from", text(&dir)], &stream, &[]).exits(0).json();
    assert_eq!(finding(&json, "scalar")["changed"], 1);
    let source = root().join("crates/cli/tests/programs/trial/refused.c");
    compile(&source, &stream, &[]);
    tried(&["--from", text(&dir)], &stream, &[])
        .exits(2)
        .says(&["not the file that was recorded", "--from"]);
}

#[test]
fn wrong_input_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let idle = c_program(
        folder.path(),
        "idle",
        "int main(void) { return 0; }\n",
        &["-static"],
    );
    run(["try"]).exits(2).says(&["CMD"]);
    run(["try", "--", "./not-there"])
        .exits(2)
        .says(&["not-there", "no such file"]);
    run(["try", "--input", "/not-there", "--", text(&idle)])
        .exits(2)
        .says(&["--input /not-there"]);
    run(["try", "--finding", "99", "--", text(&idle)])
        .exits(2)
        .says(&["--finding 99"]);
    run(["try", "--op", "skip", "--", text(&idle)])
        .exits(2)
        .says(&["--finding"]);
    run(["try", "--threshold", "min_write_time=1", "--", text(&idle)])
        .exits(2)
        .says(&["there is nothing to try"]);
    run(["try", "--", "sh", "-c", "exit 7"])
        .exits(3)
        .says(&["exit code 7", "there is nothing to try"]);
    run(["try", "--from", "/not-there", "--", text(&idle)])
        .exits(2)
        .says(&["/not-there"]);
}

#[test]
fn the_programs_input_is_read_in_every_run_and_its_failure_told() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    std::fs::write(&input, "7\n").unwrap();
    let reads = c_program(
        folder.path(),
        "reads",
        "#include <stdio.h>\n#include <stdlib.h>\n\
         __attribute__((noinline)) static void fill(long *to) {\n\
         for (int i = 0; i < 500000; i++) { to[i] = i; __asm__ volatile(\"\" ::: \"memory\"); } }\n\
         int main(void) { int n = 0; fill(malloc(4000000)); if (scanf(\"%d\", &n) != 1) return 1;\n\
         printf(\"%d\\n\", n); return n == 7 ? 0 : 5; }\n",
        &[],
    );
    let options = ["--input", text(&input), "--finding", "1", "--op", "skip"];
    let json = tried(&options, &reads, &[]).exits(0).json();
    same(&finding(&json, "fill")["effect"]);
    std::fs::write(&input, "8\n").unwrap();
    tried(&options, &reads, &[]).exits(3).says(&["exit code 5"]);
}
