//! `prestore machine calibrate`, briefly.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Running, assert_valid, prestore, text};

#[test]
fn the_host_becomes_a_machine_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = prestore();
    // Whatever else runs here: what is measured is not relied on.
    command.args([
        "machine",
        "calibrate",
        "--quick",
        "--force",
        "--format",
        "json",
    ]);
    command.env("XDG_CONFIG_HOME", folder.path());
    let ran = Running::start(command).finish().exits(0);
    assert_valid("calibration.schema.json", &ran.json());
    let file = folder.path().join("prestore/machines/host.toml");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("[memories.dram.device]"), "{written}");
    assert!(ran.stderr.contains(text(&file)), "{ran:?}");
    for warning in ran.json()["warnings"].as_array().unwrap() {
        let warning = warning.as_str().unwrap();
        assert!(
            ran.stderr.contains(warning) && written.contains(warning),
            "{warning}"
        );
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said() {
    let mut command = prestore();
    command.args([
        "machine",
        "calibrate",
        "--quick",
        "--force",
        "-o",
        "/proc/no/host.toml",
    ]);
    Running::start(command)
        .finish()
        .exits(3)
        .says(&["/proc/no/host.toml", "-o"]);
}
