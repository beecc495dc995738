//! Windows and source regions: what is recorded is what the full recording holds there, and
//! nothing that was executed is lost from the instruction counts.

// Helpers of tests are tests too, which the lint does not see.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use common::{Coverage, Facts, cc, recorder, same, str};

/// The workloads' folder, with what these tests run.
fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let out = common::out_dir().join("windows");
        let make = Command::new("make")
            .arg("-C")
            .arg(workloads)
            .args(["all", &format!("OUT={}", str(&out))])
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&make.stderr);
        assert!(make.status.success(), "{log}");
        out
    })
}

fn record(options: &[&str], program: &str) -> Facts {
    let program = programs().join(program);
    let (said, facts) = recorder(options, &[&program]).run();
    assert!(facts.error.is_none() && facts.failure.is_none(), "{said:?}");
    facts
}

/// The first instruction and the one behind the last.
type Stretch = (u64, u64);

/// Instruction count at an event.
fn at(event: &str) -> u64 {
    event.split(' ').nth(1).unwrap().parse().unwrap()
}

/// Records `program` (one thread) whole and with `options`: the second must hold the events of
/// the first at the instructions `stretches`, and know of all the others.
fn check_slice(program: &str, options: &[&str], stretches: &[Stretch]) -> Facts {
    let full = record(&["events"], program);
    assert_eq!(full.coverage, None);
    // Whatever blocks gaps are executed by.
    check_slice_of(&full, program, &[options, &["gap=0"]].concat(), stretches);
    check_slice_of(&full, program, options, stretches)
}

fn check_slice_of(full: &Facts, program: &str, options: &[&str], stretches: &[Stretch]) -> Facts {
    let part = record(&[&["events"], options].concat(), program);
    let inside = |event: &&String| stretches.iter().any(|s| (s.0..s.1).contains(&at(event)));
    let expected: Vec<&String> = full.events.iter().filter(inside).collect();
    assert_eq!(part.events.iter().collect::<Vec<_>>(), expected);
    assert_eq!(part.total(), full.total());
    let recorded: u64 = stretches.iter().map(|s| s.1 - s.0).sum();
    assert_eq!(part.instrs(), recorded);
    let coverage = part.coverage.unwrap();
    assert_eq!(coverage.recorded, recorded);
    assert_eq!(coverage.skipped, full.total() - recorded);
    part
}

// `loop` has a block that ends before instruction 8, one every 6 instructions from there to 602,
// and a last one of 3.

#[test]
fn a_window_is_a_slice_of_the_full_recording() {
    let facts = check_slice("asm/loop", &["skip=100", "take=60"], &[(104, 164)]);
    assert_eq!(facts.events.len(), 20);
    // Before the window and behind it.
    assert_eq!(facts.threads[0].skips, 2);
}

#[test]
fn a_window_from_the_first_instruction() {
    check_slice("asm/loop", &["take=8"], &[(0, 8)]);
    check_slice("asm/loop", &["take=9"], &[(0, 14)]);
}

#[test]
fn a_window_up_to_the_end() {
    check_slice("asm/loop", &["skip=590"], &[(590, 605)]);
}

#[test]
fn windows_come_again_every_period() {
    let options = ["skip=100", "take=60", "period=200"];
    check_slice("asm/loop", &options, &[(104, 164), (302, 362), (500, 560)]);
}

#[test]
fn windows_that_touch_leave_nothing_out() {
    let options = ["take=60", "period=60"];
    let facts = check_slice("asm/loop", &options, &[(0, 605)]);
    assert_eq!(facts.threads[0].skips, 0);
}

#[test]
fn windows_become_rarer_the_longer_a_program_runs() {
    // All until 80, one of 4 until 320, then one of 16; from block to block.
    let stretches = [(0, 104), (164, 182), (242, 260), (320, 344)];
    let facts = check_slice("asm/loop", &["bursts=20,80,16"], &stretches);
    assert_eq!(facts.threads[0].windows, [0, 1, 2, 3, 4, 8, 12, 16]);
}

/// With windows of this length, of which 44 are recorded before any is left out, blocks get their second case when the
/// first buffer is handed over that is full.
const LATE: &str = "bursts=100000,4400000,16";
/// The same, where each gap has blocks that are made for counting alone.
const SWITCHED: [&str; 2] = [LATE, "gap=0"];

