//! Signals to the command, from `timeout`, a container's end, a shell: the program gets them, and
//! what was seen is still reported.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use common::{Running, c_program, finding, prestore, recorded, signal_to, text};

/// Fills memory until it gets a signal: SIGTERM and SIGHUP are counted in the exit code, SIGUSR1 is
/// what ends it if it ignores the others.
fn program(folder: &Path, ignores: bool) -> (PathBuf, PathBuf) {
    let ready = folder.join("ready");
    let action = if ignores { "SIG_IGN" } else { "stop" };
    let source = format!(
        r#"
        #include <signal.h>
        #include <stdio.h>
        #include <unistd.h>
        long data[1 << 18];
        static volatile sig_atomic_t terminated, hung_up, asked;
        static void stop(int signal) {{
            terminated += signal == SIGTERM;
            hung_up += signal == SIGHUP;
            asked += signal == SIGUSR1;
        }}
        __attribute__((noipa)) static void fill(long seed) {{
            for (long i = 0; i < 1 << 18; i++) data[i] = i ^ seed;
        }}
        int main(void) {{
            fill(1);
            signal(SIGTERM, {action});
            if (signal(SIGHUP, {action}) == SIG_IGN) signal(SIGHUP, SIG_IGN);
            signal(SIGUSR1, stop);
            fclose(fopen("{}", "w"));
            while (!terminated && !hung_up && !asked) {{ fill(2); usleep(1000); }}
            usleep(300000);
            return terminated + 10 * hung_up + 20 * asked;
        }}
        "#,
        text(&ready)
    );
    let program = c_program(folder, "program", &source, &["-fno-tree-vectorize"]);
    (program, ready)
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn start(mut command: Command, program: &Path, ready: &Path) -> Running {
    command.args(["advise", "--format", "json", "--", text(program)]);
    let running = Running::start(command);
    wait_for("the program", || ready.exists());
    running
}

#[test]
fn a_signal_to_the_command_alone_reaches_the_program_once() {
    for (signal, code) in [("TERM", 1), ("HUP", 10), ("USR1", 20)] {
        let folder = tempfile::tempdir().unwrap();
        let (program, ready) = program(folder.path(), false);
        let running = start(prestore(), &program, &ready);
        signal_to(&running.pid().to_string(), signal);
        let ran = running.finish().exits(3);
        let end = format!("ended with exit code {code}");
        let ran = ran.says(&[&end]);
        // It is none that asks this command for something.
        assert_eq!(
            signal == "USR1",
            !ran.stderr.contains("send it again"),
            "{ran:?}"
        );
        let stores = finding(&ran.json(), "fill")["stores"].as_u64();
        assert!(stores >= Some(1 << 18), "{ran:?}");
    }
}

/// What the engine was ended in the middle of, while it started, is no defect to report.
#[test]
fn a_signal_before_the_program_begins_is_no_defect() {
    let folder = tempfile::tempdir().unwrap();
    let (program, _) = program(folder.path(), false);
    let mut command = prestore();
    command.args(["advise", "--", text(&program)]);
    let running = Running::start(command);
    // The command itself starts the program from whichever of its threads.
    let tasks = PathBuf::from(format!("/proc/{}/task", running.pid()));
    let has_child = || {
        fs::read_dir(&tasks).is_ok_and(|all| {
            all.flatten()
                .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
                .any(|children| !children.is_empty())
        })
    };
    while !has_child() {
        thread::yield_now();
    }
    signal_to(&running.pid().to_string(), "TERM");
    let ran = running.finish().exits(3);
    assert!(!ran.stderr.contains("please report it"), "{ran:?}");
}

/// Tables of long recordings are large, and half of one is of no use.
#[test]
fn an_export_that_is_ended_leaves_no_half_tables() {
    let folder = tempfile::tempdir().unwrap();
    let dir = recorded(folder.path(), "kv", &["--ops=200K"]);
    let out = folder.path().join("out");
    let mut command = prestore();
    command.args(["export", text(&dir), "--to", "parquet", "-o", text(&out)]);
    let running = Running::start(command);
    let begun = || fs::metadata(out.join("events.parquet.new")).is_ok_and(|m| m.len() > 0);
    wait_for("the first rows", begun);
    signal_to(&running.pid().to_string(), "TERM");
    let ran = running.finish();
    assert_eq!(ran.status.signal(), Some(15), "{ran:?}");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0);
}

