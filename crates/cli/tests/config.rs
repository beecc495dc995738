//! The configuration file `prestore.toml`.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use common::{Ran, Running, prestore, recorded, text};

/// `prestore ARGS` in `dir`, with no configuration file but what lies there.
fn at(dir: &Path, args: &[&str]) -> Ran {
    with(dir, &[], args)
}

/// The same with these variables in the environment.
fn with<A: AsRef<OsStr>>(dir: &Path, variables: &[(&str, &str)], args: &[A]) -> Ran {
    let mut command = prestore();
    command
        .current_dir(dir)
        .env("XDG_CONFIG_HOME", dir.join("none"))
        .envs(variables.iter().copied())
        .args(args);
    Running::start(command).finish()
}

#[test]
fn it_holds_where_the_command_line_says_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let trace = recorded(dir.path(), "kv", &["--ops=20K"]);
    let trace = text(&trace);
    at(dir.path(), &["simulate", trace])
        .exits(2)
        .says(&["--machine"]);
    let config = dir.path().join("prestore.toml");
    let toml = "machines = ['machine-a', 'machine-b-fast']\n[thresholds]\nmin_write_time = 0.99\n";
    std::fs::write(&config, toml).unwrap();
    let ran = at(dir.path(), &["simulate", trace])
        .exits(0)
        .says(&["1 threshold, the first of 2 machines from"]);
    assert!(ran.stdout.contains("machine-a"), "{}", ran.stdout);
    let asked = at(
        dir.path(),
        &["simulate", trace, "--machine", "machine-b-fast", "-q"],
    )
    .exits(0);
    assert!(!asked.stdout.contains("machine-a"), "{}", asked.stdout);
    assert_eq!(asked.stderr, "");
    let named = at(
        dir.path(),
        &["simulate", trace, "--machine", "machine-b-fast"],
    )
    .exits(0);
    assert!(!named.stderr.contains("2 machines"), "{}", named.stderr);
    let advised = at(dir.path(), &["advise", trace]).exits(0);
    assert!(advised.stdout.contains("99%"), "{}", advised.stdout);
    // What the command line says comes last.
    let asked = ["advise", trace, "--threshold", "min_write_time=0.01"];
    let advised = at(dir.path(), &asked).exits(0);
    assert!(!advised.stdout.contains("99%"), "{}", advised.stdout);
}

#[test]
fn a_link_to_it_that_leads_nowhere_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("prestore.toml");
    std::os::unix::fs::symlink("nowhere.toml", link).unwrap();
    at(dir.path(), &["advise", "x"])
        .exits(2)
        .says(&["prestore.toml", "No such file"]);
}

#[test]
fn what_is_wrong_in_it_is_said_and_help_comes_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("prestore.toml");
    for (toml, parts) in [
        (
            "machine = 'machine-a'",
            ["prestore.toml", "unknown field `machine`"],
        ),
        (
            "[thresholds]\nmin_write_tim = 1",
            ["prestore.toml", "did you mean `min_write_time`?"],
        ),
        (
            "debug_dirs = ['nowhere']",
            ["prestore.toml", "there is no folder"],
        ),
    ] {
        std::fs::write(&config, toml).unwrap();
        at(dir.path(), &["advise", "x"]).exits(2).says(&parts);
        // Whoever named the machines there is not told only that none is named.
        for verb in ["simulate", "whatif"] {
            let ran = at(dir.path(), &[verb, "x"]).exits(2);
            ran.says(&parts).says(&["--machine"]);
        }
    }
    let ran = at(dir.path(), &["export", "x"]).exits(2).says(&["--to"]);
    assert!(!ran.stderr.contains("prestore.toml"), "{}", ran.stderr);
    at(dir.path(), &["advise", "--help"]).exits(0);
    let none = with(dir.path(), &[("PRESTORE_CONFIG", "")], &["advise", "x"]).exits(2);
    assert!(!none.stderr.contains("prestore.toml"), "{}", none.stderr);
}

#[test]
fn a_folder_that_is_not_there_and_a_switch_that_is_none_are_said() {
    let dir = tempfile::tempdir().unwrap();
    at(dir.path(), &["advise", "--debug-dir", "nowhere", "x"])
        .exits(2)
        .says(&["nowhere", "no such folder"]);
    with(
        dir.path(),
        &[("PRESTORE_NO_CLWBS", "1")],
        &["machine", "list"],
    )
    .exits(0)
    .says(&["PRESTORE_NO_CLWBS", "did you mean PRESTORE_NO_CLWB?"]);
}

#[test]
fn a_folder_may_have_any_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join(OsStr::from_bytes(b"debug-\xff"));
    std::fs::create_dir(&folder).unwrap();
    let words = [
        OsStr::new("advise"),
        OsStr::new("--debug-dir"),
        folder.as_os_str(),
        OsStr::new("x"),
    ];
    let ran = with(dir.path(), &[], &words).exits(2);
    assert!(ran.stderr.starts_with("prestore: x"), "{}", ran.stderr);
}
