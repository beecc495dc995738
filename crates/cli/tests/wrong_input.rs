//! What goes wrong is said with its cause and its cure, and has its exit code: 2 for wrong usage or
//! input, 3 where the program or its recording failed.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ran, Running, prestore, root, run, text, workload};
use serde_json::json;

fn advise(program: &Path) -> Ran {
    run(["advise", "--", text(program)])
}

fn kv() -> PathBuf {
    workload("kv").unwrap()
}

const SHORT: &str = "--ops=20K";

fn executable(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn without_a_command_there_is_help() {
    let ran = run::<[&str; 0], &str>([]);
    assert_eq!(ran.code(), 2);
    ran.says(&["Usage: prestore", "Exit codes:", "advise"]);
    run(["advise"])
        .exits(2)
        .says(&["required", "Usage: prestore advise"]);
    run(["record", "-o", "x"]).exits(2).says(&["<CMD>"]);
    let help = run(["advise", "--help"]).exits(0).stdout;
    for part in [
        "--threshold",
        "min_store_fraction = 0.1",
        "goes\n          to stderr",
    ] {
        assert!(help.contains(part), "{part}: {help}");
    }
}

#[test]
fn programs_that_cannot_be_traced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let missing = path("missing");
    advise(&missing)
        .exits(2)
        .says(&[text(&missing), "no such file", "give the path"]);
    run(["advise", "--", "no-such-program-anywhere"])
        .exits(2)
        .says(&["PATH", "./no-such-program-anywhere"]);

    let plain = path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    advise(&plain)
        .exits(2)
        .says(&["not executable", "chmod +x"]);
    advise(folder.path()).exits(2).says(&["not a regular file"]);

    let words = path("words");
    executable(&words, b"just words\n");
    advise(&words)
        .exits(2)
        .says(&["neither an ELF program nor a script", "interpreter"]);

    let looped = path("looped");
    executable(&looped, format!("#!{}\n", text(&looped)).as_bytes());
    advise(&looped).exits(2).says(&["binary interpreter"]);
}

#[test]
fn programs_for_other_machines() {
    let folder = tempfile::tempdir().unwrap();
    let native = fs::read(kv()).unwrap();

    // e_ident[EI_CLASS], e_type and e_machine are at 4, 16 and 18 of an ELF header; ET_EXEC is 2,
    // i386 is 3, AArch64 is 183.
    let mut other = native.clone();
    other[18..20].copy_from_slice(&183u16.to_le_bytes());
    let path = folder.path().join("aarch64");
    executable(&path, &other);
    advise(&path)
        .exits(2)
        .says(&["a program for", "only x86-64", "build it for x86-64"]);

    // A header of 52 bytes and no program headers.
    let mut small = native[..52].to_vec();
    small[4] = 1;
    small[16..20].copy_from_slice(&[2, 0, 3, 0]);
    small[28..52].fill(0);
    small[40] = 52;
    let path = folder.path().join("i386");
    executable(&path, &small);
    advise(&path).exits(2).says(&["32-bit", "without -m32"]);
}

#[test]
fn nothing_is_left_of_a_recording_that_cannot_begin() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    for verb in ["record", "advise"] {
        run([verb, "-o", text(&dir), "--", "./missing"])
            .exits(2)
            .says(&["no such file"]);
        assert!(!dir.exists(), "{verb} made a folder");
    }
}

/// A small recording.
fn recorded(folder: &Path) -> PathBuf {
    let dir = folder.join("kv.trace");
    run([
        "record",
        "-o",
        text(&dir),
        "--",
        text(&kv()),
        "--ops=2K",
        "--keys=1K",
    ])
    .exits(0);
    dir
}

