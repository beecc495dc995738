//! A recording of which something was lost: every verb says what, and reads the rest when asked.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{Ran, recorded, run, text};

/// A recording whose first thread's last stored block was cut off, cleanly.
fn cut(folder: &Path) -> PathBuf {
    let dir = recorded(folder, "kv", &["--ops=100K"]);
    let events = dir.join("thread-0.events");
    let mut bytes = fs::read(&events).unwrap();
    let last = bytes.windows(4).rposition(|w| w == b"PSEB").unwrap();
    assert!(last > 0, "one stored block only");
    bytes.truncate(last);
    fs::write(&events, bytes).unwrap();
    dir
}

fn verbs(dir: &Path, out: &Path, lenient: bool) -> Vec<Ran> {
    let (dir, out) = (text(dir), text(out));
    let verbs: [&[&str]; 4] = [
        &["advise", dir],
        &["simulate", dir, "--machine", "machine-a", "--limit", "100K"],
        &["whatif", dir, "--machine", "machine-a", "--limit", "100K"],
        &["export", dir, "--to", "parquet", "-o", out],
    ];
    let asked = lenient.then_some("--lenient");
    let each = verbs
        .iter()
        .map(|verb| run(verb.iter().copied().chain(asked)));
    each.collect()
}

#[test]
fn a_recording_cut_at_a_blocks_boundary() {
    let folder = tempfile::tempdir().unwrap();
    let dir = cut(folder.path());
    let out = folder.path().join("out");
    let lost = "stored blocks are missing at its end";
    for ran in verbs(&dir, &out, false) {
        ran.exits(2)
            .says(&["thread-0.events", lost, "usable: ", "--lenient"]);
    }
    for ran in verbs(&dir, &out, true) {
        let ran = ran.exits(0);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        // Lines are wrapped.
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("stored blocks are missing"), "{said}");
    }
    let info = run(["trace", "info", text(&dir), "--format", "json"]).exits(2);
    let damage = info.json()["damage"].to_string();
    assert!(damage.contains(lost), "{damage}");
    assert!(info.json()["accesses"].as_u64() > Some(0));
    let said = run(["trace", "info", text(&dir), "--lenient"])
        .exits(0)
        .stdout;
    // What was recorded whole is not here whole.
    assert!(said.contains("damaged (it was complete)"), "{said}");
}

#[test]
fn a_recording_cut_in_half_is_not_said_to_be_complete() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=20K"]);
    let state = |said: &str| {
        let line = said.lines().find(|line| line.starts_with("State "));
        line.unwrap_or_default().to_owned()
    };
    let whole = run(["trace", "info", text(&dir)]).exits(0).stdout;
    assert!(state(&whole).ends_with(" complete"), "{whole}");
    let events = dir.join("thread-0.events");
    let bytes = fs::read(&events).unwrap();
    fs::write(&events, &bytes[..bytes.len() / 2]).unwrap();
    let cut = run(["trace", "info", text(&dir)]).exits(2).stdout;
    assert!(state(&cut).contains("damaged"), "{cut}");
}

#[test]
fn a_changed_byte_is_found_by_looking_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=20K"]);
    run(["trace", "info", text(&dir)]).exits(0);
    let events = dir.join("thread-0.events");
    let mut bytes = fs::read(&events).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x20;
    fs::write(&events, bytes).unwrap();
    let info = run(["trace", "info", text(&dir), "--format", "json"]).exits(2);
    let damage = info.json()["damage"].to_string();
    assert!(damage.contains("the checksum does not match"), "{damage}");
    // It is met only when a part of the tables is written: nothing is left of that.
    let out = folder.path().join("tables");
    let export = ["export", text(&dir), "--to", "parquet", "-o", text(&out)];
    run(export)
        .exits(2)
        .says(&["the checksum does not match", "--lenient"]);
    assert!(!out.exists());
    fs::create_dir(&out).unwrap();
    run(export).exits(2);
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
    // Nor is what a killed one has left in the way.
    fs::write(out.join("events.parquet.new"), "half").unwrap();
    run(export.iter().chain(&["--lenient"])).exits(0);
    let mut names: Vec<_> = fs::read_dir(&out)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["events.parquet", "sites.parquet", "threads.parquet"]
    );
}

#[test]
fn of_a_recording_of_which_nothing_is_left_nothing_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=20K"]);
    fs::remove_file(dir.join("process-0.blocks")).unwrap();
    let machine = ["--machine", "machine-a"];
    for verb in [
        vec!["advise"],
        [&["whatif"], &machine[..]].concat(),
        [&["simulate"], &machine[..]].concat(),
    ] {
        let ran = run([&verb[..], &["--lenient", text(&dir)]].concat()).exits(2);
        let ran = ran.says(&["process-0.blocks is missing", "record it again"]);
        assert_eq!(ran.stdout, "", "{verb:?}");
    }
}
