//! Programs that fail, are killed, or are interrupted: what was seen is still reported.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use common::{Running, c_program, finding, prestore, run, signal_to, text};
use serde_json::json;

/// Fills memory, then does what `end` says.
fn program_that_ends(folder: &Path, name: &str, end: &str) -> PathBuf {
    let source = format!(
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <unistd.h>
        long data[1 << 18];
        static volatile sig_atomic_t stopped;
        static void stop(int signal) {{ stopped = signal; }}
        __attribute__((noipa)) static void fill(long seed) {{
            for (long i = 0; i < 1 << 18; i++) data[i] = i ^ seed;
        }}
        int main(void) {{
            fill(1);
            signal(SIGUSR1, stop);
            {end}
        }}
        "#
    );
    c_program(folder, name, &source, &["-fno-tree-vectorize"])
}

#[test]
fn a_program_that_fails_is_still_advised_on() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "crash",
            "*(volatile int *)8 = 1; return 0;",
            "killed by signal 11",
        ),
        ("aborts", "abort();", "killed by signal 6"),
        ("fails", "return 7;", "ended with exit code 7"),
        (
            "killed",
            "kill(getpid(), SIGKILL); for (;;) pause();",
            "killed by signal 9",
        ),
    ];
    for (name, end, message) in cases {
        let program = program_that_ends(folder.path(), name, end);
        let ran = run(["advise", "--format", "json", "--", text(&program)]).exits(3);
        let report = ran.says(&[message]).json();
        assert_eq!(finding(&report, "fill")["stores"], 1 << 18, "{name}");
        let partial = report["partial"].as_str();
        assert_eq!(
            partial.is_some(),
            message.starts_with("killed"),
            "{name}: {partial:?}"
        );

        let dir = folder.path().join(format!("{name}.trace"));
        let ran = run(["record", "-o", text(&dir), "--", text(&program)]).exits(3);
        ran.says(&[message]);
        let stored = run(["advise", "--format", "json", text(&dir)])
            .exits(0)
            .json();
        assert_eq!(finding(&stored, "fill")["stores"], 1 << 18, "{name}");
        assert_eq!(stored["partial"].is_string(), partial.is_some(), "{name}");
    }
}

/// Waits until `done`.
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Runs a program that writes a file `ready` and goes on for ever, until it is there. One that stops takes a while to end: of one
/// that has ended already nobody says that it is waited for.
fn running(folder: &Path, name: &str, on_interrupt: &str) -> Running {
    let ready = folder.join(format!("{name}.ready"));
    let end = format!(
        "{on_interrupt} fclose(fopen(\"{}\", \"w\")); while (!stopped) {{ fill(2); usleep(1000); }} usleep(500000); return 0;",
        text(&ready)
    );
    let program = program_that_ends(folder, name, &end);
    let mut command = prestore();
    command.args(["advise", "--format", "json", "--", text(&program)]);
    let running = Running::start(command);
    wait_for("the program", || ready.exists());
    running
}

#[test]
fn ctrl_c_ends_the_program_and_prints_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let stubborn = running(folder.path(), "polite", "signal(SIGINT, stop);");
    stubborn.signal_group("INT");
    let ran = stubborn.finish().exits(0);
    let ran = ran.says(&["waiting for the program to end", "again to stop recording"]);
    assert_eq!(
        ran.json()["partial"],
        json!(null),
        "the program ended by itself"
    );

    let dying = running(folder.path(), "dying", "");
    dying.signal_group("INT");
    let ran = dying.finish().exits(3).says(&["killed by signal 2"]);
    let report = ran.json();
    assert!(report["partial"].is_string());
    assert!(finding(&report, "fill")["stores"].as_u64() >= Some(1 << 18));
}

#[test]
fn ctrl_c_twice_ends_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let stubborn = running(folder.path(), "stubborn", "signal(SIGINT, SIG_IGN);");
    let children = format!("/proc/{0}/task/{0}/children", stubborn.pid());
    let child = fs::read_to_string(children).unwrap().trim().to_owned();
    stubborn.signal_group("INT");
    thread::sleep(Duration::from_millis(300));
    stubborn.signal_group("INT");
    // Its standard error stays open in the program, which runs on until it is told to stop.
    wait_for("the recorder's end", || {
        !Path::new(&format!("/proc/{}/exe", stubborn.pid())).exists()
    });
    assert!(
        Path::new(&format!("/proc/{child}")).exists(),
        "the program '{child}' was left running"
    );
    signal_to(&child, "USR1");
    let ran = stubborn.finish().exits(0);
    let ran = ran.says(&["recording is stopped", "left running"]);
    assert_eq!(ran.json()["partial"], "recording was stopped by the user");
}
