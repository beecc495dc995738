//! Programs that execute others, or themselves, in unusual ways.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use common::{cc, same, scratch, str};

fn script(folder: &Path, text: &str) -> PathBuf {
    let script = folder.join("script");
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// It was the engine that could not be written.
#[test]
fn files_that_are_executed() {
    same(&[], &[cc("writes_itself", &[])]);
}

/// They were executed: the kernel was asked for the engine's file.
#[test]
fn files_that_are_being_written() {
    same(&[], &[cc("busy_programs", &[])]);
}

/// Container runtimes and browsers execute themselves so. The engine was executed instead, or nothing; what was executed by
/// another name, scripts among them, had its file's.
#[test]
fn executed_by_other_names() {
    let program = cc("other_names", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// The first program, too.
#[test]
fn scripts_begin_under_their_names() {
    let folder = scratch();
    let script = script(folder.path(), "#!/bin/sh\ncat /proc/$$/comm\n");
    same(&[], &[script]);
}

/// The register of the arguments pointed at the recorder's.
#[test]
fn registers_behind_scripts_that_are_not_executed() {
    let folder = scratch();
    let script = script(folder.path(), "#!/bin/sh\n");
    let program = cc("long_arguments", &["-O1"]);
    for options in [&[][..], &["count"], &["values"]] {
        let words = [str(&program), str(&script)];
        let said = common::native(&words).stdout;
        assert!(said.starts_with("-7: 1 1 1"), "{said}");
        same(options, &words);
    }
}

/// Service managers find processes by the file that they execute; it was the engine's.
#[test]
fn programs_of_other_processes() {
    for options in [&[][..], &["values"]] {
        same(options, &[cc("looks_at_others", &[])]);
    }
}

/// Their interpreters got the recorder's variables.
#[test]
fn formats_that_the_kernel_is_told_of() {
    same(&[], &[cc("formats", &[])]);
}

/// `perl -e 'alarm 9; exec @ARGV'` interrupted what it should have ended, and blocked alarms were lost.
#[test]
fn timers_of_what_is_executed() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("timers_go_on", &[])]);
    }
}
