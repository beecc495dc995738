//! A finding with names: the unit of every output form.

use crate::human::share;
use crate::place::NamedPlace;
use prestore_dirtbuster::{
    CacheLimit, ContextClass, Dismissed, FenceDistance, Streams, Verdict, can_be_tried,
};
use prestore_whatif::Speedup;
use serde::{Deserialize, Serialize};

/// Sequential contexts of about one size (P0, section 6.2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Mean size, bytes.
    pub bytes: u64,
    /// Share of the finding's sequential writes, 0 to 1.
    pub share: f64,
    /// How many contexts.
    pub count: u64,
    /// Mean instructions from a write of a line to its next read; `None`: never.
    pub reread: Option<f64>,
    /// Share of the written lines that were read again, 0 to 1.
    pub reread_share: f64,
    /// Mean instructions from a write of a line to its next write outside the streak; `None`: never.
    pub rewrite: Option<f64>,
    /// Share of the written lines that were written again, 0 to 1.
    pub rewrite_share: f64,
    /// Mean instructions to the next read, of lines that were still near the core; `None`: none.
    pub reread_near: Option<f64>,
    /// Share of the written lines for which this is so, 0 to 1.
    pub reread_near_share: f64,
    /// Mean instructions to the next write, of lines that were still near the core; `None`: none.
    pub rewrite_near: Option<f64>,
    /// Share of the written lines for which this is so, 0 to 1.
    pub rewrite_near_share: f64,
}

impl From<&ContextClass> for Context {
    fn from(c: &ContextClass) -> Self {
        Self {
            bytes: c.bytes,
            share: c.share,
            count: c.count,
            reread: c.reread.mean,
            reread_share: c.reread.share,
            rewrite: c.rewrite.mean,
            rewrite_share: c.rewrite.share,
            reread_near: c.reread_near.mean,
            reread_near_share: c.reread_near.share,
            rewrite_near: c.rewrite_near.mean,
            rewrite_near_share: c.rewrite_near.share,
        }
    }
}

/// A call whose allocations hold the data written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Allocation {
    /// The call.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Bytes the finding wrote into its allocations.
    pub bytes: u64,
    /// Of the finding's written bytes, 0 to 1.
    pub share: f64,
}

/// Stores of a finding on one source line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LineStores {
    /// Function that contains the line.
    pub function: String,
    /// Source file.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Stores executed.
    pub stores: u64,
    /// Of the finding's stores, 0 to 1.
    pub share: f64,
}

impl LineStores {
    /// Sums the stores at `places` by line, most stores first; places without a line are left out.
    pub(crate) fn from_places<'a>(
        places: impl Iterator<Item = (&'a NamedPlace, u64)>,
    ) -> Vec<Self> {
        let mut total = 0u64;
        let mut lines: Vec<Self> = Vec::new();
        for (place, stores) in places {
            total += stores;
            let (Some(file), Some(line)) = (&place.file, place.line) else {
                continue;
            };
            match lines.iter_mut().find(|l| l.line == line && l.file == *file) {
                Some(known) => known.stores += stores,
                None => lines.push(Self {
                    function: place.function.clone(),
                    file: file.clone(),
                    line,
                    stores,
                    share: 0.0,
                }),
            }
        }
        for line in &mut lines {
            line.share = share(line.stores, total);
        }
        lines.sort_by(|a, b| {
            (b.stores.cmp(&a.stores)).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line)))
        });
        lines
    }
}

/// One store instruction of a finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InstructionShare {
    /// The store.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Stores executed.
    pub stores: u64,
}

/// What an operation would gain on a machine, by simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Predicted {
    /// Name of the machine.
    pub machine: String,
    /// Operation.
    pub op: String,
    /// How the source does it: `call`, `copy-call`, `in-place`, `buffer`, `writer`.
    pub way: String,
    /// Time without over time with it: the median of the simulations.
    pub speedup: f64,
    /// The least of them.
    pub least: f64,
    /// The most of them.
    pub most: f64,
    /// The best of the finding on this machine, and a gain.
    pub best: bool,
}

impl Predicted {
    /// The figures with their spread.
    pub fn speedup(&self) -> Speedup {
        Speedup {
            speedup: self.speedup,
            least: self.least,
            most: self.most,
        }
    }
}

