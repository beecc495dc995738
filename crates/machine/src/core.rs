//! What a core is: pipeline, store path, and what the pre-store instructions do on it.

use serde::Deserialize;

use crate::MemoryType;
use crate::quantity::{Clock, Cycles, Nanos};

/// A core; all cores of a machine are alike.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Core {
    /// How many.
    pub count: u32,
    /// Clock.
    pub clock: Clock,
    /// Instructions a cycle that the pipeline sustains where memory does not hold it up.
    pub width: f64,
    /// Instructions between the oldest unfinished load and the newest that may issue. 0: in order,
    /// a load is waited for before the next instruction issues.
    pub rob: u32,
    /// Loads that may start a cycle.
    pub loads_per_cycle: f64,
    /// TSO: what string instructions (`rep movs`, `rep stos`) do differently from single stores.
    #[serde(default)]
    pub strings: Strings,
    /// TSO: stores that may leave the store buffer a cycle, where they own their lines.
    #[serde(default = "one_a_cycle")]
    pub stores_per_cycle: f64,
    /// Misses of the first cache level under way at once (line fill buffers); write-combining
    /// buffers take from the same pool, flushes too without [`Self::flush_buffers`].
    pub fill_buffers: u32,
    /// Flushes under way at once; `None`: they take fill buffers.
    #[serde(default)]
    pub flush_buffers: Option<u32>,
    /// How long a flush keeps its buffer at most; `None`: until memory has taken the line.
    #[serde(default)]
    pub flush_hold: Option<Nanos>,
    /// Ordering of stores.
    pub memory_model: MemoryModel,
    /// The store buffer (TSO) or merging write buffer (weak).
    pub store_buffer: StoreBuffer,
    /// Which types memory can have; `None`: see [`Core::memory_types`].
    #[serde(default)]
    pub memory_types: Option<Vec<MemoryType>>,
    /// Buffers of non-temporal stores; `None`: non-temporal stores are plain stores here.
    pub write_combining: Option<WriteCombining>,
    /// Cost of an atomic read-modify-write whose line is at hand and whose thread has nothing pending.
    pub atomic: Cycles,
    /// TSO: does what follows an atomic go on before that is done, as far as the reorder window reaches? The
    /// atomic takes its turn among the stores then.
    #[serde(default)]
    pub atomics_overlap: bool,
    /// Cost of a fence of a thread that has nothing pending.
    pub fence: Cycles,
    /// The same of a store fence; `None`: as much as any other.
    pub store_fence: Option<Cycles>,
    /// Does a clean (`clwb`, `dc cvac`) leave the line in the caches?
    pub clwb_retains: bool,
    /// If not: does it leave the line in the nearest shared level?
    #[serde(default)]
    pub clwb_to_shared: bool,
    /// Does a flush or clean that has nothing to write go to the memory controller and back all the same?
    #[serde(default)]
    pub flushes_ask_memory: bool,
    /// Issue cost of a flush or clean instruction (P0, section 5: about one cycle).
    pub flush_issue: Cycles,
    /// Which flush instructions there are; a trace's others act as the nearest that is here.
    pub flushes: Vec<FlushInstruction>,
    /// What a demote does.
    pub demote: Demote,
    /// How long a demotion of a line that the private caches have takes a buffer, of those of flushes (`None`: it
    /// takes none).
    #[serde(default)]
    pub demote_hold: Option<Nanos>,
    /// Hardware prefetchers.
    #[serde(default)]
    pub prefetch: Prefetch,
}

impl Core {
    /// Which types memory can have. Where the description does not say: on x86 all, but write-combining
    /// memory where there are no write-combining buffers; on Arm all but write-through, which its cores
    /// treat as memory that is not cached (Arm Neoverse V2 Core TRM, section on memory attributes).
    pub fn memory_types(&self) -> Vec<MemoryType> {
        if let Some(types) = &self.memory_types {
            return types.clone();
        }
        let is_weak = self.memory_model == MemoryModel::Weak;
        let has = |of: &MemoryType| match of {
            MemoryType::WriteThrough => !is_weak,
            MemoryType::WriteCombining => is_weak || self.write_combining.is_some(),
            MemoryType::WriteBack | MemoryType::Uncacheable => true,
        };
        MemoryType::ALL.into_iter().filter(has).collect()
    }
}

/// Ordering of a core's stores.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryModel {
    /// x86: stores become visible in program order.
    Tso,
    /// Arm: stores are held back and merged until something drains them.
    Weak,
}