/// Coverage, the recorded instructions, and all of them add up.
fn assert_adds_up(facts: &Facts) {
    let coverage = facts.coverage.unwrap();
    assert_eq!(coverage.recorded, facts.instrs(), "{facts:?}");
    let all = coverage.recorded + coverage.skipped;
    assert_eq!(all, facts.total(), "{facts:?}");
}

#[test]
fn blocks_get_their_second_case_while_the_program_runs() {
    let program = cc("long", &["-static", "-nostdlib"]);
    let late = |options: &[&str]| {
        let (said, facts) = recorder(options, &[str(&program)]).run();
        assert!(said.status.success(), "{said:?}");
        facts
    };
    let facts = late(&[LATE]);
    assert_adds_up(&facts);
    assert_eq!(facts.total(), 2 + 7 * 2_000_000 + 3);
    // Where it was when it got them, and from there on what is recorded of a run of 140 windows.
    let thread = &facts.threads[0];
    let first = thread.windows[0];
    let rest = (first..44).chain((44..=140).step_by(4));
    assert!((1..44).contains(&first), "{facts:?}");
    assert_eq!(thread.windows, rest.collect::<Vec<u64>>());
    // One of seven instructions stores. Each window is exact to a block, whatever was recorded before.
    let recorded = (44 + 24) * 100_000 + 3;
    assert!(facts.instrs().abs_diff(recorded) < 8 * 25, "{facts:?}");
    assert!(facts.stores().abs_diff(recorded / 7) < 25, "{facts:?}");
    // It is the same each time, whatever gaps are executed by.
    let counts = |facts: &Facts| (facts.instrs(), facts.stores(), facts.coverage);
    for options in [&[LATE][..], &SWITCHED, &SWITCHED] {
        let again = late(options);
        assert_eq!(again.threads[0].windows, thread.windows);
        assert_eq!(counts(&again), counts(&facts));
    }
}

#[test]
fn a_short_program_never_gets_second_cases() {
    let program = programs().join("asm/loop");
    let listed = |options: &[&str]| record(&[&["events"], options].concat(), str(&program));
    let (whole, short) = (listed(&[]), listed(&[LATE]));
    assert_eq!(short.events, whole.events);
    assert_eq!(short.threads[0].windows, Vec::<u64>::new());
    let coverage = Coverage {
        recorded: whole.total(),
        skipped: 0,
        regions: 0,
    };
    assert_eq!(short.coverage, Some(coverage));
}

/// Threads that work, one that waits in a system call, and children: who was there before the second cases comes to
/// the windows one by one.
#[test]
fn threads_and_children_get_second_cases() {
    let program = cc("long_threads", &[]);
    let both = [
        &[LATE][..],
        &[LATE, "slow=2"],
        &SWITCHED,
        &[LATE, "gap=0", "slow=2"],
    ];
    for options in both {
        let facts = same(options, &[str(&program)]);
        assert_eq!(facts.status, "exit status: 0", "{facts:?}");
        assert_adds_up(&facts);
        let left_out = facts.threads.iter().filter(|t| t.skips > 0).count();
        assert!(left_out >= 3, "{facts:?}");
    }
}

/// Signals and faults find threads in blocks of all kinds.
#[test]
fn signals_while_blocks_get_second_cases() {
    for options in [&[LATE][..], &SWITCHED] {
        let facts = same(options, &[str(&cc("faulting", &[]))]);
        assert_eq!(facts.status, "exit status: 7", "{facts:?}");
        // It counts the blocks in full that its 200 faults cut.
        let cut = facts.coverage.unwrap().recorded.checked_sub(facts.instrs());
        assert!(cut.is_some_and(|cut| cut <= 200 * 128), "{facts:?}");
    }
}

#[test]
fn a_window_behind_the_end_is_empty() {
    let facts = check_slice("asm/loop", &["skip=1000000"], &[]);
    assert_eq!(facts.status, "exit status: 0");
}

#[test]
fn counting_keeps_to_the_window() {
    let facts = record(&["count", "skip=100", "take=60"], "asm/loop");
    assert_eq!((facts.instrs(), facts.stores()), (60, 10));
    let coverage = Coverage {
        recorded: 60,
        skipped: 545,
        regions: 0,
    };
    assert_eq!(facts.coverage, Some(coverage));
}

