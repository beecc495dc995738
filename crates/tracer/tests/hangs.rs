//! What must end, ends; and what cannot be recorded says so.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{cc, native, recorder, same, soak_number, str};

/// A timer's signals come while threads start and end and fork: wherever one of them is within the
/// engine then, it goes on where it was. And a forked child tidies up after the threads that only its
/// parent has: it must leave their files alone, into which they write on.
fn forks_while_other_threads_record(options: &[&str]) {
    let facts = same(options, &[str(&cc("forks_in_threads", &[]))]);
    assert_eq!(facts.status, "exit status: 0", "{options:?}");
    assert_eq!(facts.torn, 0, "{options:?}: {facts:?}");
    assert!(facts.processes.len() > 40, "{options:?}: {facts:?}");
}

const WAYS: [&[&str]; 5] = [
    &[],
    &["count"],
    &["skip=100000", "take=50000"],
    &["skip=100000", "take=50000", "gap=0"],
    &["bursts=100000,4400000,16"],
];

#[test]
fn forks_and_a_timer_while_other_threads_record() {
    for options in WAYS {
        for _ in 0..4 {
            forks_while_other_threads_record(options);
        }
    }
}

#[test]
#[ignore = "long: `make soak`"]
fn soak_forks_and_a_timer_while_other_threads_record() {
    for round in 0..100 {
        eprintln!("round {round}");
        for options in WAYS {
            forks_while_other_threads_record(options);
        }
    }
}

/// What a killed process holds of the engine that it shares with its parent is given back.
#[test]
fn killed_processes_that_share_memory() {
    let program = cc("killed_sharers", &[]);
    for options in [&[][..], &["count"]] {
        for way in ["handlers", "memory", "vfork"] {
            let (said, facts) = recorder(options, &[str(&program), way]).run();
            let context = format!("{way} {options:?} {said:?} {facts:?}");
            assert_eq!(said.stdout, "60 killed\n", "{context}");
            assert_eq!(facts.status, "exit status: 0", "{context}");
        }
    }
}

/// What those hold of the engine may be lost, and then the end says so.
fn killed_from_elsewhere(options: &[&str], way: &str, when: &str) {
    let program = cc("killed_sharers", &[]);
    let (said, facts) = recorder(options, &[str(&program), way, when]).run();
    let context = format!("{way} {when} {options:?} {said:?} {facts:?}");
    match facts.status.as_str() {
        "exit status: 0" => assert_eq!(said.stdout, "60 killed\n", "{context}"),
        _ => {
            assert_eq!(facts.status, "exit status: 3", "{context}");
            assert!(said.stderr.contains("cannot go on"), "{context}");
        }
    }
}

#[test]
fn processes_that_share_memory_and_are_killed_from_elsewhere() {
    for options in [&[][..], &["count"]] {
        for way in ["memory", "vfork"] {
            killed_from_elsewhere(options, way, "elsewhere");
        }
    }
}

/// Their parent waited for them to begin. Which moment they are killed in is up to the kernel.
#[test]
fn processes_that_are_killed_before_they_begin() {
    for options in [&[][..], &["count"]] {
        for _ in 0..4 {
            killed_from_elsewhere(options, "memory", "at once");
        }
    }
}

/// What either closes of those that both have, the recorder's too, the other has open no more.
#[test]
fn children_that_share_descriptors() {
    let program = cc("shared_descriptors", &[]);
    for options in [&[][..], &["count"]] {
        let facts = same(options, &[str(&program)]);
        assert!(facts.processes.len() >= 7, "{options:?}: {facts:?}");
        assert_eq!(facts.notes, [""; 0], "{options:?}: {facts:?}");
    }
}

/// One by which the engine stops it among them.
#[test]
fn a_thread_waits_for_all_signals() {
    let program = cc("all_signals", &["-pthread"]);
    same(&[], &[str(&program)]);
    same(&[], &[str(&program), "file"]);
}

/// Each fork behind one that the kernel refused waited for it, and so did the end.
#[test]
fn threads_that_cannot_be_made() {
    same(&[], &[str(&cc("not_made", &["-pthread"]))]);
}

