//! `prestore machine list` and `show`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{Ran, Running, assert_valid, prestore, run, text};
use serde_json::{Value, json};

/// With machines of the user's own in `folder`.
fn with_folder(folder: &std::path::Path, args: &[&str]) -> Ran {
    let mut command = prestore();
    command.args(args).env("PRESTORE_MACHINE_PATH", folder);
    Running::start(command).finish()
}

fn value<'a>(shown: &'a Value, key: &str) -> &'a Value {
    let values = shown["values"].as_array().unwrap();
    let found = values.iter().find(|value| value["key"] == key);
    found.unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn lists_and_tables_are_as_wide_as_columns_asks_for() {
    for args in [
        &["machine", "list"][..],
        &["machine", "show", "machine-a"],
        &["repro"],
        &["doctor"],
    ] {
        let mut command = prestore();
        command.args(args).env("COLUMNS", "80");
        let shown = Running::start(command).finish();
        for line in shown.stdout.lines() {
            // Commands stay in one line, to be copied.
            assert!(
                line.contains("fix: ") || line.chars().count() <= 80,
                "{args:?}: {line}"
            );
        }
    }
}

#[test]
fn the_shipped_machines_are_listed() {
    let listed = run(["machine", "list", "--format", "json"]).exits(0).json();
    assert_valid("machine-list.schema.json", &listed);
    let machines = listed["machines"].as_array().unwrap();
    let text = run(["machine", "list"]).exits(0).stdout;
    for name in [
        "machine-a",
        "machine-b-fast",
        "machine-b-slow",
        "ribbon",
        "pmweaver",
        "thesis-pcm",
        "hp-e5620",
        "spr-cxl-dram",
        "cxl-ssd",
        "grace",
        "genoa",
    ] {
        let machine = machines.iter().find(|m| m["name"] == name);
        let machine = machine.unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(
            (&machine["shipped"], &machine["error"]),
            (&json!(true), &Value::Null)
        );
        let description = machine["description"].as_str().unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with(&format!("{name} ")));
        assert!(
            line.is_some_and(|line| line.ends_with(description)),
            "{text}"
        );
    }
}

#[test]
fn a_machine_is_shown_with_sources() {
    let shown = run(["machine", "show", "machine-a", "--format", "json"])
        .exits(0)
        .json();
    assert_valid("machine-show.schema.json", &shown);
    let cores = value(&shown, "core.count");
    assert_eq!(
        (&cores["value"], &cores["unit"]),
        (&json!(20), &Value::Null)
    );
    assert_eq!(cores["file"], "machines/machine-a.toml");
    assert!(cores["source"].as_str().unwrap().contains("P0"));
    let latency = value(&shown, "caches.L2.latency");
    assert_eq!(
        (&latency["value"], &latency["unit"]),
        (&json!(14), &json!("cycles"))
    );
    assert_eq!(
        value(&shown, "core.store_buffer.rfo_ahead")["assumed"],
        true
    );
    let text = run(["machine", "show", "machine-a"]).exits(0).stdout;
    for part in [
        "machine-a: ",
        "[caches.L2]",
        "14 cycles",
        "assumed: ",
        "(machines/machine-a.toml:",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_value_is_set_for_once() {
    let args = [
        "machine",
        "show",
        "machine-a",
        "--format",
        "json",
        "--set",
        "memories.pmem.channels=1",
    ];
    let shown = run(args).exits(0).json();
    assert_valid("machine-show.schema.json", &shown);
    let channels = value(&shown, "memories.pmem.channels");
    assert_eq!(
        (&channels["value"], &channels["line"]),
        (&json!(1), &Value::Null)
    );
    assert_eq!(channels["source"], "the command line");
    let args = [
        "machine",
        "show",
        "machine-a",
        "--set",
        "memories.pmem.channels",
    ];
    run(args)
        .exits(2)
        .says(&["'memories.pmem.channels' is not KEY=VALUE"]);
    let args = [
        "machine",
        "show",
        "machine-a",
        "--set",
        "memories.pmem.chanels=1",
    ];
    run(args)
        .exits(2)
        .says(&["unknown key 'chanels'", "did you mean `channels`?"]);
}

#[test]
fn wrong_machines_are_refused_in_words() {
    run(["machine", "show", "machine-aa"]).exits(2).says(&[
        "no machine 'machine-aa' (did you mean 'machine-a'?)",
        "prestore machine list",
    ]);
    run(["machine", "show", "none/at-all.toml"])
        .exits(2)
        .says(&["none/at-all.toml cannot be read"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    for (lines, says) in [
        (
            "[core]\nspeed = 3\n",
            "mine.toml:3: core.speed: unknown key 'speed'",
        ),
        (
            "[core]\nclock = { is = 3, source = \"x\" }\n",
            "mine.toml:3: core.clock: 3 has no unit: give it one of GHz, MHz",
        ),
        (
            "[core]\ncount = 3\n",
            "mine.toml:3: core.count: 3 has no source",
        ),
        (
            "[caches.L1D]\nsize = { is = \"1000 B\", source = \"x\" }\n",
            "mine.toml:3: caches.L1D.size: 1000 B cannot be divided into 8 ways",
        ),
        (
            "[placement]\ndefault_memory = \"hbm\"\n",
            "mine.toml:3: placement.default_memory: the machine has no memory 'hbm'",
        ),
    ] {
        fs::write(&file, format!("inherits = \"machine-a\"\n{lines}")).unwrap();
        run(["machine", "show", text(&file)]).exits(2).says(&[says]);
    }
}

#[test]
fn the_users_folder_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let machines = folder.path().join("prestore/machines");
    fs::create_dir_all(&machines).unwrap();
    let text = "description = \"This host\"\ninherits = \"tiny\"\n";
    fs::write(machines.join("host.toml"), text).unwrap();
    let mut command = prestore();
    command.args(["machine", "show", "host"]);
    command.env("XDG_CONFIG_HOME", folder.path());
    let shown = Running::start(command).finish().exits(0).stdout;
    assert!(shown.starts_with("host: This host\n"), "{shown}");
}

#[test]
fn machines_of_ones_own_are_listed_wrong_ones_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "mine.toml",
        "description = \"My own\"\ninherits = \"tiny\"\n",
    );
    write(
        "bad.toml",
        "description = \"Bad\"\ninherits = \"no-such\"\n",
    );
    let text = with_folder(folder.path(), &["machine", "list"])
        .exits(0)
        .stdout;
    let line = |name: &str| text.lines().find(|l| l.starts_with(name)).unwrap();
    assert!(
        line("mine ").contains("My own (") && line("mine ").ends_with("mine.toml)"),
        "{text}"
    );
    assert!(
        line("bad ").contains("cannot be used: ") && line("bad ").contains("bad.toml:2: "),
        "{text}"
    );
    let listed = with_folder(folder.path(), &["machine", "list", "--format", "json"])
        .exits(0)
        .json();
    assert_valid("machine-list.schema.json", &listed);
    with_folder(folder.path(), &["machine", "show", "mine"]).exits(0);
    with_folder(folder.path(), &["machine", "show", "bad"])
        .exits(2)
        .says(&["no machine 'no-such'"]);
}
