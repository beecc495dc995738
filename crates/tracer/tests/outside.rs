//! What a program has to do with others: debuggers, sandboxes, and what the kernel tells of it.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use common::{Facts, Said, cc, found, native, recorder, same, scratch, str};

/// Runs it natively and recorded: both must end alike and print the same.
fn alike(command: &[&str]) -> (Said, Facts) {
    let alone = native(command);
    let (said, facts) = recorder(&[], command).run();
    let context = format!("native: {alone:#?}\nrecorded: {said:#?}\n{facts:#?}");
    assert_eq!(facts.error, None, "{context}");
    assert_eq!(facts.status, alone.status.to_string(), "{context}");
    assert_eq!(said.stdout, alone.stdout, "{context}");
    (said, facts)
}

#[test]
fn sandboxed_processes_end_as_natively() {
    let program = cc("sandboxed", &[]);
    let folder = scratch();
    let plain = folder.path().join("plain");
    fs::write(&plain, "echo\n").unwrap();
    fs::set_permissions(&plain, Permissions::from_mode(0o755)).unwrap();
    for way in [
        "strict",
        "forbidden",
        "minimal",
        "killed",
        "child",
        "denied",
        "trapped",
        "wrong",
        "asked",
        "searches",
    ] {
        let (_, facts) = alike(&[str(&program), way, str(&plain)]);
        assert!(facts.stores() > 1000, "{way} was recorded: {facts:?}");
        assert!(facts.notes.is_empty(), "{way}: {facts:?}");
    }
}

#[test]
fn what_a_sandboxed_process_executes_is_sandboxed_and_named() {
    let program = cc("sandboxed", &[]);
    let (said, facts) = alike(&[str(&program), "executes"]);
    assert!(said.stdout.contains("Seccomp:\t2"), "{said:?}");
    let note = &facts.notes[0];
    assert!(note.contains("/bin/sh ran natively"), "{facts:?}");
    assert!(note.contains("seccomp"), "{facts:?}");
}

#[test]
fn the_kernel_does_not_tell_of_the_engine() {
    let program = cc("proc_files", &[]);
    same(&[], &[str(&program), "one", "two"]);
}

#[test]
fn the_kernel_tells_of_all_that_the_program_has_mapped() {
    let program = cc("own_mappings", &[]);
    for options in [&[][..], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// A program that ends, or frees what it keeps, when it is too large ends no sooner.
#[test]
fn the_kernel_does_not_tell_of_the_recorders_memory() {
    for options in [&[][..], &["values"]] {
        same(options, &[str(&cc("own_sizes", &[]))]);
    }
}

/// A container runtime executes what it has mounted from there: that was the engine. So was it where folders are asked for it.
/// What the recorder opened while the program did took a number from it, or was closed in its place.
#[test]
fn files_have_their_numbers() {
    let program = cc("file_numbers", &["-pthread"]);
    let folder = scratch();
    let pipe = folder.path().join("pipe");
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program), str(&pipe)]);
    }
}

#[test]
fn the_link_to_the_program_leads_there_however_it_is_asked_for() {
    for options in [&[][..], &["values"]] {
        same(options, &[str(&cc("own_link", &[]))]);
    }
}

/// Also of signals: the engine handles them all.
#[test]
fn the_kernel_tells_of_the_programs_signals() {
    same(&[], &[str(&cc("signal_masks", &["-pthread"]))]);
}

#[test]
fn what_a_debugger_holds_runs_natively() {
    let program = cc("debugged", &[]);
    let (said, facts) = alike(&[str(&program), str(&program)]);
    assert!(said.stdout.contains("ended with 7"), "{said:?}");
    assert_eq!(facts.notes.len(), 1, "{facts:?}");
    assert!(facts.notes[0].contains("held by a debugger"), "{facts:?}");
    assert!(facts.stores() > 0, "the debugger itself was recorded");
}