/// A place that writes, what it does and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NamedFinding {
    /// What it is called in every form of output and in `whatif --finding`: its place, from 1, in the
    /// analysis. It stays when findings are put in another order.
    pub number: usize,
    /// What tells it apart from the other findings of its function: line, data, caller; `None`: it is the only
    /// one.
    pub apart: Option<String>,
    /// The place to change: the line with most of the stores, or for a generic writer the line
    /// that calls it.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// What to do.
    pub verdict: Verdict,
    /// Why, in words.
    pub reason: String,
    /// What the advice would be if the place or the program wrote more; `None`: nothing else.
    pub dismissed: Option<Dismissed>,
    /// Up to which size of the last-level cache the verdict holds; `None`: up to any that was looked at.
    pub cache_limit: Option<CacheLimit>,
    /// A `skip` or `clean` that would only have cost in this run, which wrote all of it for the first time, in pages that the
    /// kernel had just made: it is for memory that is written over and over.
    #[serde(default)]
    pub written_once: bool,
    /// Share of the program's writing, 0 to 1: of the bytes stored, plus those of the lines that
    /// left for memory.
    pub write_share: f64,
    /// Estimated share of the program's time that writing here takes, 0 to 1.
    pub time_share: f64,
    /// Lines written here that left the core's cache for memory.
    pub lines_to_memory: u64,
    /// Stretches of the run that it was seen in, where only some were looked at; else 0.
    pub stretches: u64,
    /// Share of all the program's stores, 0 to 1.
    pub store_share: f64,
    /// Stores executed.
    pub stores: u64,
    /// Bytes stored.
    pub store_bytes: u64,
    /// Share of the finding's writes inside sequential contexts, 0 to 1.
    pub sequential_share: f64,
    /// Sizes of the contexts, largest share first.
    pub contexts: Vec<Context>,
    /// As in [`Context`], over all lines written here.
    pub reread: Option<f64>,
    /// As in [`Context`], over all lines written here.
    pub reread_share: f64,
    /// As in [`Context`], over all lines written here.
    pub rewrite: Option<f64>,
    /// As in [`Context`], over all lines written here.
    pub rewrite_share: f64,
    /// As in [`Context`], over all lines written here.
    pub reread_near: Option<f64>,
    /// As in [`Context`], over all lines written here.
    pub reread_near_share: f64,
    /// As in [`Context`], over all lines written here.
    pub rewrite_near: Option<f64>,
    /// As in [`Context`], over all lines written here.
    pub rewrite_near_share: f64,
    /// Lines that the code comes back to after many other streams.
    pub streams: Streams,
    /// Instructions from a write to the next fence or atomic of the thread; `None`: none followed.
    pub fence_distance: FenceDistance,
    /// Gains on machines; empty where none was simulated.
    pub predicted: Vec<Predicted>,
    /// The stores are in generic code (`memcpy`), the place is a caller of it.
    pub generic_writer: bool,
    /// Name of the generic code, `memcpy` rather than the variant that ran.
    pub writer: Option<String>,
    /// Path of the library that writes on its own account: what calls the generic code, or where the place is, if the system came
    /// with it; `None`: the program writes.
    #[serde(default)]
    pub library: Option<String>,
    /// Calls that led to the stores, innermost first, in the most frequent calling context.
    pub call_chain: Vec<NamedPlace>,
    /// Which entry of `call_chain` `place` is; `None`: the place is the store itself.
    pub call_chain_index: Option<usize>,
    /// Where the data written was allocated, most bytes first.
    pub allocations: Vec<Allocation>,
    /// The lines that store, most stores first; empty without line information.
    pub lines: Vec<LineStores>,
    /// The instructions that store, most bytes first.
    pub sites: Vec<InstructionShare>,
}

impl NamedFinding {
    /// True where there is something to do.
    pub fn is_advice(&self) -> bool {
        self.verdict != Verdict::LeaveAlone
    }

    /// Are its stores such as `prestore try` changes?
    pub fn can_be_tried(&self) -> bool {
        can_be_tried(self.stores, self.store_bytes, self.generic_writer)
    }

    /// The machines that following it was simulated on, if it gains on none of them: `host`, `host and tiny`.
    pub fn gains_on_none_of(&self) -> Option<String> {
        if self.predicted.is_empty() || self.predicted.iter().any(|p| p.best) {
            return None;
        }
        let mut names: Vec<&str> = self.predicted.iter().map(|p| p.machine.as_str()).collect();
        names.dedup();
        let last = names.pop()?;
        Some(match names.is_empty() {
            true => last.to_owned(),
            false => format!("{} and {last}", names.join(", ")),
        })
    }

    /// Its function, and what tells it apart from that function's other findings.
    pub fn name(&self) -> String {
        match &self.apart {
            Some(apart) => format!("{}, {apart}", self.place.function),
            None => self.place.function.clone(),
        }
    }

    /// Calls that led to the place, innermost first.
    pub fn callers(&self) -> &[NamedPlace] {
        let skip = self.call_chain_index.map_or(0, |i| i + 1);
        self.call_chain.get(skip..).unwrap_or_default()
    }
}
