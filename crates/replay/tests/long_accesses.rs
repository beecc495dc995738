//! Samples of programs with few, long string instructions.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{LOAD, Process, STORE, copy_block, exec, recording, special_block};
use prestore_machine::Machines;
use prestore_replay::{Replay, Sample};
use prestore_sim::{Estimate, NoMechanism, Simulation};

const COPY: u32 = 66;

/// Code of `rep` in block logs.
const REP: u8 = 1;

const LOADS: u32 = 64;
const STRING: u32 = 65;

/// Six strings of 1 MiB, each behind 80,000 loads.
fn process() -> Process {
    let mut words = Vec::new();
    for round in 0..6 {
        for i in 0..20_000 {
            let at = 0x1_0000 + 64 * (i % 8);
            words.extend(exec(LOADS, &[at, at + 8, at + 16, at + 24]));
        }
        words.extend(exec(STRING, &[0x100_0000 + (round << 20), 1 << 20]));
    }
    let loads = [(LOAD, 0), (LOAD, 1), (LOAD, 2), (LOAD, 3)];
    let mut process = Process::new(&[(LOADS, 4, &loads)], vec![words]);
    process
        .blocks
        .extend(special_block(STRING, 2, &[(STORE, REP, 1, 0, 1, 0)]));
    process
}

/// Much of the time is that of six instructions, which units of a number of instructions or accesses hardly ever meet.
#[test]
fn intervals_hold_the_time_of_long_strings() {
    let (_dir, trace) = recording(&[process()]);
    let machine = Machines::shipped().describe("tiny", &[]).unwrap();
    let machine = machine.into_machine();
    let replay = || Replay::new(&trace, Simulation::new(&machine));
    let truth = replay().run(&mut NoMechanism).unwrap().cycles as f64;
    let estimates = (1..=40).map(|seed| {
        let sample = Sample {
            units: 30,
            length: 2000,
            detail: 1000,
            warm: Some(Some(5000)),
            seed,
        };
        let results = replay().sampled(&sample, &mut [NoMechanism]).unwrap();
        results.sampled.unwrap().cycles
    });
    let estimates: Vec<Estimate> = estimates.collect();
    let held = estimates
        .iter()
        .filter(|e| (e.least..=e.most).contains(&truth))
        .count();
    let widest = estimates.iter().map(|e| e.percent()).fold(0.0, f64::max);
    let mean = estimates.iter().map(|e| e.value).sum::<f64>() / 40.0;
    let off = 100.0 * (mean / truth - 1.0);
    assert!(
        held >= 38 && widest < 100.0 && off.abs() < 5.0,
        "{held} of 40, ± {widest} %, {off} %"
    );
}

/// A copy of 4 MiB, in instructions of `each` bytes.
fn copy(each: u64) -> Process {
    let (from, to, bytes) = (0x100_0000, 0x800_0000, 4 << 20);
    let pieces = (0..bytes / each).map(|i| exec(COPY, &[from + i * each, to + i * each, each]));
    let mut process = Process::new(&[], vec![pieces.collect::<Vec<_>>().concat()]);
    process.blocks.extend(copy_block(COPY));
    process
}

#[test]
fn a_copy_takes_the_same_time_however_it_is_cut() {
    for name in ["machine-a", "grace", "machine-b-fast", "tiny"] {
        let machine = Machines::shipped().describe(name, &[]).unwrap();
        let machine = machine.into_machine();
        let cycles = |each| {
            let (_dir, trace) = recording(&[copy(each)]);
            let run = Replay::new(&trace, Simulation::new(&machine)).run(&mut NoMechanism);
            run.unwrap().cycles as f64
        };
        let whole = cycles(4 << 20);
        for each in [256 << 10, 32 << 10, 4 << 10, 1 << 10] {
            let ratio = cycles(each) / whole;
            assert!((0.98..=1.02).contains(&ratio), "{name}, {each} B: {ratio}");
        }
    }
}