/// The store buffer. Fields that a memory model has no use for are `None`.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct StoreBuffer {
    /// Stores (TSO) or lines (weak) it holds.
    pub entries: u32,
    /// TSO: how many of the oldest stores may fetch their lines ahead of their turn (1: none).
    #[serde(default = "one")]
    pub rfo_ahead: u32,
    /// TSO: how many lines its stores may fetch at once (`None`: as many as there are fill buffers).
    #[serde(default)]
    pub rfo_lines: Option<u32>,
    /// TSO: does a store leave, and is visible, once its line is granted, while the data is still on its way? It
    /// merges into the fill buffer then, and only who wants other bytes of the line, or the line elsewhere, waits
    /// for the data.
    #[serde(default)]
    pub leaves_when_granted: bool,
    /// TSO: do all flushes keep their place among the stores, as `clflush` does? Each leaves when what is older has,
    /// and what is younger when it is acknowledged. If not, those that are ordered weakly wait for older stores to
    /// their line only.
    #[serde(default)]
    pub flushes_in_order: bool,
    /// Does a load that is forwarded from it do without its line? If not, it also waits for the line
    /// to come to the nearest cache.
    #[serde(default = "yes")]
    pub forward_misses: bool,
    /// TSO: how long after the last of several stores has left a load is done that wants bytes of all of
    /// them; `None`: it is forwarded as from one.
    #[serde(default)]
    pub merge: Option<Cycles>,
    /// Weak: the buffer starts to drain when it holds this many lines.
    pub drain_at: Option<u32>,
    /// Weak: a line leaves this long after it was allocated (`None`: no timer).
    pub timeout: Option<Cycles>,
    /// Weak: does merging into a line restart its timer?
    #[serde(default)]
    pub merge_restarts_timer: bool,
    /// Weak: lines that may drain at once (ownership and fill overlap).
    #[serde(default = "one")]
    pub drain_parallel: u32,
    /// Weak: lines that may drain at once because a fence or an atomic waits for them; `None`: they
    /// take their turn with the others.
    #[serde(default)]
    pub fence_parallel: Option<u32>,
    /// Weak: lines that may go at once because an instruction asked for them (a demote, a flush, a
    /// load of more than the buffer has); `None`: they take their turn with those that drain.
    #[serde(default)]
    pub push_parallel: Option<u32>,
    /// Weak: cost on top of ownership and fill, from buffer to the cache that makes a line visible.
    #[serde(default)]
    pub drain: Cycles,
}

fn one() -> u32 {
    1
}

fn one_a_cycle() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// What string instructions do differently from single stores; stores of more bytes than a line has.
#[derive(Clone, Copy, Debug, Deserialize, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Strings {
    /// Lines that they overwrite as a whole are not read first.
    pub unread: bool,
    /// They begin when the flushes before them are done.
    pub after_flushes: bool,
}

/// Write-combining buffers of non-temporal stores.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct WriteCombining {
    /// Lines gathered at once.
    pub buffers: u32,
    /// From a whole buffer until it is on its way to memory.
    #[serde(default)]
    pub delay: Nanos,
    /// From a line sent until a line whose last write the controller has not taken yet can be
    /// opened again, unless it is taken before.
    #[serde(default)]
    pub rewrite: Nanos,
    /// How long a buffer that is sent is taken at most; `None`: until memory has taken its data.
    #[serde(default)]
    pub hold: Option<Nanos>,
    /// Is a non-temporal store whose line is in the nearest cache, as it leaves the core, written
    /// there? And do loads of the line that are executed before fetch it meanwhile?
    #[serde(default)]
    pub hits_stay: bool,
    /// Does an open or sent buffer take a fill buffer from loads?
    #[serde(default = "yes")]
    pub shares_fill_buffers: bool,
}

/// A flush or clean instruction.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum FlushInstruction {
    /// x86 `clflush`.
    Clflush,
    /// x86 `clflushopt`.
    Clflushopt,
    /// x86 `clwb`.
    Clwb,
    /// Arm `dc civac`.
    #[serde(rename = "dc civac")]
    DcCivac,
    /// Arm `dc cvac`.
    #[serde(rename = "dc cvac")]
    DcCvac,
    /// Arm `dc cvap`.
    #[serde(rename = "dc cvap")]
    DcCvap,
}

/// What a demote (`cldemote`, `dc cvau`) does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Demote {
    /// Nothing: the instruction is a NOP on this machine.
    Nop,
    /// Moves the line from the private caches to the nearest shared level.
    ToSharedLevel,
    /// Pushes the line out of the write buffer; cached copies stay (weak machines).
    FromWriteBuffer,
}

/// Hardware prefetchers into the last private level; all off by default.
#[derive(Clone, Copy, Debug, Deserialize, Default, PartialEq, Eq)]
#[serde(default)]
pub struct Prefetch {
    /// Fetch the next line on a miss.
    pub next_line: bool,
    /// Streams of constant stride followed a core (0: none).
    pub stride_streams: u32,
    /// Lines a confirmed stream runs ahead at most.
    pub stride_degree: u32,
    /// Lines fetched each time a stream is confirmed: with one line used each time, it runs ahead by
    /// this less one more each time (0: all that are missing up to `stride_degree` at once).
    pub stride_step: u32,
}