#[test]
fn folders_that_are_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let dir = |name: &str| {
        let dir = folder.path().join(name);
        fs::create_dir(&dir).unwrap();
        dir
    };
    let missing = folder.path().join("missing");
    let empty = dir("empty");
    let garbage = dir("garbage");
    fs::write(garbage.join("manifest.json"), b"\x00\xff not json").unwrap();
    let other = dir("other");
    fs::write(other.join("manifest.json"), "{\"format\": \"a web page\"}").unwrap();
    let cases = [
        (&missing, "there is no such directory"),
        (&empty, "it has no manifest.json"),
        (&garbage, "cannot be understood"),
        (&other, "belongs to something else"),
    ];
    let out = folder.path().join("out");
    for (dir, cause) in cases {
        let parts = [
            text(dir),
            "is not a trace",
            cause,
            "prestore record -o DIR -- CMD",
        ];
        run(["advise", text(dir)]).exits(2).says(&parts);
        run(["trace", "info", text(dir)]).exits(2).says(&parts);
        let export = ["export", text(dir), "--to", "parquet", "-o", text(&out)];
        run(export).exits(2).says(&parts);
    }
    run(["advise", text(&kv())])
        .exits(2)
        .says(&["to run it: prestore advise -- "]);
}

#[test]
fn recordings_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path());
    let events = dir.join("thread-0.events");
    let whole = fs::read(&events).unwrap();

    let mut corrupt = whole.clone();
    let middle = corrupt.len() / 2;
    corrupt[middle..middle + 64].fill(0xa5);
    fs::write(&events, &corrupt).unwrap();
    let ran = run(["advise", text(&dir)]).exits(2);
    ran.says(&["thread-0.events", "corrupt", "--lenient"]);
    let ran = run(["advise", text(&dir), "--lenient", "--format", "json"]).exits(0);
    let notes = ran.json()["notes"].to_string();
    assert!(notes.contains("thread-0.events"), "{notes}");
    fs::write(&events, &whole).unwrap();

    fs::remove_file(&events).unwrap();
    fs::create_dir(&events).unwrap();
    run(["advise", text(&dir)])
        .exits(2)
        .says(&["cannot read", "thread-0.events"]);
    fs::remove_dir(&events).unwrap();
    fs::write(&events, &whole).unwrap();

    let manifest = dir.join("manifest.json");
    let mut newer: serde_json::Value =
        serde_json::from_slice(&fs::read(&manifest).unwrap()).unwrap();
    newer["schema_version"] = json!(99);
    fs::write(&manifest, newer.to_string()).unwrap();
    let parts = ["newer prestore", "schema 99", "upgrade"];
    run(["advise", text(&dir)]).exits(2).says(&parts);
    run(["trace", "info", text(&dir)]).exits(2).says(&parts);
}

#[test]
fn output_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("trace");
    let kv = kv();
    for verb in ["record", "advise"] {
        let ran = run([verb, "-o", text(&below), "--", text(&kv), SHORT]).exits(2);
        let ran = ran.says(&[text(&below), "choose another"]);
        assert_eq!(ran.stdout, "", "the program did not run");
    }
}

#[test]
fn output_that_is_there_already() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path());
    let before = fs::read(dir.join("manifest.json")).unwrap();
    let kv = kv();
    let again = ["record", "-o", text(&dir), "--", text(&kv), SHORT];
    run(again)
        .exits(2)
        .says(&["holds a trace already", "--force"]);
    assert_eq!(fs::read(dir.join("manifest.json")).unwrap(), before);
    run([
        "record",
        "--force",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        SHORT,
    ])
    .exits(0);
    assert_ne!(fs::read(dir.join("manifest.json")).unwrap(), before);

    let mine = folder.path().join("mine");
    fs::create_dir(&mine).unwrap();
    fs::write(mine.join("thesis.tex"), "years of work").unwrap();
    let forced = [
        "record",
        "--force",
        "-o",
        text(&mine),
        "--",
        text(&kv),
        SHORT,
    ];
    run(forced).exits(2).says(&["not empty and not a trace"]);
    assert!(mine.join("thesis.tex").exists());
}

