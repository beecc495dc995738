//! Signals reach loops that never leave the engine's code cache, whatever the thread does when they
//! arrive, and end the waiting of threads that had blocked them. Where one is lost the program hangs,
//! and the harness says so.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;
use std::sync::LazyLock;

use common::{Facts, cc, found, native, recorder, same, same_but_for_stores, str};

static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| cc("spinning", &[]));

fn spin(options: &[&str], way: &str) -> Facts {
    let facts = same(options, &[str(&PROGRAM), way]);
    assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    facts
}

const WAYS: [&str; 4] = ["wait", "write", "ticks", "cancel"];

#[test]
fn busy_loops_get_their_signals() {
    for way in WAYS {
        spin(&[], way);
    }
}

/// The thread waits for a buffer most of the time.
#[test]
fn busy_loops_get_their_signals_with_a_slow_taker() {
    for way in WAYS {
        spin(&["slow=5"], way);
    }
}

/// In and out of windows, and where nothing follows them: the block that is begun anew is counted
/// once.
#[test]
fn busy_loops_get_their_signals_around_windows() {
    for way in WAYS {
        for options in [
            &["skip=1000000", "take=200000", "period=1000000"][..],
            &["skip=1000", "take=2000000"],
            &["skip=100000", "take=50000", "period=100000", "slow=5"],
            &["skip=100000", "take=50000", "period=1000000", "gap=0"],
            &["bursts=100000,4400000,16"],
        ] {
            let facts = same_but_for_stores(options, &[str(&PROGRAM), way]);
            assert_eq!(facts.status, "exit status: 0", "{facts:?}");
            let coverage = facts.coverage.unwrap();
            assert_eq!(coverage.recorded, facts.instrs(), "{way} {facts:?}");
            assert_eq!(
                coverage.recorded + coverage.skipped,
                facts.total(),
                "{way} {facts:?}"
            );
        }
    }
}

/// All code is flushed at each window: who is within a flushed block when the signal comes goes on in it. Before it was counted as out of
/// it, and the block freed, one time in a hundred and more.
#[test]
fn a_signal_within_a_flushed_block_does_not_free_it() {
    let options = ["skip=100000", "take=50000", "period=1000000", "gap=0"];
    let facts = same(&options, &[str(&PROGRAM), "cancel_often"]);
    assert_eq!(facts.status, "exit status: 0", "{facts:?}");
}

/// The waits that begin after their signal has come, or just then.
#[test]
fn blocked_signals_end_waits_that_let_them_in() {
    let program = cc("suspend", &[]);
    for way in ["once", "others", "children", "storm", "polls"] {
        let facts = same(&[], &[str(&program), way]);
        assert_eq!(facts.status, "exit status: 0", "{way} {facts:?}");
    }
}

/// To fork, the engine stops all other threads: those that wait do not notice.
#[test]
fn forks_interrupt_nobody() {
    let program = cc("interrupted", &[]);
    for options in [&[][..], &["count"]] {
        let facts = same(options, &[str(&program), "waits"]);
        assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    }
}

/// A signal that comes before such a call begins, or among others, does not make it fail.
#[test]
fn calls_that_cannot_be_interrupted() {
    let program = cc("interrupted", &[]);
    for _ in 0..3 {
        let facts = same(&[], &[str(&program), "forks"]);
        assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    }
}

/// Signals that come while another is delivered, while threads start and end, or to a process that
/// has just been forked.
#[test]
fn signals_come_once_and_in_order() {
    let program = cc("queued", &[]);
    for way in ["order", "threads", "children"] {
        for options in [&[][..], &["count"]] {
            let facts = same(options, &[str(&program), way]);
            assert_eq!(facts.status, "exit status: 0", "{way} {facts:?}");
        }
    }
}

/// Dash's `wait` blocks the children's signal, looks for what has ended, and suspends itself.
#[test]
fn shells_wait_for_jobs_in_the_background() {
    if !found("dash") {
        return;
    }
    let jobs = "for i in 1 2 3; do sleep 0.05 & done; wait; echo done";
    for _ in 0..20 {
        let facts = same(&[], &["dash", "-c", jobs]);
        assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    }
}

/// To tell where in a block a signal came, the engine builds the block again: as it was, though
/// recording has ended since. Here it ends under way because the taker fails, before most blocks are
/// made or after all of them.
#[test]
fn signals_reach_blocks_that_were_recorded_before_the_end_of_recording() {
    let program = cc("faulting", &[]);
    let native = native(&[str(&program)]);
    assert_eq!(native.status.to_string(), "exit status: 7", "{native:?}");
    for options in [
        &["fail=2"][..],
        &["fail=20"],
        &["fail=2", "skip=1000"],
        &["fail=20", "skip=1000"],
    ] {
        let (said, facts) = recorder(options, &[str(&program)]).run();
        let context = format!("{options:?} {said:?} {facts:?}");
        assert_eq!(facts.status, "exit status: 7", "{context}");
        assert_eq!(said.stdout, native.stdout, "{context}");
        assert_eq!(facts.failure.as_deref(), Some("told to fail"), "{context}");
        assert!(facts.stores() > 0, "{context}");
    }
}

