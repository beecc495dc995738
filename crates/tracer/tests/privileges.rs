//! Programs that become another user, or have the rights of one.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{Facts, cc, found, native, recorder, same, scratch, str};

/// Is the test run by root? Says so where it is not: the test is then skipped.
fn root() -> bool {
    // SAFETY: a plain system call.
    let root = unsafe { libc::geteuid() } == 0;
    if !root {
        eprintln!("SKIPPED: only root can become another user");
    }
    root
}

/// Runs it natively and recorded: both must end alike and print the same.
fn alike(command: &[&str]) -> Facts {
    let alone = native(command);
    let (said, facts) = recorder(&[], command).run();
    let context = format!("native: {alone:#?}\nrecorded: {said:#?}\n{facts:#?}");
    assert_eq!(facts.error, None, "{context}");
    assert_eq!(facts.status, alone.status.to_string(), "{context}");
    assert_eq!(said.stdout, alone.stdout, "{context}");
    assert_eq!(said.stderr, alone.stderr, "{context}");
    facts
}

/// Does it succeed natively? Says so where it does not (a container without the capability, a file
/// system without set-user-id): the test is then skipped.
fn possible(command: &[&str], prints: &str) -> bool {
    let alone = native(command);
    let possible = alone.status.success() && alone.stdout.contains(prints);
    if !possible {
        eprintln!("SKIPPED: not possible here: {alone:?}");
    }
    possible
}

const AS_NOBODY: [&str; 5] = [
    "setpriv",
    "--reuid=nobody",
    "--regid=nogroup",
    "--clear-groups",
    "--",
];

/// A copy of the program where every user can execute it.
fn for_all(dir: &Path, program: &Path, mode: u32) -> String {
    let copy = dir.join("program");
    std::fs::copy(program, &copy).unwrap();
    std::fs::set_permissions(dir, PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&copy, PermissionsExt::from_mode(mode)).unwrap();
    str(&copy).to_owned()
}

#[test]
fn what_another_user_executes_is_recorded() {
    if !root() || !found("setpriv") {
        return;
    }
    let mut command = AS_NOBODY.to_vec();
    if !possible(&[&command[..], &["id", "-u"]].concat(), "65534") {
        return;
    }
    command.extend(["sh", "-c", "id -u; ls / | wc -l; (exit 3); echo $?"]);
    let facts = alike(&command);
    assert!(facts.notes.is_empty(), "{facts:?}");
    // setpriv, sh, and in pipelines id, ls, wc.
    assert!(facts.processes.len() >= 6, "{facts:?}");
}

/// Changes its user itself; then makes threads, forks and executes.
#[test]
fn who_changes_its_user_goes_on_being_recorded() {
    if !root() {
        return;
    }
    let dir = scratch();
    let program = for_all(dir.path(), &cc("changes_user", &[]), 0o755);
    if !possible(&[&program, "65534"], "as user 65534") {
        return;
    }
    let facts = alike(&[&program, "65534"]);
    assert!(facts.notes.is_empty(), "{facts:?}");
    assert!(facts.stores() > 3 * 100_000, "{facts:?}");
}

/// In a root directory without our files nothing can be recorded, but everything runs.
#[test]
fn another_root_directory_is_named() {
    if !root() {
        return;
    }
    let dir = scratch();
    let program = cc("changes_user", &["-static"]);
    let program = for_all(dir.path(), &program, 0o755);
    let command = [program.as_str(), "65534", str(dir.path()), "/program"];
    if !possible(&command, "as user 65534") {
        return;
    }
    let facts = alike(&command);
    let says = |n: &String| n.contains("has it changed its ");
    assert!(facts.notes.iter().any(says), "{facts:?}");
    assert!(facts.stores() > 100_000, "{facts:?}");
}

#[test]
fn a_file_with_rights_of_its_own_keeps_them() {
    if !root() || !found("setpriv") {
        return;
    }
    let dir = scratch();
    let program = for_all(dir.path(), &cc("changes_user", &[]), 0o4755);
    let mut command = AS_NOBODY.to_vec();
    command.extend([program.as_str(), "0"]);
    if !possible(&command, "user 0") {
        return;
    }
    let facts = alike(&command);
    assert_eq!(facts.notes.len(), 1, "{facts:?}");
    assert!(
        facts.notes[0].contains("privileges of its own"),
        "{facts:?}"
    );
}

/// Nobody but the recorder and its programs can see or make files there.
#[test]
fn the_session_is_closed_to_others() {
    if !root() || !found("setpriv") {
        return;
    }
    let program = cc("stores", &[]);
    let mut recorder = recorder(&[], &[str(&program), "0"]);
    let run = recorder.start();
    run.wait_until("under way", |run| run.stdout().contains("under way"));
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", run.child())).unwrap();
    let control = maps.lines().find(|l| l.ends_with("/control")).unwrap();
    let control = Path::new(control.split_whitespace().last().unwrap());
    let outer = control.ancestors().nth(2).unwrap();
    let list = [&AS_NOBODY[..], &["ls", str(outer)]].concat();
    assert!(!native(&list).status.success(), "others can list {outer:?}");
    let place = control.parent().unwrap();
    let list = [&AS_NOBODY[..], &["ls", str(place)]].concat();
    assert!(!native(&list).status.success(), "others can list {place:?}");
    // SAFETY: a plain system call; the process is one that the test started.
    unsafe {
        libc::kill(run.child(), libc::SIGKILL);
    }
    run.finish();
}

/// Calls that the recorder answers itself were answered though the program's own filter refuses them, and refused ones that
/// it cannot record ended the program.
#[test]
fn a_filter_has_the_last_word() {
    let program = cc("filter_has_last_word", &[]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}