#[test]
fn a_disk_that_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("kv.trace");
    // A limit on the size of files stands for the full disk. The engine's shared buffers are files
    // too, and smaller; the signal that goes with the limit is ignored, as a full disk sends none.
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 24576; exec \"$@\"", "bash"]);
    command.arg(env!("CARGO_BIN_EXE_prestore"));
    command.args([
        "record",
        "-o",
        text(&dir),
        "--",
        text(&workload("rank").unwrap()),
    ]);
    command.args(["--iters=24"]);
    let ran = Running::start(command).finish().exits(3);
    let ran = ran.says(&[
        "no space left while writing",
        "Free space",
        "partial recording",
    ]);
    assert!(
        ran.stdout.contains("rank: ops="),
        "the program came to its end: {ran:#?}"
    );
    let info = run(["trace", "info", text(&dir), "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(info["state"], "aborted");
    assert!(info["accesses"].as_u64() > Some(0));
    run(["advise", text(&dir)]).exits(0);
}

#[test]
fn numbers_and_names_that_make_no_sense() {
    let kv = kv();
    let wrong = |options: &[&str], parts: &[&str]| {
        let mut command = prestore();
        command
            .arg("advise")
            .args(options)
            .arg("--")
            .arg(&kv)
            .arg(SHORT);
        let ran = Running::start(command).finish().exits(2).says(parts);
        assert_eq!(ran.stdout, "", "{options:?}: the program did not run");
    };
    wrong(&["--threshold", "min_luck=1"], &["no threshold `min_luck`"]);
    wrong(
        &["--threshold", "min_store_share"],
        &["NAME=VALUE", "--help"],
    );
    wrong(&["--threshold", "min_store_share=lots"], &["NAME=VALUE"]);
    wrong(
        &["--threshold", "min_store_share=7"],
        &["cannot be 7", "from 0 to 1"],
    );
    wrong(&["--skip", "many"], &["'many' is not a number", "10K"]);
    wrong(&["--skip", "99999999999999999999"], &["not a number"]);
    wrong(&["--take", "99999999999G"], &["too large"]);
    wrong(&["--take", "0"], &["records nothing"]);
    wrong(
        &["--take", "10M", "--period", "1M"],
        &["--period is shorter than --take"],
    );
    wrong(&["--period", "1M"], &["--take"]);
    wrong(&["--region", "4096"], &["0 to 4095", "any"]);
    wrong(&["--region", "x"], &["0 to 4095", "any"]);
    wrong(&["--scope", "everything"], &["everything", "functions"]);
    wrong(&["--function", "main"], &["--scope functions"]);
    wrong(&["--force"], &["--output"]);
    wrong(
        &["--scope", "sample", "--skip", "1M"],
        &["samples are taken of the whole run"],
    );
    wrong(&["--scope", "count", "--format", "sarif"], &["no SARIF"]);
    wrong(&["--scope", "count", "-o", "x"], &["no events to keep"]);
    wrong(&["some.trace"], &["cannot be used with"]);

    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("x");
    let ran = run([
        "record",
        "--scope",
        "count",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        SHORT,
    ]);
    ran.exits(2)
        .says(&["no events to store", "advise --scope count"]);
    assert!(!dir.exists());
    let trace = recorded(folder.path());
    run(["advise", text(&trace), "--scope", "all"])
        .exits(2)
        .says(&["cannot be used with"]);
    run(["export", text(&trace), "--to", "csv"])
        .exits(2)
        .says(&["parquet"]);
}

#[test]
fn a_region_that_is_never_entered() {
    let kv = kv();
    let parts = [
        "nothing was recorded",
        "never entered region 7",
        "--region any",
    ];
    for scope in ["all", "count", "functions"] {
        let ran = run([
            "advise",
            "--scope",
            scope,
            "--region",
            "7",
            "--",
            text(&kv),
            SHORT,
        ]);
        let ran = ran.exits(3).says(&parts);
        assert!(!ran.stdout.contains("Stores by function"), "{ran:#?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("x");
    let ran = run([
        "record",
        "--region",
        "7",
        "-o",
        text(&dir),
        "--",
        text(&kv),
        SHORT,
    ]);
    ran.exits(3).says(&parts);
    let ran = run(["advise", "--skip", "900G", "--", text(&kv), SHORT]);
    ran.exits(3).says(&["nothing was recorded", "skip fewer"]);
}

#[test]
fn samples_that_cannot_be_imported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let import = |file: &Path| run(["import", text(file), "-o", text(&out)]);
    let missing = folder.path().join("missing.txt");
    import(&missing)
        .exits(2)
        .says(&["missing.txt", "cannot be read"]);
    import(&root().join("README.md"))
        .exits(2)
        .says(&["perf script"]);
    assert!(!out.exists());
}
