//! What a calibration found: the JSON output.

use serde::Serialize;

use crate::assumptions::NEARER;
use crate::curve::Curve;
use crate::latencies::APART;
use crate::{Beside, CacheInfo, Figure, StringStores};

/// Version of the JSON output; changes when a key changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// A host, measured.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The CPU's name.
    pub cpu: String,
    /// CPUs that were measured on.
    pub cpus: usize,
    /// The architecture.
    pub architecture: &'static str,
    /// The caches, nearest first.
    pub caches: Vec<CacheInfo>,
    /// The core's clock while measuring.
    pub clock: Figure,
    /// The time-stamp counter's rate.
    pub counter: Option<Figure>,
    /// Instructions a cycle.
    pub width: Figure,
    /// Loads a cycle from L1.
    pub loads_per_cycle: Figure,
    /// Stores a cycle to L1.
    pub stores_per_cycle: Figure,
    /// Instructions held at once.
    pub reorder_buffer: Option<Figure>,
    /// Stores held at once.
    pub store_buffer: Option<Figure>,
    /// Misses under way at once.
    pub fill_buffers: Option<Figure>,
    /// Lines that stores fetch at once.
    pub store_lines: Option<Figure>,
    /// Stores that fetch their lines ahead of their turn.
    pub stores_ahead: Option<Figure>,
    /// A store to a line in no cache and a load of it: a miss, unless such a store is forwarded.
    pub forwarded_miss: Option<Figure>,
    /// Atomics whose lines are in no cache.
    pub missing_atomics: Option<Figure>,
    /// Demotions of dirty lines; none where there are none.
    pub demotions: Option<Figure>,
    /// Two stores and a load of what both stored.
    pub merged: Option<Figure>,
    /// Load of a line after a non-temporal store to it in the nearest cache.
    pub non_temporal_hit: Option<Figure>,
    /// Two misses, and behind them a non-temporal store to a third line and its load.
    pub non_temporal_behind: Option<Figure>,
    /// A non-temporal store and a store fence.
    pub non_temporal_fenced: Option<Figure>,
    /// Loads that miss and non-temporal stores, apart and together.
    pub non_temporal_beside: Option<Beside>,
    /// String instructions; none where there are none.
    pub strings: Option<StringStores>,
    /// A full fence with nothing pending.
    pub fence: Figure,
    /// A store fence with nothing pending.
    pub store_fence: Figure,
    /// An atomic operation with nothing pending.
    pub atomic: Figure,
    /// Load-to-use latency of each cache, in the order of `caches`.
    pub latencies: Vec<LevelLatency>,
    /// Load-to-use latency of memory.
    pub memory_latency: Figure,
    /// Cost of flushing a line, by instruction and state.
    pub flushes: Vec<FlushCost>,
    /// What the cleaning instruction does; none where there is none.
    pub clean: Option<Clwb>,
    /// The demoting instruction's name, and whether it does anything.
    pub demote: String,
    /// It does.
    pub demote_active: bool,
    /// From a store to another core's sight of it; none with one CPU.
    pub one_way: Option<Figure>,
    /// Reading a line that another core has just written.
    pub read_written: Option<Figure>,
    /// The same after it demoted the line.
    pub read_demoted: Option<Figure>,
    /// The same after it cleaned the line.
    pub read_cleaned: Option<Figure>,
    /// Figures that depend on something.
    pub curves: Vec<Curve>,
    /// What to mind when using the figures.
    pub warnings: Vec<String>,
}

/// Latency of a level.
#[derive(Clone, Debug, Serialize)]
pub struct LevelLatency {
    /// `L1D`, `L2`, `L3`.
    pub level: String,
    /// Load-to-use.
    pub figure: Figure,
    /// Bytes up to which pointer chases are as fast as this level: what this host gives of the cache.
    pub seen_bytes: Option<u64>,
}

/// What the caches hold of a line before it is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineState {
    /// Written.
    Dirty,
    /// There, and as in memory.
    Clean,
    /// Nothing.
    Absent,
}

impl LineState {
    pub(crate) const ALL: [LineState; 3] = [LineState::Dirty, LineState::Clean, LineState::Absent];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            LineState::Dirty => "dirty",
            LineState::Clean => "clean",
            LineState::Absent => "absent",
        }
    }
}

/// Cost of a flushing instruction.
#[derive(Clone, Debug, Serialize)]
pub struct FlushCost {
    /// Its name.
    pub instruction: &'static str,
    /// Of lines in this state.
    pub state: LineState,
    /// A line, where many are flushed and waited for.
    pub figure: Figure,
}

/// The cleaning instruction.
#[derive(Clone, Debug, Serialize)]
pub struct Clwb {
    /// Its name.
    pub instruction: &'static str,
    /// One after the other, of clean lines.
    pub issue: Figure,
    /// A store, the instruction and a store fence, one after the other: the way to memory's controller and back.
    pub write_back: Figure,
    /// Load of a dirty line, for comparison.
    pub load_dirty: Figure,
    /// Load of a line after it was cleaned.
    pub load_cleaned: Figure,
    /// Load of a line after it was flushed out, for comparison; none where nothing does.
    pub load_absent: Option<Figure>,
    /// A dirty line, where many are cleaned and all waited for.
    pub line: Figure,
    /// The line stays cached where it was; none where there is nothing to compare with.
    pub retains: Option<bool>,
    /// Where the line stays; none where there is nothing to compare with.
    pub stays: Option<Stays>,
}

