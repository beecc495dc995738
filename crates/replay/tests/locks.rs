//! Which critical sections are recognised, and what becomes of waiting for them.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::made_up::frame;
use common::slot::{
    DATA_STORE, FLAG, FREE, LOCK, PLAIN_SET, POLL, PUBLISH, at_flag, process, words,
};
use common::{brief, exec, ops, recording, stamp, write_as};
use prestore_machine::Machine;
use prestore_replay::{HandOffs, Options, Replay, Waits};
use prestore_sim::{NoMechanism, OpKind, Simulation};
use prestore_trace::block::meta;
use prestore_trace::container::{RecordingInfo, Trace};
use prestore_trace::record::FIRST_BLOCK;

const DATA: u64 = 0x5000;

fn sections(trace: &Trace) -> u64 {
    let hand_offs = HandOffs::infer(trace, &Options::default()).unwrap();
    hand_offs.counts().sections
}

/// A section that begins at `at`: acquired at the first attempt, released by block `release`.
fn section(at: u64, release: u32) -> Vec<u64> {
    let mut all = [stamp(at), at_flag(LOCK), exec(DATA_STORE, &[DATA])].concat();
    if release == FREE {
        all.extend(stamp(at + 10));
    }
    all.extend(at_flag(release));
    all
}

/// `n` sections, from `first` on every 100 ticks.
fn sections_of(first: u64, n: u64, release: u32) -> Vec<u64> {
    let all: Vec<_> = (0..n).map(|k| section(first + 100 * k, release)).collect();
    words(first - 90, &all)
}

#[test]
fn sections_are_told_whether_a_store_or_an_atomic_releases() {
    for release in [PLAIN_SET, FREE] {
        let threads = vec![sections_of(100, 10, release), sections_of(150, 10, release)];
        let (_dir, trace) = recording(&[process(threads)]);
        assert_eq!(sections(&trace), 20);
        let released = if release == FREE {
            OpKind::Atomic
        } else {
            OpKind::Store
        };
        for ops in ops(&trace, &Options::default()) {
            let section = [
                (OpKind::Acquire, 0),
                (OpKind::Atomic, FLAG),
                (OpKind::Store, DATA),
                (released, FLAG),
                (OpKind::Release, 0),
            ];
            assert_eq!(brief(&ops), section.repeat(10));
        }
    }
}

#[test]
fn a_lock_that_one_thread_has_is_none() {
    let other = words(10, &[exec(DATA_STORE, &[DATA])]);
    let (_dir, trace) = recording(&[process(vec![sections_of(100, 10, PLAIN_SET), other])]);
    assert_eq!(sections(&trace), 0);
}

#[test]
fn processes_have_locks_in_common_where_they_share_memory() {
    // What of it the recording knows; the memory that the parent has mapped there, and the child.
    let found = |known, parent: Option<u64>, child: Option<u64>| {
        let of = |first, identity: Option<u64>| {
            let mut process = process(vec![sections_of(first, 10, PLAIN_SET)]);
            if let Some(identity) = identity {
                let memory = [FLAG, 8, identity, 0].map(u64::to_le_bytes);
                process.blocks.extend(frame(meta::SHARED, memory.concat()));
            }
            process
        };
        let (parent, mut child) = (of(100, parent), of(150, child));
        (child.pid, child.parent, child.inherited) = (101, parent.pid, FIRST_BLOCK);
        let mut info = RecordingInfo::default();
        info.scope.shared_memory = known;
        let dir = tempfile::tempdir().unwrap();
        write_as(dir.path(), &[parent, child], info);
        sections(&Trace::open(dir.path()).unwrap())
    };
    assert_eq!(found(true, None, None), 0, "each has its own");
    assert_eq!(found(true, Some(7), Some(7)), 20, "both have mapped it");
    assert_eq!(found(true, Some(7), Some(8)), 0, "other memory");
    assert_eq!(found(true, Some(7), None), 20, "mapped before the fork");
    assert_eq!(found(true, None, Some(7)), 0, "mapped behind it");
    assert_eq!(found(false, None, None), 20, "an older recording");
}

#[test]
fn what_threads_have_at_the_same_time_is_no_lock() {
    // References that are counted: each lasts 70 ticks, and another begins every 50.
    let thread = |first: u64| {
        let all: Vec<_> = (0..10)
            .map(|k| {
                let at = first + 100 * k;
                [stamp(at), at_flag(LOCK), stamp(at + 70), at_flag(FREE)].concat()
            })
            .collect();
        words(first - 90, &all)
    };
    let (_dir, trace) = recording(&[process(vec![thread(100), thread(150)])]);
    assert_eq!(sections(&trace), 0);
}

/// A section between atomics with a time in front of each and behind: the thread has it from `had` to `until` for certain.
fn timed(at: u64, had: u64, until: u64) -> Vec<u64> {
    let acquired = [stamp(at), at_flag(LOCK), stamp(had)].concat();
    let released = [stamp(until), at_flag(FREE), stamp(until + 5)].concat();
    [acquired, exec(DATA_STORE, &[DATA]), released].concat()
}

/// Two threads with a section each every 100 ticks, and how many sections of locks there are.
fn sections_of_two(of: [fn(u64) -> Vec<u64>; 2]) -> u64 {
    let thread = |section: fn(u64) -> Vec<u64>| {
        let all: Vec<_> = (1..11).map(|k| section(100 * k)).collect();
        words(10, &all)
    };
    let (_dir, trace) = recording(&[process(of.map(thread).to_vec())]);
    sections(&trace)
}

