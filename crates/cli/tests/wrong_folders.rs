//! Folders and files that cannot be read or written are named, with the cause and the cure: exit code 2, or
//! 3 where writing failed while the program ran.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Ran, Running, kv, recorded, root, run, text, workload};
use serde_json::json;

const SHORT: &str = "--ops=20K";

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
    let dir = recorded(folder.path(), "kv", &[SHORT]);
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
fn a_result_that_cannot_be_written_is_told_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &[SHORT]);
    let result = |file: &Path, more: &[&str]| {
        let to = [
            "simulate",
            "--machine",
            "tiny",
            "-o",
            text(file),
            text(&dir),
        ];
        run([&to[..], more].concat())
    };
    let nowhere = folder.path().join("no folder").join("result");
    // The region, too, is wrong, which is seen when all is read.
    for wrong in [&nowhere, folder.path()] {
        result(wrong, &["--region", "99"])
            .exits(2)
            .says(&[text(wrong), "choose another"]);
    }
    // What is there stays where there is no result.
    let file = folder.path().join("result");
    result(&file, &["--region", "99"])
        .exits(2)
        .says(&["never opens"]);
    assert!(!file.exists());
    fs::write(&file, "of before").unwrap();
    result(&file, &["--region", "99"])
        .exits(2)
        .says(&["never opens"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "of before");
    result(&file, &[]).exits(0);
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("Where the time went")
    );
}

#[test]
fn what_recorded_nothing_is_not_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    let kv = kv();
    let record = |options: &[&str]| {
        let to = ["record", "-o", text(&dir)];
        run([&to[..], options, &["--", text(&kv), SHORT]].concat())
    };
    record(&["--skip", "900G"]).exits(3).says(&["skip fewer"]);
    assert!(!dir.exists());
    record(&["--scope", "functions", "--function", "nobody"]).exits(3);
    assert!(!dir.exists());
    fs::create_dir(&dir).unwrap();
    record(&["--region", "7"]).exits(3);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    record(&[]).exits(0);
    // Tables of a recording that is replaced are not those of the new one.
    let export = || run(["export", text(&dir), "--to", "parquet"]);
    export().exits(0);
    export().exits(2).says(&["exists already"]);
    record(&["--force", "--take", "100K"]).exits(0);
    assert!(!dir.join("parquet").exists());
    export().exits(0);
}

#[test]
fn output_that_is_there_already() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &[SHORT]);
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

/// Of a recording of thousands of threads that takes a while. Without its manifest the folder could never be written to again.
#[test]
fn a_recording_that_is_replaced_by_half_is_still_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    let again = ["record", "--force", "-o", text(&dir), "--", "true"];
    run(again).exits(0);
    for number in 100..108 {
        let in_the_way = dir.join(format!("thread-{number}.events"));
        fs::create_dir(&in_the_way).unwrap();
        run(again).exits(2).says(&[text(&in_the_way)]);
        fs::remove_dir(&in_the_way).unwrap();
        run(again).exits(0);
    }
    run(["advise", text(&dir)]).exits(0);
}

#[test]
fn a_disk_that_takes_next_to_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script]);
        command.env("PLACE", folder.path());
        command
    };
    let mount = "mount -t tmpfs -o size=12k prestore-test \"$PLACE\"";
    if !unshare(mount).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this system lets nobody mount a small file system for the test");
        return;
    }
    let record = "exec \"$PRESTORE\" record --quiet -o \"$PLACE\"/r -- \"$PROGRAM\" --iters=1";
    let mut command = unshare(&format!("{mount} && {record}"));
    command.env("PRESTORE", env!("CARGO_BIN_EXE_prestore"));
    command.env("PROGRAM", workload("rank").unwrap());
    let ran = Running::start(command).finish().exits(3);
    let ran = ran.says(&["no space left while writing", "Free space"]);
    assert!(!ran.stderr.contains("made no access"), "{ran:#?}");
    assert!(
        ran.stdout.contains("rank: ops="),
        "the program came to its end: {ran:#?}"
    );
}

/// Records a program until a limit on the size of files, which stands for a full disk. The engine's shared buffers are files
/// too, and smaller; the signal that goes with the limit is ignored, as a full disk sends none.
fn record_until_full(dir: &Path, options: &[&str]) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", "trap '' XFSZ; ulimit -f 24576; exec \"$@\"", "bash"]);
    command.arg(env!("CARGO_BIN_EXE_prestore"));
    command.arg("record").args(options);
    command.args(["-o", text(dir), "--", text(&workload("rank").unwrap())]);
    command.args(["--iters=24"]);
    Running::start(command).finish().exits(3)
}

#[test]
fn a_disk_that_fills_up() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("kv.trace");
    let ran = record_until_full(&dir, &[]).says(&[
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

/// The exit code is the one of a program that failed; that it is the recording which did has to be said.
#[test]
fn a_disk_that_fills_up_is_told_also_when_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let ran = record_until_full(&folder.path().join("kv.trace"), &["-q"]);
    let ran = ran.says(&["partial recording: no space left while writing"]);
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:#?}");
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