/// Where a cleaned line stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stays {
    /// Where it was.
    Where,
    /// In the shared cache.
    Shared,
    /// In no cache.
    Nowhere,
}

/// What the curve of fences is over.
pub(crate) const FENCED: &str = "stores pending";

impl Calibration {
    /// Every single figure with a name.
    pub fn figures(&self) -> Vec<(String, &Figure)> {
        let mut all: Vec<(String, &Figure)> = Vec::new();
        let named = [
            ("clock", Some(&self.clock)),
            ("time-stamp counter", self.counter.as_ref()),
            ("instructions a cycle", Some(&self.width)),
            ("loads a cycle", Some(&self.loads_per_cycle)),
            ("stores a cycle", Some(&self.stores_per_cycle)),
            ("reorder buffer", self.reorder_buffer.as_ref()),
            ("store buffer", self.store_buffer.as_ref()),
            ("misses at once", self.fill_buffers.as_ref()),
            ("lines stored to at once", self.store_lines.as_ref()),
            ("stores ahead", self.stores_ahead.as_ref()),
            ("store and load, missing", self.forwarded_miss.as_ref()),
            ("atomics, missing", self.missing_atomics.as_ref()),
            ("two stores, one load", self.merged.as_ref()),
            ("load after nt, cached", self.non_temporal_hit.as_ref()),
            ("load after nt, behind", self.non_temporal_behind.as_ref()),
            ("nt and store fence", self.non_temporal_fenced.as_ref()),
            ("full fence", Some(&self.fence)),
            ("store fence", Some(&self.store_fence)),
            ("atomic", Some(&self.atomic)),
            ("store to other core", self.one_way.as_ref()),
            ("read of written", self.read_written.as_ref()),
            ("read of demoted", self.read_demoted.as_ref()),
            ("read of cleaned", self.read_cleaned.as_ref()),
            ("demotions", self.demotions.as_ref()),
            ("load, memory", Some(&self.memory_latency)),
        ];
        for (name, figure) in named {
            all.extend(figure.map(|figure| (name.to_owned(), figure)));
        }
        for latency in &self.latencies {
            all.push((format!("load, {}", latency.level), &latency.figure));
        }
        for flush in &self.flushes {
            all.push((
                format!("{}, {}", flush.instruction, flush.state.name()),
                &flush.figure,
            ));
        }
        if let Some(clean) = &self.clean {
            all.push((format!("{} alone", clean.instruction), &clean.issue));
            all.push((format!("{} of many", clean.instruction), &clean.line));
            all.push((
                format!("load after {}", clean.instruction),
                &clean.load_cleaned,
            ));
        }
        if let Some(strings) = &self.strings {
            all.push(("4 KiB, rep stosb".into(), &strings.piece));
            all.push(("4 KiB, stores".into(), &strings.piece_by_stores));
            let cleaned = strings.cleaned.iter().chain(&strings.cleaned_by_stores);
            let names = ["256 B, rep stosb, clean", "256 B, stores, clean"];
            all.extend(names.map(String::from).into_iter().zip(cleaned));
        }
        all
    }

    /// Latencies, in nanoseconds, to be assumed of caches that came out no faster than the next ones, in the order of
    /// `latencies`; none for those to be believed. Disturbance only adds, so that the farther ones are.
    pub fn in_order(&self) -> Vec<Option<f64>> {
        let mut farther = f64::INFINITY;
        let mut all: Vec<Option<f64>> = Vec::new();
        for latency in self.latencies.iter().rev() {
            let measured = latency.figure.value();
            let instead = (measured > farther * APART).then_some(farther * NEARER.0);
            farther = instead.unwrap_or(measured);
            all.push(instead);
        }
        all.reverse();
        all
    }

    /// A store that a load finds in the store buffer is forwarded even where its line is in no cache. Such pairs come
    /// as fast as stores alone leave; if each waited for its line, they would take memory's latency.
    pub fn forwards_misses(&self) -> bool {
        let pair = self.forwarded_miss.as_ref();
        pair.is_none_or(|pair| pair.value() < self.memory_latency.value() / 2.0)
    }

    /// How long a full fence waits for one store whose line is in no cache.
    pub fn fence_after_miss(&self) -> Option<f64> {
        let mut curves = self.curves.iter();
        let fences = curves.find(|curve| curve.over == FENCED)?;
        Some(fences.median(1)? - fences.median(0)?)
    }

    /// A store is visible once its line is granted: a fence waits for the directory, which is at the last cache, and
    /// not for memory.
    pub fn stores_leave_when_granted(&self) -> Option<bool> {
        let directory = self.latencies.last()?.figure.value();
        let between = f64::midpoint(directory, self.memory_latency.value());
        Some(self.fence_after_miss()? < between)
    }

    /// Atomics do not wait for each other's lines.
    pub fn atomics_overlap(&self) -> Option<bool> {
        let one = self.missing_atomics.as_ref()?.value();
        Some(one < self.memory_latency.value() / 2.0)
    }

    /// Non-temporal stores that find their line in the nearest cache are written there, and loads that come before
    /// they leave the core fetch their line.
    pub fn non_temporal_hits_stay(&self) -> bool {
        let (Some(nearest), Some(hit), Some(behind)) = (
            self.latencies.first(),
            &self.non_temporal_hit,
            &self.non_temporal_behind,
        ) else {
            return false;
        };
        let (cache, memory) = (nearest.figure.value(), self.memory_latency.value());
        // If not, a write and one more miss come to the two.
        hit.value() < (cache * memory).sqrt() && behind.value() < 3.0 * memory
    }
}