/// What a run did that somebody else ended is not what a change did.
#[test]
fn a_trial_that_is_ended_blames_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let source = format!(
        r#"
        #include <stdio.h>
        #include <unistd.h>
        long data[1 << 18];
        __attribute__((noipa)) static void fill(long seed) {{
            for (long i = 0; i < 1 << 18; i++) data[i] = i ^ seed;
        }}
        int main(void) {{
            FILE *begun = fopen("{}", "a");
            fputc('.', begun);
            fclose(begun);
            for (int i = 0; i < 400; i++) {{ fill(i); usleep(1000); }}
            puts("done");
        }}
        "#,
        text(&begun)
    );
    let program = c_program(folder.path(), "program", &source, &["-fno-tree-vectorize"]);
    let ended_in = |run: u64| {
        fs::write(&begun, "").unwrap();
        let mut command = prestore();
        command.args(["try", "--op", "clean", "--finding", "1", "--runs", "30"]);
        command.arg("--").arg(&program);
        let running = Running::start(command);
        wait_for("the run", || {
            fs::metadata(&begun).is_ok_and(|m| m.len() >= run)
        });
        signal_to(&running.pid().to_string(), "TERM");
        running.finish().exits(3)
    };
    // Analysed, looked at, unchanged, changed.
    let ran = ended_in(4).says(&["the trial was stopped"]);
    assert!(!ran.stdout.contains("WRONG"), "{ran:?}");
    // The analysis is the first run, and nothing is tried of what it was ended in the middle of.
    ended_in(1).says(&["nothing was tried: the program was killed by signal 15"]);
    assert_eq!(fs::read_to_string(&begun).unwrap(), ".", "it ran once");
}

#[test]
fn a_time_limit_ends_the_program_and_prints_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let (program, ready) = program(folder.path(), false);
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "10"])
        .arg(prestore().get_program());
    let ran = start(command, &program, &ready).finish();
    let ran = ran.exits(124).says(&["ended with exit code 1"]);
    assert!(finding(&ran.json(), "fill")["stores"].as_u64() >= Some(1 << 18));
}

#[test]
fn a_program_that_ignores_it_is_left_at_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let (program, ready) = program(folder.path(), true);
    let running = start(prestore(), &program, &ready);
    let children = format!("/proc/{0}/task/{0}/children", running.pid());
    let child = fs::read_to_string(children).unwrap().trim().to_owned();
    signal_to(&running.pid().to_string(), "TERM");
    thread::sleep(Duration::from_millis(500));
    signal_to(&running.pid().to_string(), "TERM");
    wait_for("the recorder's end", || {
        !Path::new(&format!("/proc/{}/exe", running.pid())).exists()
    });
    signal_to(&child, "USR1");
    let ran = running.finish().exits(0);
    let ran = ran.says(&["recording is stopped", "left running"]);
    assert_eq!(ran.json()["partial"], "recording was stopped by the user");
}

#[test]
fn a_hangup_that_the_shell_ignores_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (program, ready) = program(folder.path(), false);
    let mut command = Command::new("nohup");
    command.arg(prestore().get_program());
    let running = start(command, &program, &ready);
    signal_to(&running.pid().to_string(), "HUP");
    thread::sleep(Duration::from_millis(500));
    signal_to(&running.pid().to_string(), "TERM");
    running.finish().exits(3).says(&["ended with exit code 1"]);
}

/// When the program has ended, there is nothing to wait for.
#[test]
fn a_signal_after_the_programs_end_ends_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        long data[1 << 18];
        __attribute__((noipa)) static void fill(long seed) {
            for (long i = 0; i < 1 << 18; i++) data[i] = i ^ seed;
        }
        int main(void) { for (int i = 0; i < 1000; i++) fill(i); }
        "#;
    let program = c_program(folder.path(), "program", source, &["-fno-tree-vectorize"]);
    let trace = folder.path().join("trace");
    let mut command = prestore();
    command.args(["advise", "--machine", "machine-a", "-o", text(&trace)]);
    command.args(["--", text(&program)]);
    let running = Running::start(command);
    let manifest = trace.join("manifest.json");
    let told = |text: String| text.contains("\"state\": \"complete\"");
    wait_for("the end of the recording", || {
        fs::read_to_string(&manifest).is_ok_and(told)
    });
    // Not so soon that it may be what has ended the program.
    thread::sleep(Duration::from_millis(1500));
    signal_to(&running.pid().to_string(), "INT");
    let ran = running.finish();
    assert_eq!(ran.status.signal(), Some(2), "{ran:?}");
}

/// Daemons outlive the program that has started them, and would be waited for without a word.
#[test]
fn who_outlives_the_program_is_named_and_need_not_be_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let source = r#"
        #include <unistd.h>
        int main(void) {
            if (fork() != 0) return 0;
            setsid();
            for (int i = 0; i < 3; i++) close(i);
            sleep(50);
            return 0;
        }
        "#;
    let program = c_program(folder.path(), "leaves_one", source, &[]);
    let said = folder.path().join("said");
    let mut shell = Command::new("sh");
    let command = format!(
        "exec {} record -o {} -- {} 2>{}",
        env!("CARGO_BIN_EXE_prestore"),
        text(&folder.path().join("recording")),
        text(&program),
        text(&said)
    );
    shell.args(["-c", &command]);
    let running = Running::start(shell);
    let told = || fs::read_to_string(&said).unwrap_or_default();
    wait_for("the message", || told().contains("1 process goes on"));
    assert!(told().contains("(leaves_one "), "{}", told());
    signal_to(&running.pid().to_string(), "INT");
    running.finish().exits(0);
    assert!(told().contains("recording is stopped"), "{}", told());
    assert!(!told().contains("waiting for the program"), "{}", told());
}
