//! Random blocks of instructions do the same recorded as natively, whatever is recorded of them.
//!
//! A failure prints what to give `Case` for it, and the block with what it needs to fail alone.

#![allow(clippy::unwrap_used, clippy::panic)]

mod blocks;
mod common;

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::available_parallelism;

use blocks::{Case, Features, Level, Plan, check};
use common::soak_number;

/// Blocks in a program.
const BLOCKS: u64 = 250;
/// What failures of a soak are looked at before it ends.
const ENOUGH: u64 = 20;

/// The programs' number `program`, recorded with `options`; vectors of every width in turn.
fn case(options: &[&str], seed: u64, program: u64) -> Case {
    let levels = [Level::Avx512, Level::Avx, Level::Sse, Level::Avx512];
    let level = levels[program as usize % levels.len()];
    Case {
        seed,
        first: program * BLOCKS,
        blocks: BLOCKS,
        level: widest(level),
        plan: Plan {
            // Hot code is translated again, in traces.
            rounds: if program % 5 == 4 { 60 } else { 3 },
            tick: if program % 3 == 2 { 400 } else { 0 },
        },
        options: options.iter().map(|&o| o.into()).collect(),
    }
}

fn blocks_with(options: &[&str], seed: u64, programs: u64) {
    for program in 0..programs {
        if let Err(failure) = check(&case(options, seed, program)) {
            panic!("{failure}");
        }
    }
}

/// The widest vectors up to `level` that there are.
fn widest(level: Level) -> Level {
    let all = [Level::Avx512, Level::Avx, Level::Sse];
    let found = all
        .into_iter()
        .filter(|l| *l <= level)
        .find(|l| Features::at(*l).is_some());
    if found != Some(level) {
        eprintln!("SKIPPED: this processor has no {level:?}");
    }
    found.unwrap_or(Level::Sse)
}

const ALL: &[&str] = &[];
const VALUES: &[&str] = &["values"];
const ALLOCATIONS: &[&str] = &["allocations"];
const COUNT: &[&str] = &["count"];
const WINDOWS: &[&str] = &["allocations", "skip=1000", "take=3000", "period=7000"];
const COUNT_WINDOWS: &[&str] = &["count", "skip=500", "take=1000", "period=2500"];
const REGIONS: &[&str] = &["values", "region=1"];
const REGIONS_AND_WINDOWS: &[&str] = &["region=any", "take=2000", "period=3000"];

#[test]
fn everything_recorded() {
    blocks_with(ALL, 1, 8);
}

#[test]
fn values_recorded() {
    blocks_with(VALUES, 2, 8);
}

#[test]
fn allocations_recorded() {
    blocks_with(ALLOCATIONS, 3, 4);
}

#[test]
fn counted() {
    blocks_with(COUNT, 4, 6);
}

#[test]
fn recorded_in_windows() {
    blocks_with(WINDOWS, 5, 5);
}

#[test]
fn counted_in_windows() {
    blocks_with(COUNT_WINDOWS, 6, 3);
}

#[test]
fn recorded_in_regions() {
    blocks_with(REGIONS, 7, 4);
}

#[test]
fn recorded_in_regions_and_windows() {
    blocks_with(REGIONS_AND_WINDOWS, 8, 2);
}

/// `make soak`: a million blocks, or `PRESTORE_SOAK_BLOCKS`; from `PRESTORE_SOAK_SEED`, or 1000.
#[test]
#[ignore = "takes hours"]
fn soak() {
    let programs = soak_number("PRESTORE_SOAK_BLOCKS", 1_000_000).div_ceil(BLOCKS);
    let seed = soak_number("PRESTORE_SOAK_SEED", 1000);
    let all = [
        ALL,
        VALUES,
        ALLOCATIONS,
        COUNT,
        WINDOWS,
        COUNT_WINDOWS,
        REGIONS,
        REGIONS_AND_WINDOWS,
    ];
    let (next, failures) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        while failures.load(SeqCst) < ENOUGH {
            let program = next.fetch_add(1, SeqCst);
            if program >= programs {
                return;
            }
            let options = all[program as usize % all.len()];
            let case = case(options, seed + program, program / all.len() as u64);
            // One that hangs ends the test.
            eprintln!("{program}: {case:?}");
            if let Err(failure) = check(&case) {
                eprintln!("{failure}");
                failures.fetch_add(1, SeqCst);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
        work();
    });
    let (tried, failures) = (next.into_inner().min(programs), failures.into_inner());
    assert_eq!(failures, 0, "of {tried} programs");
}
