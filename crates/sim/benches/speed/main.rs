//! Accesses a second of a simulation on machine A, and the profile of where the time goes: the same
//! operations with ever more of the simulator behind them, and the differences between those.
//!
//! `cargo bench -p prestore-sim --bench speed`. Reading a recording comes on top:
//! `benches/simulate.py` measures `prestore simulate` as a whole.
#![allow(clippy::unwrap_used)]

mod neighbours;
mod programs;

use std::time::{Duration, Instant};

use prestore_machine::Machine;
use prestore_sim::{
    Core, Hierarchy, Interest, Next, NoMechanism, Plan, Run, Simulation, Source, Time, Uncore,
};

use neighbours::{Caches, Nothing, NullMemory};
use programs::{ALL, Program};

/// Accesses of each run.
const ACCESSES: u64 = 8_000_000;
/// Runs of each stage; the fastest counts.
const RUNS: usize = 3;

const PLAN: Plan = Plan {
    interest: Interest::All,
    warmup: 0,
    quantum: Time(36_000),
    lenient: false,
};

fn main() {
    let machine = Machine::find("machine-a").unwrap();
    println!(
        "{:<28} {:<10} {:>9} {:>12} {:>12}",
        "trace", "behind it", "ns", "added ns", "M acc/s"
    );
    for program in ALL {
        let mut before = 0.0;
        for (stage, time) in [
            ("nothing", fastest(|| drain(program.source()))),
            ("cores", fastest(|| with(&machine, program, Nothing))),
            (
                "caches",
                fastest(|| with(&machine, program, caches(&machine))),
            ),
            ("memories", fastest(|| whole(&machine, program))),
        ] {
            let ns = time.as_secs_f64() * 1e9 / ACCESSES as f64;
            let added = ns - before;
            let rate = 1e3 / ns;
            println!(
                "{:<28} {stage:<10} {ns:>9.1} {added:>12.1} {rate:>12.1}",
                program.name
            );
            before = ns;
        }
    }
}

fn fastest(mut run: impl FnMut()) -> Duration {
    let times = (0..RUNS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Only makes the operations.
fn drain(mut source: impl Source) {
    let mut ops = Vec::new();
    for thread in 0..source.threads() {
        loop {
            ops.clear();
            match source.fill(thread, &mut ops) {
                Ok(Next::More) => drop(std::hint::black_box(&ops)),
                _ => break,
            }
        }
    }
}

fn caches(machine: &Machine) -> Caches {
    Caches(Hierarchy::new(machine, NullMemory, 1).unwrap())
}

fn with<U: Uncore>(machine: &Machine, program: &Program, uncore: U) {
    let mut source = program.source();
    let cores = (0..source.threads()).map(|id| Core::new(id, machine));
    let finished = Run::new(&mut source, &mut NoMechanism, cores, uncore, PLAN).finish();
    std::hint::black_box(finished.is_ok());
}

fn whole(machine: &Machine, program: &Program) {
    let results = Simulation::new(machine).run(&mut program.source(), &mut NoMechanism);
    std::hint::black_box(results.is_ok());
}