#[test]
fn debuggers_run_natively_with_a_note() {
    if !found("gdb") {
        return;
    }
    let program = cc("debugged", &[]);
    let gdb = [
        "gdb",
        "-nx",
        "-q",
        "-batch",
        "-ex",
        "run",
        "-ex",
        "print $_exitcode",
        str(&program),
    ];
    if !native(&gdb).stdout.contains("$1 = 7") {
        eprintln!("SKIPPED: gdb cannot control programs here");
        return;
    }
    let (said, facts) = recorder(&[], &gdb).run();
    assert!(said.stdout.contains("$1 = 7"), "{said:?}");
    let error = facts.error.clone().unwrap_or_default();
    assert!(error.contains("gdb ran natively"), "{facts:?}");
}

/// A debugger is not told by its name alone.
#[test]
fn programs_that_are_called_like_debuggers_are_recorded() {
    let program = cc("signal_masks", &["-pthread"]);
    let dir = scratch();
    for name in ["gdb", "rr", "lldb", "proot"] {
        let called = dir.path().join(name);
        std::fs::copy(&program, &called).unwrap();
        let (_, facts) = alike(&[str(&called)]);
        assert!(facts.notes.is_empty(), "{name}: {facts:?}");
        assert!(facts.stores() > 0, "{name}: {facts:?}");
    }
}

/// It changes the calls of what it controls.
#[test]
fn roots_by_way_of_ptrace_run_natively_with_a_note() {
    let dir = scratch();
    std::fs::write(dir.path().join("here"), "").unwrap();
    let bound = format!("{}:/mnt", str(dir.path()));
    let proot = ["proot", "-b", &bound, "ls", "/mnt"];
    if !found("proot") || native(&proot).stdout != "here\n" {
        eprintln!("SKIPPED: proot cannot control programs here");
        return;
    }
    let (said, facts) = recorder(&[], &["sh", "-c", &(proot.join(" ") + "; echo done")]).run();
    assert_eq!(said.stdout, "here\ndone\n", "{said:?}");
    assert!(facts.notes[0].contains("proot ran natively"), "{facts:?}");
}

/// What `rr` starts is forbidden to read the time-stamp counter before it executes anything. As `rr` needs counters that most virtual
/// machines lack, a program of its name that names its call stands for it.
#[test]
fn what_records_by_itself_runs_natively_with_a_note() {
    let dir = scratch();
    let rr = dir.path().join("rr");
    std::fs::copy(cc("refused_prctl", &[]), &rr).unwrap();
    let mut file = std::fs::File::options().append(true).open(&rr).unwrap();
    file.write_all(b"ptrace").unwrap();
    drop(file);
    let command = format!("{} tsc; echo done", str(&rr));
    let (said, facts) = recorder(&[], &["sh", "-c", &command]).run();
    assert_eq!(said.stdout, native(&["sh", "-c", &command]).stdout);
    assert!(facts.notes[0].contains("rr ran natively"), "{facts:?}");
}

#[test]
fn an_engine_of_its_own_is_left_alone() {
    if !found("valgrind") {
        return;
    }
    let (said, facts) = alike(&["valgrind", "-q", "--tool=none", "/bin/echo", "told"]);
    assert!(said.stdout.contains("told"), "{said:?}");
    assert!(facts.notes[0].contains("an engine of its own"), "{facts:?}");
}

#[test]
fn a_signal_to_the_recorder_ends_the_program() {
    let program = cc("stores", &[]);
    let mut recorder = recorder(&[], &[str(&program), "0"]);
    let run = recorder.start();
    run.wait_until("under way", |run| run.stdout().contains("under way"));
    // SAFETY: a plain system call; the process is one that the test started.
    unsafe {
        libc::kill(run.pid(), libc::SIGTERM);
    }
    let said = run.finish();
    let facts = recorder.facts();
    assert_eq!(facts.status, "signal: 15 (SIGTERM)", "{said:?} {facts:?}");
    assert!(!facts.interrupted, "{facts:?}");
    assert!(facts.stores() > 3 * 4096, "{facts:?}");
}