#[test]
fn a_region_is_recorded_with_its_marks() {
    // Region 4095 lies in region 1, region 0 behind it.
    let cases: [(&str, &[Stretch], u64); 4] = [
        ("region=1", &[(2, 8)], 1),
        ("region=4095", &[(4, 7)], 1),
        ("region=0", &[(10, 12)], 1),
        ("region=any", &[(2, 8), (10, 12)], 3),
    ];
    for (option, stretches, regions) in cases {
        let facts = check_slice("asm/region", &[option], stretches);
        assert_eq!(facts.coverage.unwrap().regions, regions, "{option}");
    }
}

#[test]
fn a_region_that_is_never_entered_is_empty() {
    let facts = check_slice("asm/region", &["region=7"], &[]);
    assert_eq!(facts.coverage.unwrap().regions, 0);
}

#[test]
fn a_region_in_a_window() {
    check_slice("asm/region", &["region=any", "skip=5"], &[(5, 8), (10, 12)]);
    check_slice("asm/region", &["region=1", "take=5"], &[(2, 7)]);
}

#[test]
fn threads_stay_exact() {
    let full = record(&[], "asm/threads4");
    let totals = |facts: &Facts| -> Vec<u64> {
        let order = facts.by_start();
        order.iter().map(|&t| facts.threads[t].total).collect()
    };
    for options in [
        &["skip=50"][..],
        &["skip=20", "take=10", "period=40"],
        &["take=1", "period=2"],
        &["region=any"],
        &["skip=20", "take=10", "period=40", "gap=0"],
    ] {
        let part = record(options, "asm/threads4");
        assert_eq!(totals(&part), totals(&full), "{options:?}");
    }
}

#[test]
fn windows_of_all_threads_add_up() {
    let kv = programs().join("kv");
    let command = [str(&kv), "--threads=4", "--ops=100000", "--keys=4096"];
    let windows = ["skip=20000000", "take=5000000"];
    for more in [&["count"][..], &["count", "gap=0"], &["gap=0"]] {
        let (said, facts) = recorder(&[more, &windows].concat(), &command).run();
        assert!(said.status.success(), "{said:?}");
        // Each thread may have held a portion when the window ended, and runs whole blocks.
        let slack = 4 * (10_000 + 128);
        let recorded = facts.coverage.unwrap().recorded;
        assert!(
            recorded.abs_diff(5_000_000) <= slack,
            "{more:?}: {recorded}"
        );
        assert_eq!(facts.instrs(), recorded, "{more:?}");
    }
}

#[test]
fn the_region_of_a_real_program() {
    let kv = programs().join("kv");
    let command = [str(&kv), "--ops=20000", "--keys=4096"];
    let (_, full) = recorder(&["count"], &command).run();
    let (said, region) = recorder(&["region=1"], &command).run();
    assert!(said.status.success(), "{said:?}");
    let coverage = region.coverage.unwrap();
    assert_eq!(coverage.regions, 1);
    assert_eq!(coverage.recorded, region.instrs());
    assert_eq!(coverage.recorded + coverage.skipped, region.total());
    // Loading the keys is not part of it.
    assert!(region.stores() > 0 && region.stores() < full.stores());
}

#[test]
fn allocations_outside_windows_are_recorded() {
    let kv = programs().join("kv");
    let command = [str(&kv), "--ops=2000", "--keys=256"];
    let allocs = |options: &[&str]| -> u64 {
        let (_, facts) = recorder(options, &command).run();
        facts.threads.iter().map(|t| t.allocs).sum()
    };
    let all = allocs(&["allocations"]);
    assert!(all > 0);
    assert_eq!(allocs(&["allocations", "region=1"]), all);
}

#[test]
fn programs_behave_alike_when_switched_often() {
    let dir = common::scratch();
    let input = dir.path().join("input");
    let text: String = (0..100_000).map(|i| format!("{i}\n")).collect();
    std::fs::write(&input, text).unwrap();
    let often = &["skip=1000", "take=1000", "period=3000"][..];
    // Each change of blocks flushes all code.
    let flushed = &["skip=10000", "take=10000", "period=100000", "gap=0"];
    for options in [often, flushed] {
        if common::found("gzip") {
            same(options, &["gzip", "-c", str(&input)]);
        }
        if common::found("bash") {
            let script = "trap 'echo signal' USR1; kill -USR1 $$; \
                          for i in 1 2 3; do (echo $i); done | sort; kill -USR1 $$; echo end";
            same(options, &["bash", "-c", script]);
        }
    }
}
