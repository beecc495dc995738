//! The order in which things are measured.

use std::path::Path;

use prestore::{Op, query};

use crate::buffer::Buffer;
use crate::calibration::{Calibration, SCHEMA_VERSION};
use crate::chase::{self, Ring};
use crate::figure::number;
use crate::window::{Filler, capacity};
use crate::{
    CalibrateError, Effort, Figure, bandwidth, caches, clock, fences, flushes, forwarding,
    latencies, non_temporal, pin, sharing, stores, strings,
};

/// A cache of which less than this part is seen is shared with neighbours.
pub(crate) const FAR_LESS: u64 = 4;
/// Least and most memory of a thread in bandwidth measurements.
const THREAD_BYTES: (usize, usize) = (32 << 20, 128 << 20);

/// Measures this host. `progress` is told what comes next; `cpu` is the CPU's name, for the record.
///
/// # Errors
/// [`CalibrateError::NoCaches`], [`CalibrateError::Memory`].
pub fn calibrate(
    effort: Effort,
    cpu: String,
    mut progress: impl FnMut(&str),
) -> Result<Calibration, CalibrateError> {
    let caches = caches::read(Path::new(caches::FOLDER))?;
    let cpus = pin::cpus();
    let last_level = caches.last().map_or(0, |cache| cache.size) as usize;

    progress("the core");
    let core = clock::core(effort)?;
    let counter = clock::counter(effort);
    progress("fences and atomics");
    let (fence, store_fence) = (fences::full(effort), fences::stores(effort));
    let atomic = fences::atomic(effort);
    progress("store buffer and reorder buffer");
    let store_buffer = capacity(Filler::Stores, effort);
    let reorder_buffer = capacity(Filler::Nops, effort);

    progress("latencies");
    let memory = Buffer::new(effort.memory_bytes(last_level))?;
    let by_size = chase::by_size(&memory, effort, memory.size());
    let mut latencies = latencies::levels(&memory, effort, &caches);
    let ring = Ring::new(&memory, memory.size());
    let memory_latency = Figure::of(
        &ring.latency(effort),
        "ns",
        format!("pointer chase through {} MiB", memory.size() >> 20),
    );
    latencies::see_sizes(&mut latencies, memory_latency.as_ref(), &by_size);
    progress("misses at once");
    let parallel = chase::by_parallelism(&ring, effort);
    progress("stores to memory");
    let missing = stores::missing(effort, &memory);
    let forwarded_miss = forwarding::of_misses(effort, &memory);
    let merged = forwarding::of_several(effort)?;
    progress("string instructions");
    let strings = strings::stores(effort, &memory);
    progress("non-temporal stores");
    let non_temporal_hit = non_temporal::of_cached(effort)?;
    let non_temporal_behind = non_temporal::behind_misses(effort, &memory);
    let non_temporal_fenced = non_temporal::fenced(effort, &memory);
    let non_temporal_beside = non_temporal::beside_loads(effort, &memory);
    progress("fences after stores");
    let pending = fences::by_pending(effort, &memory);
    let missing_atomics = fences::missing_atomics(effort, &memory);

    progress("flushes");
    let flush_costs = flushes::costs(effort)?;
    let clean = flushes::clwb(effort, latencies::private_and_shared(&caches, &latencies))?;
    let demote = query(Op::Demote);
    let demotions = flushes::demotions(effort)?;
    progress("sharing between cores");
    let one_way = sharing::one_way(effort, &cpus);
    let read_written = sharing::read_of_written(effort, &cpus, None)?;
    let read_demoted = sharing::read_of_written(effort, &cpus, Some(Op::Demote))?;
    let read_cleaned = sharing::read_of_written(effort, &cpus, Some(Op::Clean))?;

    progress("bandwidth");
    let non_temporal = bandwidth::non_temporal_by_size(effort, &memory);
    drop(memory);
    let bytes = (2 * last_level).clamp(THREAD_BYTES.0, THREAD_BYTES.1);
    let mut curves = vec![by_size, parallel, missing, pending, non_temporal];
    curves.extend(bandwidth::by_threads(effort, &cpus, bytes)?);

    // Only a clock that stands still gives no figure.
    let (Some(core), Some(fence), Some(store_fence), Some(atomic), Some(memory_latency)) =
        (core, fence, store_fence, atomic, memory_latency)
    else {
        return Err(CalibrateError::NoClock);
    };
    let ghz = core.clock.value();
    let Some(stores_per_cycle) = stores::a_cycle(effort, ghz)? else {
        return Err(CalibrateError::NoClock);
    };
    let mut calibration = Calibration {
        schema_version: SCHEMA_VERSION,
        cpu,
        cpus: cpus.len(),
        architecture: std::env::consts::ARCH,
        fill_buffers: chase::parallelism(&curves[1]),
        store_lines: stores::lines_at_once(&curves[2], &memory_latency),
        stores_ahead: stores::ahead(&curves[2], &memory_latency),
        clock: core.clock,
        counter,
        width: core.width,
        loads_per_cycle: core.loads,
        stores_per_cycle,
        missing_atomics,
        demotions,
        forwarded_miss,
        merged,
        non_temporal_hit,
        non_temporal_behind,
        non_temporal_fenced,
        non_temporal_beside,
        strings,
        reorder_buffer,
        store_buffer,
        fence,
        store_fence,
        atomic,
        latencies,
        memory_latency,
        flushes: flush_costs,
        clean,
        demote: demote.instruction.name().to_owned(),
        demote_active: demote.active,
        one_way,
        read_written,
        read_demoted: read_demoted.filter(|_| demote.active),
        read_cleaned: read_cleaned.filter(|_| query(Op::Clean).active),
        curves,
        caches,
        warnings: Vec::new(),
    };
    calibration.warnings = warnings(&calibration);
    Ok(calibration)
}

fn warnings(calibration: &Calibration) -> Vec<String> {
    let mut warnings = Vec::new();
    for (name, figure) in calibration.figures() {
        if !figure.stable {
            warnings.push(format!(
                "{name} is not stable: its quartiles are {:.0}% of the median apart",
                figure.summary.spread() * 100.0
            ));
        }
    }
    for (cache, latency) in calibration.caches.iter().zip(&calibration.latencies) {
        if let Some(seen) = latency.seen_bytes
            && seen < cache.size / FAR_LESS
        {
            warnings.push(format!(
                "{} has {} KiB by the system, but only some {} KiB behave like it: neighbours may use the rest",
                latency.level,
                cache.size >> 10,
                seen >> 10
            ));
        }
    }
    for (level, instead) in calibration.latencies.iter().zip(calibration.in_order()) {
        if let Some(instead) = instead {
            warnings.push(format!(
                "{} takes as long as what is farther, {} ns: others use the same core, so {} ns are assumed",
                level.level,
                number(level.figure.value()),
                number(instead)
            ));
        }
    }
    if calibration.cpus == 1 {
        warnings.push("one CPU only: costs between cores are assumed".into());
    }
    warnings
}