/// Nor of the engine in another process that is recorded.
#[test]
fn the_kernel_does_not_tell_of_the_engine_elsewhere() {
    let script = "readlink /proc/$$/exe; tr '\\0' '\\n' < /proc/$$/environ | grep -c DYNAMORIO; \
                  grep -c 'libdynamorio\\|prestore_client' /proc/$$/maps; exit 0";
    let (said, _) = alike(&["sh", "-c", script]);
    assert!(said.stdout.ends_with("\n0\n0\n"), "{said:?}");
}

#[test]
fn programs_are_followed_into_what_a_descriptor_leads_to() {
    let program = cc("executes_at", &[]);
    for way in ["relative", "open", "missing"] {
        let (_, facts) = alike(&[str(&program), way]);
        assert!(facts.notes.is_empty(), "{way}: {facts:?}");
        let images = if way == "missing" { 1 } else { 2 };
        assert_eq!(facts.processes.len(), images, "{way}: {facts:?}");
    }
    let (_, facts) = alike(&[str(&program), "memory"]);
    assert!(facts.notes[0].contains("it has no path"), "{facts:?}");
}

/// The engine, executed instead, executed them: files that nobody may execute, and where nobody may; or it gave up when the
/// program was gone, where natively the call fails.
#[test]
fn what_the_kernel_does_not_execute() {
    let program = cc("executes_refused", &[]);
    let folder = scratch();
    for options in [&[][..], &["count"]] {
        let facts = same(options, &[str(&program), str(folder.path())]);
        assert!(facts.notes.is_empty(), "{facts:?}");
        if facts.status.contains("77") {
            eprintln!("SKIPPED: nothing can be mounted here");
        }
    }
}

/// Asked about one mapping (Linux 6.11), the kernel was said not to know the question.
#[test]
fn single_mappings_that_the_kernel_is_asked_about() {
    let program = cc("asks_for_mappings", &[]);
    for options in [&[][..], &["count"], &["values"]] {
        let facts = same(options, &[str(&program)]);
        assert!(facts.notes.is_empty(), "{facts:?}");
    }
}

#[test]
fn a_parent_that_controls_its_child_is_told_what_it_sees() {
    let program = cc("debugged", &[]);
    let (said, facts) = alike(&[str(&program), "stops"]);
    assert!(said.stdout.contains("ended with 5"), "{said:?}");
    assert_eq!(facts.notes.len(), 1, "{facts:?}");
    assert!(facts.notes[0].contains("PTRACE_TRACEME"), "{facts:?}");
}

#[test]
fn programs_are_not_told_of_another_engine() {
    same(&[], &[str(&cc("asks_valgrind", &[]))]);
}

/// Where /proc has other numbers than the system calls.
#[test]
fn process_namespaces() {
    let program = cc("namespaces", &["-pthread"]);
    for levels in ["0", "1", "3"] {
        let (said, facts) = alike(&[str(&program), levels]);
        if said.stdout.contains("no namespaces") {
            eprintln!("SKIPPED: processes cannot have namespaces here: {said:?}");
            return;
        }
        assert!(facts.notes.is_empty(), "{levels}: {facts:?}");
        assert_eq!(facts.torn, 0, "{levels}: {facts:?}");
        let images = facts.threads.iter().filter(|t| t.stores > 100).count();
        let least = 2 * (levels.parse::<usize>().unwrap() + 2);
        assert!(images >= least, "{levels}: {facts:?}");
    }
}

#[test]
fn programs_that_their_loader_is_told_of() {
    let program = cc("sandboxed", &[]);
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let (said, facts) = alike(&[loader, str(&program), "wrong"]);
    assert!(said.stdout.contains("installed"), "{said:?}");
    assert!(facts.stores() > 1000, "{facts:?}");
}
