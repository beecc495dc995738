//! Recorded, a program has at the beginning of every block that it executes what it has there natively: registers,
//! flags, vectors, and every byte of its memory.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "verify/state.rs"]
mod state;
#[path = "verify/stepper.rs"]
mod stepper;

use std::ops::Range;
use std::path::Path;

use common::{cc, recorder, str};
use object::{Object, ObjectSegment, ObjectSymbol};
use state::{State, states};
use stepper::Stepper;

const BARE: [&str; 6] = [
    "-nostdlib",
    "-ffreestanding",
    "-static",
    "-no-pie",
    "-fno-pic",
    "-fno-stack-protector",
];
/// Sorting and arithmetic, strings and system calls, floating point.
const PARTS: [&str; 3] = ["-DPART=1", "-DPART=2", "-DPART=3"];
const OPTIONS: [&[&str]; 7] = [
    &[],
    &["values"],
    &["count"],
    &["allocations", "skip=1000", "take=3000", "period=7000"],
    &["count", "skip=500", "take=1000", "period=2500"],
    &["skip=5000", "take=3000", "period=50000", "gap=0"],
    &["region=any", "take=2000", "period=3000"],
];

/// The states between the two functions `verified` and `finished` of `program`, with the blocks' instructions.
fn recorded(program: &Path, data: &Range<u64>, options: &[&str]) -> Vec<(State, u64)> {
    let out = tempfile::NamedTempFile::new().unwrap();
    let verify = format!("{},{:x},{:x}", str(out.path()), data.start, data.end);
    let mut recorder = recorder(options, &[str(program)]);
    recorder.command.env("PRESTORE_VERIFY", verify);
    let (said, facts) = recorder.run();
    assert_eq!(facts.status, "exit status: 0", "{said:?}");
    let (from, to) = (symbol(program, "verified"), symbol(program, "finished"));
    let mut all = states(&std::fs::read(out.path()).unwrap());
    let first = all.iter().position(|(s, _)| s.pc == from).unwrap();
    all.drain(..first);
    let last = all.iter().position(|(s, _)| s.pc == to).unwrap();
    all.truncate(last + 1);
    all
}

fn symbol(program: &Path, name: &str) -> u64 {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let found = file.symbols().find(|s| s.name() == Ok(name));
    found.unwrap().address()
}

/// Where the program writes.
fn data(program: &Path) -> Range<u64> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let writable = |s: &object::Segment<'_, '_>| s.permissions().writable();
    let segment = file.segments().find(writable).unwrap();
    segment.address() & !7..(segment.address() + segment.size()) & !7
}

/// Steps through `native` beside a recording of `program`, which is the same but where a test wants to see it fail.
fn compare(native: &Path, program: &Path, options: &[&str]) -> Result<(), String> {
    let data = data(program);
    let states = recorded(program, &data, options);
    assert!(states.len() > 400, "only {} blocks", states.len());
    let stepper = Stepper::start(native, data);
    while stepper.pc() != states[0].0.pc {
        stepper.step();
    }
    for (at, (state, instrs)) in states.iter().enumerate() {
        let natively = stepper.state();
        if natively != *state {
            let before = at.checked_sub(1).map(|b| states[b].0.pc);
            return Err(format!(
                "{options:?}: at {:#x}, block {at} of {}, behind the block at {before:x?}:\n{}",
                natively.pc,
                states.len(),
                natively.difference(state)
            ));
        }
        // The last is the end.
        for _ in 0..if at + 1 < states.len() { *instrs } else { 0 } {
            stepper.step();
        }
    }
    Ok(())
}

fn same(part: &str, level: &[&str], options: &[&str]) {
    let program = cc("verified", &[&BARE[..], &[part], level].concat());
    if let Err(difference) = compare(&program, &program, options) {
        panic!("{part} {level:?} {difference}");
    }
}

#[test]
fn integers() {
    same(PARTS[0], &["-O2"], OPTIONS[0]);
    same(PARTS[0], &["-O2"], OPTIONS[4]);
}

#[test]
fn strings_and_system_calls() {
    same(PARTS[1], &["-O1"], OPTIONS[1]);
    same(PARTS[1], &["-O1"], OPTIONS[3]);
}

#[test]
fn numbers() {
    same(PARTS[2], &["-O3", "-march=native"], OPTIONS[0]);
    same(PARTS[2], &["-O3", "-march=native"], OPTIONS[2]);
}

/// With other input it is another run, from where the input is used.
#[test]
fn differences_are_found() {
    let program = cc("verified", &[&BARE[..], &[PARTS[0], "-O2"]].concat());
    let other = cc(
        "verified",
        &[&BARE[..], &[PARTS[0], "-O2", "-DINPUT=2"]].concat(),
    );
    let difference = compare(&other, &program, &[]).unwrap_err();
    assert!(difference.contains("memory: natively"), "{difference}");
}

/// `make soak`: each at all levels, recorded in all ways.
#[test]
#[ignore = "takes minutes"]
fn soak() {
    let levels: [&[&str]; 5] = [
        &["-O0"],
        &["-O1"],
        &["-O2"],
        &["-O3"],
        &["-O3", "-march=native"],
    ];
    for part in PARTS {
        for level in levels {
            for options in OPTIONS {
                same(part, level, options);
            }
        }
    }
}