#[test]
fn who_comes_to_a_lock_while_it_is_released_overlaps_with_nobody() {
    // The second thread's time is taken before the first one's release, and its atomic is executed behind that.
    let first = |at| timed(at, at + 20, at + 50);
    let second = |at| timed(at + 45, at + 60, at + 80);
    assert_eq!(sections_of_two([first, second]), 20);
}

#[test]
fn what_threads_certainly_have_at_the_same_time_is_no_lock() {
    let first = |at| timed(at, at + 20, at + 60);
    let second = |at| timed(at + 30, at + 40, at + 80);
    assert_eq!(sections_of_two([first, second]), 0);
}

#[test]
fn counters_have_no_sections() {
    let count = |first: u64| {
        let all: Vec<_> = (0..10)
            .map(|k| [stamp(first + 100 * k), at_flag(PUBLISH)].concat())
            .collect();
        words(first - 90, &all)
    };
    let (_dir, trace) = recording(&[process(vec![count(100), count(150)])]);
    assert_eq!(sections(&trace), 0);
}

/// Attempts that failed, and looks at the lock, were the recording machine's waiting.
#[test]
fn what_was_tried_in_vain_is_left_out() {
    let waiting = |looks: usize| {
        let mut all = section(20, PLAIN_SET);
        for k in 0..3 {
            all.extend([stamp(110 + k), at_flag(LOCK)].concat());
            all.extend(vec![at_flag(POLL); looks].concat());
        }
        all.extend(section(200, PLAIN_SET));
        vec![words(10, &[all]), sections_of(100, 1, PLAIN_SET)]
    };
    let (_dir, trace) = recording(&[process(waiting(5))]);
    assert_eq!(sections(&trace), 3);
    let all = ops(&trace, &Options::default());
    let second: Vec<_> = brief(&all[0]).into_iter().skip(5).collect();
    assert_eq!(
        second,
        [
            (OpKind::Acquire, 0),
            // The look that saw it free.
            (OpKind::Load, FLAG),
            (OpKind::Atomic, FLAG),
            (OpKind::Store, DATA),
            (OpKind::Store, FLAG),
            (OpKind::Release, 0),
        ]
    );
    let keep = Options {
        waits: Waits::Keep,
        ..Options::default()
    };
    assert_eq!(ops(&trace, &keep)[0].len(), all[0].len() + 3 + 3 * 5 - 1);
}

/// A lock that is looked at before it is tried, sections that all write the same, and nobody else has it meanwhile: each
/// look is one of its own.
#[test]
fn sections_that_begin_with_a_look_are_no_wait_for_each_other() {
    for release in [PLAIN_SET, FREE] {
        let looking = |first: u64| {
            let one = |k: u64| [at_flag(POLL), section(first + 100 * k, release)].concat();
            words(first - 90, &(0..10).map(one).collect::<Vec<_>>())
        };
        let (_dir, trace) = recording(&[process(vec![looking(100), looking(5000)])]);
        assert_eq!(sections(&trace), 20);
        for ops in ops(&trace, &Options::default()) {
            let all = brief(&ops);
            let of = |kind, addr| all.iter().filter(|b| **b == (kind, addr)).count();
            assert_eq!(
                (of(OpKind::Store, DATA), of(OpKind::Load, FLAG)),
                (10, 10),
                "{all:?}"
            );
        }
    }
}

#[test]
fn work_between_two_attempts_stays() {
    let thread = [
        section(20, PLAIN_SET),
        [stamp(110), at_flag(LOCK), exec(DATA_STORE, &[0x6000])].concat(),
        section(200, PLAIN_SET),
    ];
    let threads = vec![words(10, &thread), sections_of(100, 1, PLAIN_SET)];
    let (_dir, trace) = recording(&[process(threads)]);
    let all = ops(&trace, &Options::default());
    let work = brief(&all[0]);
    assert!(work.contains(&(OpKind::Store, 0x6000)), "{work:?}");
    assert_eq!(work.iter().filter(|b| b.0 == OpKind::Atomic).count(), 3);
}

#[test]
fn sections_exclude_each_other_when_they_are_simulated() {
    // Recorded one after the other, simulated from the same start; of lines of their own.
    let long = |first: u64| {
        let mut all = [stamp(first), at_flag(LOCK)].concat();
        all.extend((0..200).flat_map(|k| exec(DATA_STORE, &[(first << 32) | (4096 * k)])));
        all.extend(at_flag(PLAIN_SET));
        words(first - 90, &[all])
    };
    let machine = Machine::find_with("tiny", &[]).unwrap();
    let (_dir, trace) = recording(&[process(vec![long(100), long(5000)])]);
    let results = Replay::new(&trace, Simulation::new(&machine))
        .run(&mut NoMechanism)
        .unwrap();
    let [first, second] = &results.threads[..] else {
        panic!("two threads");
    };
    let waited = |t: &prestore_sim::ThreadResult| t.stalls["lock"];
    assert_eq!(waited(first), 0);
    assert!(second.cycles as f64 > 1.8 * first.cycles as f64);
    assert!(
        waited(second) * 10 > first.cycles * 9,
        "{} {}",
        waited(second),
        first.cycles
    );
}
