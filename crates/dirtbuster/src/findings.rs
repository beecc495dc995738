//! What the analysis hands on: findings in terms of code sites, without names.

use prestore_trace::SiteId;
use serde::{Deserialize, Serialize};

/// What to do at a place that writes (P0, section 6.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Push the data out of the core's private buffers before the fence; it is rewritten.
    Demote,
    /// Start the write-back now and keep the data cached; it is re-read.
    Clean,
    /// Write around the cache with non-temporal stores; nothing reads or rewrites it.
    Skip,
    /// Nothing to gain here, or something to lose.
    LeaveAlone,
}

/// A mean distance in executed instructions, and how much of the data it speaks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// Mean number of instructions from a write of a line to its next read (or write);
    /// `None`: it never happened ("infinite" in P0).
    pub mean: Option<f64>,
    /// Share of the written lines for which it happened, 0 to 1.
    pub share: f64,
}

/// Sequential contexts of about one size, at one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextClass {
    /// Mean size of the contexts, bytes.
    pub bytes: u64,
    /// Share of the finding's sequential writes (store bytes) that fell into these, 0 to 1.
    pub share: f64,
    /// How many contexts.
    pub count: u64,
    /// From a write to the next read of the line, by whatever code.
    pub reread: Distance,
    /// From a write to the next write of the line that is not part of the same streak.
    pub rewrite: Distance,
}

/// Instructions from a write to the thread's next fence or atomic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FenceDistance {
    /// Smallest, `None`: no fence followed any write.
    pub min: Option<u64>,
    /// Median over all writes; `None`: at least half of the writes had no fence after them.
    pub median: Option<u64>,
}

/// One store instruction's part in a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineShare {
    /// The store.
    pub site: SiteId,
    /// How many stores it executed.
    pub stores: u64,
}

/// A place that writes: one or more store instructions of a function that write the same data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its store instructions, most stores first. Never empty.
    pub sites: Vec<LineShare>,
    /// Call instructions that led there, innermost first, of the most frequent calling context;
    /// where the writer is a generic function (`memcpy`) the finding is about this caller.
    pub call_chain: Vec<SiteId>,
    /// The writer is generic code (memcpy family): the place to change is `call_chain[0]`.
    pub generic_writer: bool,
    /// What to do.
    pub verdict: Verdict,
    /// Why, in words and with the figures that decided.
    pub reason: String,
    /// Stores executed here.
    pub stores: u64,
    /// Bytes stored here.
    pub store_bytes: u64,
    /// Share of all the program's stores, 0 to 1.
    pub store_share: f64,
    /// Share of this finding's writes that fell in sequential contexts, 0 to 1.
    pub sequential_share: f64,
    /// Distribution of context sizes, largest share first.
    pub contexts: Vec<ContextClass>,
    /// Over all lines written here, sequential or not.
    pub reread: Distance,
    /// Over all lines written here, sequential or not.
    pub rewrite: Distance,
    /// Writes before a fence.
    pub fence_distance: FenceDistance,
    /// Call instructions whose allocations hold the data, with bytes written.
    pub allocations: Vec<(SiteId, u64)>,
}

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// At least the threshold's share of the executed instructions were stores.
    pub write_intensive: bool,
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Store instructions executed (stores, non-temporal stores, atomics).
    pub stores: u64,
    /// Load instructions executed.
    pub loads: u64,
    /// Fences and atomics executed.
    pub fences: u64,
    /// Stores over instructions, 0 to 1.
    pub store_fraction: f64,
    /// Largest share of stores first.
    pub findings: Vec<Finding>,
}
