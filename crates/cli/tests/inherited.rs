//! What the command was started with and the program is to find: ignored signals, closed streams, timers that run.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::process::Command;

use common::{Running, c_program, text};

/// Service managers ignore SIGPIPE for what they start, and daemons SIGCHLD, with which nothing could be recorded.
#[test]
fn what_is_ignored_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <signal.h>
        #include <stdio.h>
        int main(void) {
            struct sigaction action;
            for (int i = 1; i < 32; i++)
                if (sigaction(i, 0, &action) == 0 && action.sa_handler == SIG_IGN)
                    printf("%d ", i);
            return 0;
        }
        "#;
    let program = c_program(folder.path(), "program", source, &[]);
    let recording = folder.path().join("recording");
    let recorded = format!(
        "{} record -q --force -o {} -- {}",
        env!("CARGO_BIN_EXE_prestore"),
        text(&recording),
        text(&program)
    );
    for ignored in ["PIPE", "CHLD", "HUP TERM", "ALRM USR1 WINCH", ""] {
        let says = |command: &str| {
            let script = format!("trap '' {ignored}; exec {command}");
            let script = if ignored.is_empty() { command } else { &script };
            let said = Command::new("bash").args(["-c", script]).output().unwrap();
            assert!(said.status.success(), "{ignored}: {said:?}");
            String::from_utf8(said.stdout).unwrap()
        };
        assert_eq!(says(&recorded), says(text(&program)), "{ignored}");
    }
}

/// Cron jobs and daemons start programs with standard streams closed, whose numbers the next files get.
#[test]
fn what_is_closed_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let seen = folder.path().join("seen");
    let source = format!(
        r#"
        #include <fcntl.h>
        #include <stdio.h>
        int main(void) {{
            int open = 0;
            for (int i = 0; i < 3; i++)
                open = 10 * open + (fcntl(i, F_GETFD) != -1);
            FILE *seen = fopen("{}", "w");
            return fprintf(seen, "%03d", open) != 3;
        }}
        "#,
        text(&seen)
    );
    let program = c_program(folder.path(), "program", &source, &[]);
    let recorded = format!("record -q --force -o {}", text(&folder.path().join("out")));
    for verb in ["advise --scope count", "advise --scope sample", &recorded] {
        let command = format!(
            "{} {verb} -- {}",
            env!("CARGO_BIN_EXE_prestore"),
            text(&program)
        );
        for (closed, open) in [
            (">&-", "101"),
            ("<&-", "011"),
            ("<&- >&- 2>&-", "000"),
            ("", "111"),
        ] {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("{command} {closed}")]);
            Running::start(shell).finish();
            assert_eq!(fs::read_to_string(&seen).unwrap(), open, "{verb} {closed}");
            fs::remove_file(&seen).unwrap();
        }
    }
}

/// `alarm` and then `exec`: what is executed gets the signal, in time.
#[test]
fn timers_that_run_are_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <stdio.h>
        #include <sys/time.h>
        #include <unistd.h>
        int main(int argc, char **argv) {
            struct itimerval timer[3] = { { { 7, 0 }, { 1000, 0 } }, { { 8, 0 }, { 0, 0 } }, { { 9, 0 }, { 3000, 0 } } };
            for (int i = 0; argc > 1 && i < 3; i++)
                setitimer(i, &timer[i], 0);
            if (argc > 1)
                return execvp(argv[1], argv + 1);
            for (int i = 0; i < 3; i++) {
                getitimer(i, &timer[i]);
                printf("%ld of %ld ", (timer[i].it_value.tv_sec + 50) / 100, timer[i].it_interval.tv_sec);
            }
            return 0;
        }
        "#;
    let program = c_program(folder.path(), "program", source, &[]);
    let says = |command: &[&str]| {
        let said = Command::new(&program).args(command).output().unwrap();
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap()
    };
    let recording = folder.path().join("recording");
    let record = [
        env!("CARGO_BIN_EXE_prestore"),
        "record",
        "-q",
        "-o",
        text(&recording),
        "--",
    ];
    let recorded = [&record[..], &[text(&program)]].concat();
    assert_eq!(says(&[text(&program)]), says(&recorded));
}

/// A small limit on the size of files leaves the recorder nothing to write: the error says so even where notes are not told.
#[test]
fn what_kept_a_program_from_being_recorded_is_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording");
    let record = format!(
        "ulimit -f 100; exec {} record -q --force -o {} -- true",
        env!("CARGO_BIN_EXE_prestore"),
        text(&recording)
    );
    let said = Command::new("bash").args(["-c", &record]).output().unwrap();
    assert_eq!(said.status.code(), Some(3), "{said:?}");
    let error = String::from_utf8(said.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
    let why = "limit on the size of files (RLIMIT_FSIZE)";
    assert!(error.contains("nothing was recorded"), "{error}");
    assert!(error.contains(why), "{error}");
}
