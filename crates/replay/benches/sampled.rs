//! How much faster a sample is than the whole, and how right.
//!
//! `PRESTORE_BENCH_TRACE=DIR cargo bench -p prestore-replay --bench sampled` simulates a recording whole, then samples of
//! it with `PRESTORE_BENCH_SEEDS` (5) seeds; without a recording there is nothing to measure. `PRESTORE_BENCH_MACHINE`:
//! the machine (machine-a). `PRESTORE_BENCH_UNITS`, `_RUNS` (1), `_LENGTH`, `_DETAIL` and `_WARM` (`all`: all that lies between) are
//! `--sample-units` and so on.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use prestore_machine::Machine;
use prestore_replay::{HandOffs, Options, Replay, Sample};
use prestore_sim::{NoMechanism, Results, Simulation};
use prestore_trace::container::Trace;

fn main() {
    let Some(dir) = set::<PathBuf>("TRACE") else {
        println!("no PRESTORE_BENCH_TRACE: nothing to read");
        return;
    };
    let machine = set::<String>("MACHINE").unwrap_or_else(|| "machine-a".into());
    let machine = Machine::find(&machine).unwrap();
    let trace = Trace::open(&dir).unwrap();
    let options = Options::default();
    let start = Instant::now();
    let hand_offs = Arc::new(HandOffs::infer(&trace, &options).unwrap());
    println!("hand-offs {:?}", start.elapsed());
    let replay = || {
        let simulation = Simulation::new(&machine);
        Replay::new(&trace, simulation).hand_offs(Arc::clone(&hand_offs))
    };
    let start = Instant::now();
    let full: Results = match set::<u64>("TRUTH") {
        None => replay().run(&mut NoMechanism).unwrap(),
        Some(_) => {
            let units = Sample {
                units: 1,
                ..sample(1)
            };
            replay().sampled(&units, &mut [NoMechanism]).unwrap()
        }
    };
    let whole = start.elapsed();
    let truth = set::<u64>("TRUTH").unwrap_or(full.cycles) as f64;
    println!(
        "whole: {whole:?}, {truth} cycles, {} accesses",
        full.accesses
    );
    let mut runs = vec![NoMechanism; set::<usize>("RUNS").unwrap_or(1)];
    let seeds = set::<u64>("SEEDS").unwrap_or(5);
    let (mut held, mut off) = (0, 0.0);
    for seed in 1..=seeds {
        let start = Instant::now();
        let results = replay().sampled(&sample(seed), &mut runs).unwrap();
        let took = start.elapsed();
        let Some(sampled) = results.sampled else {
            println!("simulated whole: {:?}", results.notes);
            return;
        };
        let e = sampled.cycles;
        let inside = (e.least..=e.most).contains(&truth);
        held += u64::from(inside);
        let error = 100.0 * (e.value / truth - 1.0);
        off += error / seeds as f64;
        println!(
            "seed {seed}: {took:?}, {:.1}x, {error:+.2} %, says ± {:.2} %{}, {} units, {} cut, {} M warmed",
            whole.as_secs_f64() / took.as_secs_f64(),
            e.percent(),
            if inside { "" } else { ", OUTSIDE" },
            sampled.units,
            sampled.cut,
            sampled.warmed / 1_000_000
        );
    }
    println!("{held} of {seeds} intervals hold the whole's time; in the mean {off:+.2} % off");
}

fn sample(seed: u64) -> Sample {
    let warm = set::<String>("WARM");
    Sample {
        units: set("UNITS").unwrap_or(Sample::DEFAULT.units),
        length: set("LENGTH").unwrap_or(Sample::DEFAULT.length),
        detail: set("DETAIL").unwrap_or(Sample::DEFAULT.detail),
        warm: warm.map(|w| w.parse().ok()),
        seed,
    }
}

/// What the environment says.
fn set<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(format!("PRESTORE_BENCH_{name}"))
        .ok()?
        .parse()
        .ok()
}
