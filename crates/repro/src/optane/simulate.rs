//! A point of the sweep on a simulated machine.

use prestore_machine::device::Device;
use prestore_machine::{Machine, Machines, Scope};
use prestore_sim::{Interest, NoMechanism, Results, Simulation};
use serde::Serialize;

use super::figure::Quantity;
use super::point::{Operation, Point, Task, Work};
use super::stimulus::{Stimulus, ops_per_line};
use super::timed::{TIMED, accesses_of_round, halves, ops_of_halves, timed};
use crate::error::ReproError;

/// What a simulation of a point gives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Simulated {
    /// Bytes accessed, 10^6 a second.
    pub throughput_mb_s: f64,
    /// Effective write ratio; `None`: nothing was written to memory.
    pub ewr: Option<f64>,
}

/// The machine of OptaneStudy with `dimms` interleaved DIMMs.
///
/// # Errors
/// The machine's file is wrong, or there are no DIMMs.
pub fn machine(dimms: u32, settings: &[&str]) -> Result<Machine, ReproError> {
    let channels = format!("memories.pmem.channels={dimms}");
    let capacity = format!("memories.pmem.capacity={} GiB", 256 * u64::from(dimms));
    let mut all = vec![channels.as_str(), capacity.as_str()];
    all.extend(settings);
    let machines = Machines::shipped();
    Ok(machines.describe("fast20-1dimm", &all)?.into_machine())
}

/// Lines measured at least.
const MEASURED: u64 = 16_000;
/// The same, of each thread.
const MEASURED_PER_THREAD: u64 = 2_000;
/// The same, of accesses that stay in the caches.
const CACHED: u64 = 400_000;
/// The same, of stores that reach memory only by eviction.
const EVICTIONS: u64 = 60_000;

/// Stores to one line of which so many are measured at most, where accesses are longer than their stride.
const REWRITES: u64 = 16;

/// How long a run is, in lines.
struct Length {
    /// In all.
    lines: u64,
    /// Of them, those that fill the caches, each line once.
    filling: u64,
    /// Of all, those before anything is measured.
    warmup: u64,
}

fn length(machine: &Machine, work: &Work) -> Length {
    let threads = u64::from(work.threads);
    let measured_after = |warmup, measured| Length {
        lines: warmup + measured,
        filling: 0,
        warmup,
    };
    if work.same_place() && !work.writes_memory() {
        return measured_after(CACHED, CACHED);
    }
    if work.operation != Operation::Store {
        let measured = MEASURED.max(MEASURED_PER_THREAD * threads);
        return measured_after(measured / 2, measured);
    }
    // Cached stores reach the memory when the caches are full of them. Sets fill unevenly: with half as many again, random
    // stores still left a tenth of themselves there.
    let cached = machine.caches.iter().map(|level| match level.scope {
        Scope::Private => level.size.0 * threads,
        Scope::Shared => level.size.0,
    });
    let lines = cached.sum::<u64>() / machine.line.0;
    let filling = 2 * lines;
    // An access or two that are longer than those that filled the caches.
    let settling = 2 * threads * work.access_size / machine.line.0;
    let rewrites = (work.access_size / work.stride_size.max(1)).clamp(1, REWRITES);
    let (warmup, measured) = match work.task_type {
        Task::Stride if rewrites > 1 => (filling + settling, EVICTIONS * rewrites),
        _ => (filling, EVICTIONS),
    };
    Length {
        filling,
        ..measured_after(warmup, measured)
    }
}

/// Simulates what was run at `point` on `machine`, from the state it says.
///
/// # Errors
/// The simulation failed; more threads than cores, say.
pub fn simulate(machine: &Machine, point: &Point, seed: u64) -> Result<Simulated, ReproError> {
    run(machine, &point.work, point.whole_units, seed)
}

fn run(
    machine: &Machine,
    work: &Work,
    whole_units: u32,
    seed: u64,
) -> Result<Simulated, ReproError> {
    let Length {
        lines,
        filling,
        warmup,
    } = length(machine, work);
    let mut stimulus = Stimulus::new(*work, lines, seed)
        .touch_once(filling)
        .whole_units(whole_units);
    let results = Simulation::new(machine)
        .seed(seed)
        .warmup(warmup * ops_per_line(work.operation))
        .run(&mut stimulus, &mut NoMechanism)
        .map_err(|error| ReproError::Simulation {
            what: work.to_string(),
            error: Box::new(error),
        })?;
    let bytes = (lines - warmup) as f64 * machine.line.0 as f64;
    // What the DIMM's counters see: not what the controller merged.
    let written: u64 = results.memories.iter().map(|m| m.device_write_bytes).sum();
    Ok(Simulated {
        throughput_mb_s: bytes / results.seconds / 1e6,
        ewr: (work.writes_memory() && written > 0)
            .then(|| written as f64 / to_media(machine, &results)),
    })
}

/// Accesses that are timed at least.
const TIMES: u64 = 500;
/// What the timing of the batched flushes costs, in ns: the same ntstore and fence take 90 ns in the
/// data set's idle latencies and 125 ns there. Calibrated on half A of the flush latencies.
const TIMING: f64 = 40.0;

/// Simulates a point of a figure; answers in its quantity's unit.
///
/// # Errors
/// The simulation failed; more threads than cores, say.
pub fn simulate_figure(
    machine: &Machine,
    quantity: &Quantity,
    seed: u64,
) -> Result<f64, ReproError> {
    let failed = |error| ReproError::Simulation {
        what: format!("{quantity:?}"),
        error: Box::new(error),
    };
    let simulation = Simulation::new(machine).seed(seed);
    match *quantity {
        Quantity::Bandwidth(work) => Ok(run(machine, &work, 0, seed)?.throughput_mb_s / 1e3),
        Quantity::Latency(what) => {
            let results = simulation
                .interest(Interest::Region(TIMED))
                .run(&mut timed(what, TIMES, seed), &mut NoMechanism)
                .map_err(failed)?;
            let times = TIMES.next_multiple_of(accesses_of_round(what));
            let timing = if what.batched { TIMING } else { 0.0 };
            Ok(results.seconds * 1e9 / times as f64 + timing)
        }
        Quantity::Amplification { region } => {
            let lines = region / machine.line.0;
            let rounds = 2 + (2 * MEASURED).div_ceil(lines);
            let warmup = rounds / 2;
            let results = simulation
                .warmup(warmup * ops_of_halves(region))
                .run(&mut halves(region, rounds), &mut NoMechanism)
                .map_err(failed)?;
            let written = (rounds - warmup) * region;
            Ok(to_media(machine, &results) / written as f64)
        }
    }
}

/// Bytes that the DIMMs' counters see on their way to the media.
fn to_media(machine: &Machine, results: &Results) -> f64 {
    let background: f64 = machine.memories.iter().map(background_rate).sum();
    results.media_write_bytes as f64 + background * results.seconds
}

/// Bytes a second that a memory's DIMMs write to their media all by themselves: the counters that
/// OptaneStudy read have them.
fn background_rate(memory: &prestore_machine::Memory) -> f64 {
    match &memory.device {
        Device::Optane(dimm) => dimm.background_write.0 * 1e9 * f64::from(memory.channels),
        _ => 0.0,
    }
}
