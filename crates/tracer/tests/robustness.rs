//! Either side may die, the taker may be slow or fail, the user may interrupt, the command may be
//! wrong: nothing is lost silently, and the program is left alone.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{Facts, cc, recorder, same, scratch, str};

fn stores() -> PathBuf {
    cc("stores", &[])
}

fn kill(pid: i32, signal: i32) {
    // SAFETY: a plain system call; the process is one that the test started.
    unsafe {
        libc::kill(pid, signal);
    }
}

fn under_way(run: &common::Running) -> bool {
    run.stdout().contains("under way")
}

#[test]
fn killed_program_is_recorded_up_to_its_end() {
    let mut recorder = recorder(&[], &[str(&stores()), "0"]);
    let run = recorder.start();
    run.wait_until("under way", under_way);
    run.signal_child(libc::SIGKILL);
    let said = run.finish();
    let facts = recorder.facts();
    assert_eq!(facts.status, "signal: 9 (SIGKILL)", "{said:?} {facts:?}");
    assert_eq!(facts.torn, 1, "{facts:?}");
    assert_eq!(facts.failure, None, "{facts:?}");
    // Three rounds of 4096 stores came before it said that it was under way.
    assert!(facts.stores() > 3 * 4096, "{facts:?}");
}

#[test]
fn program_outlives_its_recorder_and_says_so() {
    let mut recorder = recorder(&[], &[str(&stores()), "2"]);
    let run = recorder.start();
    run.wait_until("under way", under_way);
    kill(run.pid(), libc::SIGKILL);
    run.wait_until("done", |run| run.stdout().contains("done"));
    let stderr = run.stderr();
    assert!(stderr.contains("the analysing side is gone"), "{stderr}");
    assert!(stderr.contains("goes on unrecorded"), "{stderr}");
}

#[test]
fn failing_taker_leaves_the_program_alone() {
    let (said, facts) = recorder(&["fail=5"], &[str(&stores()), "1"]).run();
    assert!(said.stdout.contains("done"), "{said:?}");
    assert_eq!(facts.status, "exit status: 0");
    assert_eq!(facts.failure.as_deref(), Some("told to fail"));
}

#[test]
fn slow_taker_loses_nothing() {
    let program = cc("rounds", &[]);
    let (_, slow) = recorder(&["slow=5"], &[&program]).run();
    let (_, counted) = recorder(&["count"], &[&program]).run();
    assert_eq!(slow.status, "exit status: 0", "{slow:?}");
    let stores = 200 * 4096;
    assert!(slow.stores() >= stores, "{slow:?}");
    // The loader's work depends on addresses and the environment; the program's own does not.
    let difference = slow.stores().abs_diff(counted.stores());
    assert!(difference < stores / 100, "{slow:?}\n{counted:?}");
}

#[test]
fn one_interrupt_ends_the_program() {
    let mut recorder = recorder(&[], &[str(&stores()), "0"]);
    let run = recorder.start();
    run.wait_until("under way", under_way);
    run.signal_group(libc::SIGINT);
    let said = run.finish();
    let facts = recorder.facts();
    assert_eq!(facts.status, "signal: 2 (SIGINT)", "{said:?} {facts:?}");
    assert!(!facts.interrupted, "{facts:?}");
    assert!(facts.stores() > 3 * 4096, "{facts:?}");
}

#[test]
fn two_interrupts_leave_a_stubborn_program() {
    let mut recorder = recorder(&[], &[str(&stores()), "3", "stubborn"]);
    let run = recorder.start();
    run.wait_until("under way", under_way);
    kill(run.pid(), libc::SIGINT);
    kill(run.pid(), libc::SIGINT);
    // Two of one signal may arrive as one.
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill(run.pid(), libc::SIGINT);
    run.wait_until("recorded", |_| recorder.facts().status == "none");
    let facts = recorder.facts();
    assert!(facts.interrupted, "{facts:?}");
    assert!(facts.stores() > 3 * 4096, "{facts:?}");
    run.wait_until("done", |run| run.stdout().contains("done"));
}