/// By signals that nobody handles, from themselves and from elsewhere.
#[test]
fn children_that_a_signal_ends() {
    let program = cc("killed_children", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// Forks among what they do, and the parent cannot be asked to stand still for these.
#[test]
fn children_in_our_memory() {
    let program = cc("vforks", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// What executes another program is not waited for: it may be in the kernel for long, or never come back.
#[test]
fn programs_are_executed_beside_forks() {
    let program = cc("executes_beside_forks", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        for _ in 0..4 {
            same(options, &[str(&program)]);
        }
    }
}

/// They gave way to each other for ever, and to none of a lower priority that had what they waited for.
#[test]
fn threads_of_real_time_priority() {
    let program = cc("real_time", &["-pthread"]);
    if native(&[&program]).stdout == "not permitted\n" {
        eprintln!("SKIPPED: no such priorities are permitted here");
        return;
    }
    for options in [&[][..], &["count"], &["values"]] {
        for _ in 0..2 {
            same(options, &[str(&program)]);
        }
    }
}

const LIVES: [&[&str]; 4] = [&[], &["values"], &["count"], &["bursts=100000,4400000,16"]];

/// Threads that do what a random number says: fork, execute, map, jump out of handlers, are cancelled.
fn random_lives(seeds: std::ops::Range<u64>) {
    let program = cc("random_lives", &["-pthread"]);
    for seed in seeds {
        let options = LIVES[seed as usize % LIVES.len()];
        let threads = (4 + seed % 5).to_string();
        let run = [str(&program), &seed.to_string(), &threads, "15"];
        let (said, facts) = recorder(options, &run).run();
        let context = format!("{run:?} {options:?} {said:?} {facts:?}");
        assert_eq!(said.stdout, "0 wrong\n", "{context}");
        assert_eq!(facts.status, "exit status: 0", "{context}");
    }
}

#[test]
fn random_lives_go_on_as_they_do_natively() {
    random_lives(0..LIVES.len() as u64);
}

#[test]
#[ignore = "long: `make soak`"]
fn soak_random_lives() {
    let first = soak_number("PRESTORE_SOAK_SEED", 1);
    random_lives(first..first + 500);
}

fn is_refused(command: &[&str], call: &str) {
    for options in [&[][..], &["count"]] {
        let (said, facts) = recorder(options, command).run();
        assert!(said.stdout.ends_with("before\n"), "{said:?}");
        assert!(said.stderr.contains(call), "{said:?}");
        assert!(said.stderr.contains("run it without prestore"), "{said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
        assert_eq!(facts.status, "exit status: 3", "{facts:?}");
    }
}

#[test]
fn setting_gs_is_refused_with_a_message() {
    is_refused(&[str(&cc("gs_base", &[]))], "ARCH_SET_GS");
}

/// Who saved the base of GS and put it back was refused, though nothing changes, and so was a base that the kernel refuses.
#[test]
fn putting_back_the_base_of_gs_changes_nothing() {
    let program = cc("gs_base_put_back", &[]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

#[test]
fn loading_gs_from_the_stack_is_refused_with_a_message() {
    is_refused(&[str(&cc("pops_selector", &[]))], "from the stack");
}

/// It read beside the segment.
#[test]
fn loading_gs_with_a_base_is_refused_with_a_message() {
    is_refused(&[str(&cc("gs_segment", &[]))], "by a selector");
}

/// It was executed as if it were 64-bit code, and did something else.
#[test]
fn going_on_in_32_bit_code_is_refused_with_a_message() {
    let program = cc("goes_on_in_32_bits", &["-no-pie"]);
    for way in ["call", "jump", "return", "iret"] {
        is_refused(&[str(&program), way], "32-bit code");
    }
}

/// Far returns as such are recorded.
#[test]
fn far_transfers_to_64_bit_code() {
    let program = cc("goes_on_in_32_bits", &["-no-pie"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program), "stays"]);
    }
}

#[test]
fn what_would_hold_for_the_recorder_too_is_refused_with_a_message() {
    let program = cc("refused_prctl", &[]);
    is_refused(&[str(&program), "tsc"], "PR_SET_TSC");
    is_refused(&[str(&program), "calls"], "PR_SET_SYSCALL_USER_DISPATCH");
    // Where the kernel knows it (since 6.3).
    if native(&[str(&program), "asks"]).stdout.contains("knows") {
        is_refused(&[str(&program), "code"], "PR_SET_MDWE");
    }
}

#[test]
fn mapping_by_an_interrupt_is_refused_with_a_message() {
    let program = cc("by_interrupt", &["-no-pie", "-pthread"]);
    is_refused(&[str(&program), "maps"], "int $0x80");
}

#[test]
fn stepping_through_itself_is_refused_with_a_message() {
    is_refused(&[str(&cc("trap_flag", &[]))], "by the trap flag");
}

#[test]
fn letting_others_decide_on_calls_is_refused_with_a_message() {
    is_refused(&[str(&cc("sandboxed", &[])), "listened"], "NEW_LISTENER");
}

/// A hard limit holds for the client too, unless the process may raise it.
#[test]
fn no_files_at_all_goes_on_unrecorded_with_the_reason() {
    let (_, facts) = recorder(&[], &[cc("no_files", &[])]).run();
    assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    let raised = facts.notes.is_empty();
    assert!(
        raised || facts.notes[0].contains("RLIMIT_FSIZE"),
        "{facts:?}"
    );
}

/// Its user and its root directory, which the reason named, are what they were.
#[test]
fn a_child_without_descriptors_goes_on_unrecorded_with_the_reason() {
    let program = cc("no_descriptors", &[]);
    let native = native(&[str(&program)]);
    let (said, facts) = recorder(&[], &[str(&program)]).run();
    assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    assert_eq!(said.stdout, native.stdout, "{said:?}");
    let reason = facts.notes.first().map_or("", String::as_str);
    assert!(reason.contains("no descriptor is left"), "{facts:?}");
}