/// The same program, recorded to its end: nothing of its own is missing.
#[test]
fn faults_and_ticks_in_many_blocks_lose_nothing() {
    let facts = same(&[], &[str(&cc("faulting", &[]))]);
    assert_eq!(facts.status, "exit status: 7", "{facts:?}");
    // Of each round: a store in each of 512 iterations of 8 loops and one behind them, five to the page
    // and around it.
    let stores = 200 * (8 * (512 + 1) + 5);
    assert!(facts.stores() >= stores, "{facts:?}");
}

#[test]
fn timers_tell_what_is_left() {
    same(&[], &[cc("timers", &[])]);
}

/// What a timer cannot send it counts; signals that waited in the engine were not counted.
#[test]
fn timers_that_are_fast() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("fast_timers", &[])]);
    }
}

/// None waited in the kernel while the first was to be delivered, and the engine did nothing but take them.
#[test]
fn timers_that_leave_no_pause() {
    for options in [&[][..], &["count"]] {
        same(options, &[cc("timers_without_pause", &[])]);
    }
}

#[test]
fn another_thread_changes_the_handler() {
    same(&[], &[cc("changes_handlers", &["-pthread"])]);
}

/// They fault again, natively not once.
#[test]
fn faults_that_are_ignored() {
    same(&[], &[cc("ignored_faults", &["-pthread"])]);
}

#[test]
fn no_room_for_a_frame() {
    same(&[], &[cc("no_room", &[])]);
    same(&[], &[cc("no_room_anywhere", &[])]);
}

/// Those that did not fit onto an alternate stack were put over what lies below it.
#[test]
fn frames_are_where_the_kernel_has_them() {
    let program = cc("small_stacks", &["-O1", "-no-pie"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// Handlers that were on one were told that they are not, and none was ever disarmed.
#[test]
fn alternate_stacks() {
    let program = cc("alternate_stacks", &["-O1"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// Signals that were sent came with the numbers of faults within the engine, and all flags of actions were kept.
#[test]
fn what_is_left_of_faults_and_flags() {
    let program = cc("left_of_faults", &["-O1", "-pthread"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

#[test]
fn limits_on_the_size_of_files() {
    same(&[], &[cc("small_files", &["-pthread"])]);
}

/// Time is up wherever the program is then.
#[test]
fn limits_on_time() {
    let program = cc("time_is_up", &[]);
    for options in [&[][..], &["count"]] {
        for _ in 0..2 {
            same(options, &[str(&program)]);
        }
    }
}

/// Before the child has done anything.
#[test]
fn faults_sent_to_new_children() {
    let program = cc("new_children", &[]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// The one by which the engine suspends threads, before they have done anything.
#[test]
fn signals_sent_to_new_threads() {
    let program = cc("new_threads", &["-O1"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// They were delivered in the middle of a block.
#[test]
fn signals_sent_anywhere() {
    let program = cc("sent_anywhere", &["-O1"]);
    for options in [&[][..], &["values"], &["count"]] {
        let facts = same(options, &[str(&program)]);
        assert_eq!(facts.status, "exit status: 0", "{facts:?}");
    }
}

/// They waited for the call's end, as they came behind the engine's last look.
#[test]
fn signals_just_before_calls_that_wait() {
    let program = cc("just_before_calls", &["-O1"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program), "faults"]);
    }
}

/// One in four ended with exit code 0, as if nothing had happened.
#[test]
fn threads_die_of_what_they_raise() {
    let program = cc("dies_in_threads", &["-pthread"]);
    for options in [&[][..], &["count"]] {
        same(options, &[str(&program), "60"]);
    }
}

/// The engine crashed where the vector registers' state could not be written.
#[test]
fn stacks_that_can_be_written_in_part() {
    let program = cc("partly_writable", &["-O1"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}

/// One that came while a branch's target was looked up waited for ever: another block's way out was cut.
#[test]
fn signals_while_targets_are_looked_up() {
    let program = cc("code_in_rbx", &["-pthread"]);
    for options in [&[][..], &["count"], &["count"]] {
        same(options, &[str(&program)]);
    }
}

/// The engine wrote into them, and crashed where it could not.
#[test]
fn frames_that_are_only_read() {
    let program = cc("only_read_frames", &["-O1"]);
    for options in [&[][..], &["count"], &["values"]] {
        same(options, &[str(&program)]);
    }
}