/// What it executes then finds no session any more, and its children none either.
#[test]
fn what_is_executed_without_a_recorder_may_fork() {
    let go = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let script = "trap '' INT; echo begun; while [ -e \"$1\" ]; do sleep 0.05; done
        exec sh -c '(echo forked); true | (echo piped); echo done'";
    let mut recorder = recorder(&[], &["sh", "-c", script, "sh", go.to_str().unwrap()]);
    let run = recorder.start();
    run.wait_until("begun", |run| run.stdout().contains("begun"));
    for _ in 0..2 {
        kill(run.pid(), libc::SIGINT);
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    run.wait_until("recorded", |_| recorder.facts().status == "none");
    go.close().unwrap();
    run.wait_until("done", |run| run.stdout().contains("done"));
    assert_eq!(
        run.stdout(),
        "begun\nforked\npiped\ndone\n",
        "{}",
        run.stderr()
    );
}

/// The ring is full of buffers that the taker has still to read: the program must not write over
/// them when it is told that nobody reads what comes now.
#[test]
fn two_interrupts_spare_what_a_slow_taker_has_still_to_read() {
    let mut recorder = recorder(&["slow=150"], &[str(&stores()), "5", "stubborn"]);
    let run = recorder.start();
    run.wait_until("under way", under_way);
    kill(run.pid(), libc::SIGINT);
    std::thread::sleep(std::time::Duration::from_millis(200));
    kill(run.pid(), libc::SIGINT);
    run.wait_until("recorded", |_| recorder.facts().status == "none");
    let facts = recorder.facts();
    assert!(facts.interrupted, "{facts:?}");
    assert_eq!(facts.failure, None, "{facts:?}");
    run.wait_until("done", |run| run.stdout().contains("done"));
}

#[test]
fn crash_is_reported_as_the_programs_end() {
    let facts = same(&[], &[str(&cc("rounds", &[])), "crash"]);
    assert_eq!(facts.status, "signal: 11 (SIGSEGV)");
    assert!(facts.stores() >= 200 * 4096, "{facts:?}");
}

fn refused<S: AsRef<std::ffi::OsStr>>(command: &[S], message: &str) {
    let (said, Facts { error, .. }) = recorder(&[], command).run();
    let error = error.unwrap_or_default();
    assert!(
        error.contains(message),
        "{error:?}, not {message:?}: {said:?}"
    );
}

/// A file of `bytes` in `dir`.
fn file(dir: &Path, bytes: &[u8], mode: u32) -> PathBuf {
    let path = dir.join("file");
    std::fs::write(&path, bytes).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

/// The header of an ELF program of `class` (1: 32 bits, 2: 64) for `machine`.
fn elf(class: u8, machine: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\0\x01\x01".to_vec();
    bytes[4] = class;
    bytes.resize(16, 0);
    bytes.extend(2u16.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.resize(64, 0);
    let size = if class == 1 {
        (40, 52u16, 32u16)
    } else {
        (52, 64, 56)
    };
    bytes[size.0..size.0 + 2].copy_from_slice(&size.1.to_le_bytes());
    bytes[size.0 + 2..size.0 + 4].copy_from_slice(&size.2.to_le_bytes());
    bytes
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    let dir = scratch();
    let dir = dir.path();
    refused(&["/no/such/program"], "/no/such/program: no such file");
    refused(&["no-such-program"], "no such program on PATH");
    refused(&[file(dir, b"#!/bin/sh\n", 0o644)], "not executable");
    refused(&[file(dir, &elf(1, 3), 0o755)], "a 32-bit program");
    refused(&[file(dir, &elf(2, 183), 0o755)], "a program for AArch64");
    refused(
        &[file(dir, b"just text\n", 0o755)],
        "neither an ELF program",
    );
    refused(
        &[file(dir, b"#!/no/interpreter\n", 0o755)],
        "/no/interpreter: no such file",
    );
    refused::<&str>(&[], "no program was given");
}

/// One that waited for the host when its process ended handed over its buffer once more: the recording was refused.
#[test]
fn threads_that_wait_for_the_host_when_their_process_ends() {
    let program = cc("ends_among", &["-O1", "-pthread"]);
    for _ in 0..5 {
        same(&[], &[str(&program)]);
    }
}
