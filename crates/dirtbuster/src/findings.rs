//! What the analysis hands on: findings in terms of code sites, without names.

use prestore_trace::SiteId;
use serde::{Deserialize, Serialize};

use crate::lines::LINE;

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
    /// Those of `reread` that came while the line was still near the core: they decide.
    pub reread_near: Distance,
    /// Those of `rewrite` that came while the line was still in a cache, its core's or one that cores share: they decide.
    pub rewrite_near: Distance,
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

/// Lines that are completed in several visits, between which the same code writes so many other
/// sequential contexts that not all can be sure to be open at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Streams {
    /// Share of the sequentially written lines for which this is so, 0 to 1.
    pub share: f64,
    /// Mean number of visits of such a line.
    pub visits: f64,
    /// Mean number of turns to other contexts between two visits.
    pub between: f64,
}

/// What the advice would be, if the place or the program wrote more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dismissed {
    /// The advice.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// A last-level cache with which the verdict would be another one: it keeps the lines until they are used again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CacheLimit {
    /// Bytes of the smallest such cache, of those that are told apart (powers of two from 16 MB to 512 MB), shared by the
    /// threads at work.
    pub bytes: u64,
    /// What to do with such a cache, or a larger one.
    pub verdict: Verdict,
    /// Share of the sequentially written lines that it still holds when they are read first, 0 to 1.
    pub reread: f64,
    /// Share of them that it still holds when they are written again, 0 to 1.
    pub rewritten: f64,
}

/// What is wrong with a flush, a fence or a non-temporal store that the program has (P0,
/// section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PitfallKind {
    /// Flushes of lines that are clean: never written, or not since the last flush.
    FlushOfCleanLine,
    /// Flushes of lines that are written again while still near the core.
    FlushOfRewrittenLine,
    /// Flushes that no fence follows, in a program that fences others.
    FlushWithoutFence,
    /// Fences when nothing is under way that they order.
    IdleFence,
    /// Non-temporal stores of lines that are sent out incomplete.
    PartialNonTemporalLine,
    /// Non-temporal stores of lines that are read or written again when, written with ordinary
    /// stores, they would still be near the core.
    NonTemporalOfNearData,
}

/// An existing flush, fence or non-temporal store that costs for nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pitfall {
    /// What is wrong.
    pub kind: PitfallKind,
    /// The instruction.
    pub site: SiteId,
    /// As in [`Finding::call_chain`].
    pub call_chain: Vec<SiteId>,
    /// As in [`Finding::entered`].
    #[serde(default)]
    pub entered: bool,
    /// As in [`Finding::generic_writer`].
    pub generic_writer: bool,
    /// Executions; of non-temporal stores, lines.
    pub executed: u64,
    /// Those of them that `kind` speaks of.
    pub affected: u64,
    /// What these cost: estimated share of the program's time, 0 to 1.
    pub cost_share: f64,
    /// In words, and what to do.
    pub reason: String,
}

/// Where the program's time goes, estimated, in instructions of which a core executes one in the
/// time of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TimeEstimate {
    /// All of it, without waiting for other threads.
    pub total: f64,
    /// Stores, and moving the lines they write between core and memory.
    pub writing: f64,
    /// Instructions that waited for other threads.
    pub waited: u64,
    /// Lines written that left the caches for memory.
    pub lines_written: u64,
    /// Lines written that had to be got from another core.
    pub lines_taken: u64,
    /// Lines that came from afar to be read, from a sample.
    pub lines_read: u64,
}

impl TimeEstimate {
    /// Share of writing, 0 to 1.
    pub fn share(&self) -> f64 {
        if self.total > 0.0 {
            self.writing / self.total
        } else {
            0.0
        }
    }
}

/// A place that writes: one or more store instructions of a function that write the same data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Its store instructions, most bytes first. Never empty.
    pub sites: Vec<LineShare>,
    /// Call instructions that led there, innermost first, of the most frequent calling context;
    /// where the writer is a generic function (`memcpy`) the finding is about this caller.
    pub call_chain: Vec<SiteId>,
    /// The first of `call_chain` is no call but the first instruction of a function that was called through memory or a
    /// register, and went on to the generic code with a jump.
    #[serde(default)]
    pub entered: bool,
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
    /// Lines written here that left the caches for memory.
    pub lines_to_memory: u64,
    /// Share of the program's writing, 0 to 1: of the bytes stored, plus those of the lines that
    /// left for memory.
    pub write_share: f64,
    /// Estimated share of the program's time that writing here takes, 0 to 1.
    pub time_share: f64,
    /// What the advice would be if that mattered more; `None`: the same as `verdict`.
    pub dismissed: Option<Dismissed>,
    /// Up to which size of the last-level cache `verdict` holds; `None`: up to any that was looked at.
    pub cache_limit: Option<CacheLimit>,
    /// A `skip` or `clean` that would only have cost in this run: all that was written here was written for the first time, in
    /// pages that the kernel had just made. It is for memory that is written over and over.
    #[serde(default)]
    pub written_once: bool,
    /// Stretches of the run that it was seen in, where only some were looked at ([`crate::Analyzer::with_stretches`]);
    /// else 0.
    pub stretches: u64,
    /// Share of this finding's writes that fell in sequential contexts, 0 to 1.
    pub sequential_share: f64,
    /// Distribution of context sizes, largest share first.
    pub contexts: Vec<ContextClass>,
    /// Over all lines written here, sequential or not.
    pub reread: Distance,
    /// Over all lines written here, sequential or not.
    pub rewrite: Distance,
    /// As in [`ContextClass::reread_near`], over all lines.
    pub reread_near: Distance,
    /// As in [`ContextClass::rewrite_near`], over all lines.
    pub rewrite_near: Distance,
    /// Lines that the code comes back to.
    pub streams: Streams,
    /// Writes before a fence.
    pub fence_distance: FenceDistance,
    /// Call instructions whose allocations hold the data, with bytes written.
    pub allocations: Vec<(SiteId, u64)>,
}

/// The result of an analysis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// At least the threshold's share of the time goes to writing.
    pub write_intensive: bool,
    /// That time.
    pub time: TimeEstimate,
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
    /// Largest share of the program's writing first.
    pub findings: Vec<Finding>,
    /// Existing flushes, fences and non-temporal stores that cost for nothing, dearest first.
    pub pitfalls: Vec<Pitfall>,
}

/// Are these `stores` of so many bytes in all, going by their size, such as `prestore try` changes? It leaves out code that others call
/// as well (`generic`), string instructions, which write more than a register at once, and stores of 1 or 2 bytes.
pub fn can_be_tried(stores: u64, bytes: u64, generic: bool) -> bool {
    let size = bytes / stores.max(1);
    !generic && (4..=LINE).contains(&size)
}
