use std::time::Duration;

use rustc_hash::FxHashMap;

use crate::address_space::AddressSpaces;
use crate::options::{CLOCK_SAMPLE_COST_NS, SAMPLE_COST_NS, SPE_RECORD_COST_NS};
use crate::pmu::Source;
use crate::record::AccessKind;

/// Number of a call chain in [`Samples::chain`]; equal chains have equal numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChainId(pub u32);

/// One sample. Addresses are absolute; [`AddressSpaces::locate`] gives module and offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// Address of the sampled instruction.
    pub ip: u64,
    /// Data address, where the hardware gave one.
    pub addr: Option<u64>,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Perf time, nanoseconds.
    pub time: u64,
    /// Events (stores, operations, nanoseconds: see [`Source`]) that this sample stands for.
    pub period: u64,
    /// What the instruction did to memory.
    pub kind: AccessKind,
    /// Its call chain.
    pub chain: ChainId,
}

impl Sample {
    /// Whether the instruction wrote memory.
    pub fn is_store(&self) -> bool {
        self.kind == AccessKind::Store
    }
}

/// What is missing from the samples, all counted, never silent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Losses {
    /// Records the kernel found no room for.
    pub lost: u64,
    /// Times the kernel stopped the event until the next timer tick because it came too often.
    pub throttled: u64,
    /// Pieces of the AUX area with gaps; how many samples fell into them is not known.
    pub aux_gaps: u64,
    /// Arm SPE records and packets that could not be read.
    pub unreadable: u64,
    /// Samples beyond [`crate::Options::max_samples`].
    pub beyond_cap: u64,
}

impl Losses {
    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Estimated cost of the sampling itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overhead {
    /// Samples taken, kernel ones that were filtered afterwards included.
    pub samples: u64,
    /// Assumed cost of one, nanoseconds.
    pub nanoseconds_each: u64,
    /// Share of the program's CPU time, 0 to 1.
    pub share: f64,
}

impl Overhead {
    /// Estimates the share from the number of samples: `samples × cost / CPU time` of the program
    /// and its children. The costs are constants of this crate, so this is an estimate, not a
    /// measurement.
    pub fn estimate(source: Source, samples: u64, cpu_time: Duration) -> Self {
        let nanoseconds_each = match source {
            Source::IntelMemStores | Source::AmdIbsOp => SAMPLE_COST_NS,
            Source::ArmSpe => SPE_RECORD_COST_NS,
            Source::CpuClock => CLOCK_SAMPLE_COST_NS,
        };
        let available = cpu_time.as_nanos() as f64;
        let spent = samples as f64 * nanoseconds_each as f64;
        let share = if available > 0.0 {
            (spent / available).min(1.0)
        } else {
            0.0
        };
        Self {
            samples,
            nanoseconds_each,
            share,
        }
    }
}

/// What a sampling run gives.
#[derive(Debug, Clone)]
pub struct Samples {
    /// Event as perf writes it, `cpu/mem-stores/` say.
    pub event: String,
    /// What produced the samples.
    pub source: Source,
    /// `ip` is the instruction that did the access, not a later one.
    pub precise: bool,
    /// The `precise_ip` level in force; 0 where the mechanism has none.
    pub precise_level: u8,
    /// Whether samples have call chains. Arm SPE has none.
    pub callchains: bool,
    /// The samples, by time.
    pub events: Vec<Sample>,
    /// What is missing.
    pub losses: Losses,
    /// Cost of sampling.
    pub overhead: Overhead,
    /// What was mapped where.
    pub spaces: AddressSpaces,
    /// How the program ended.
    pub status: std::process::ExitStatus,
    pub(crate) chains: ChainTable,
}

impl Samples {
    /// Return addresses of a chain, innermost first; the first entry is the interrupted instruction.
    pub fn chain(&self, id: ChainId) -> &[u64] {
        self.chains.get(id)
    }
}

/// Interned call chains: programs repeat few of them very often.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChainTable {
    chains: Vec<Box<[u64]>>,
    numbers: FxHashMap<Box<[u64]>, ChainId>,
}

impl ChainTable {
    pub(crate) fn intern(&mut self, chain: &[u64]) -> ChainId {
        if let Some(id) = self.numbers.get(chain) {
            return *id;
        }
        let id = ChainId(self.chains.len() as u32);
        self.chains.push(chain.into());
        self.numbers.insert(chain.into(), id);
        id
    }

    pub(crate) fn get(&self, id: ChainId) -> &[u64] {
        self.chains.get(id.0 as usize).map_or(&[], |chain| chain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{
        DEFAULT_CLOCK_HERTZ, DEFAULT_HERTZ, DEFAULT_IBS_HERTZ, DEFAULT_SPE_INTERVAL,
    };

    #[test]
    fn the_default_rates_stay_below_one_percent() {
        let second = Duration::from_secs(1);
        for (source, hertz) in [
            (Source::IntelMemStores, DEFAULT_HERTZ),
            (Source::AmdIbsOp, DEFAULT_IBS_HERTZ),
            (Source::ArmSpe, 4_000_000_000 / DEFAULT_SPE_INTERVAL),
            (Source::CpuClock, DEFAULT_CLOCK_HERTZ),
        ] {
            let share = Overhead::estimate(source, hertz, second).share;
            assert!(share > 0.0 && share < 0.01, "{source:?}: {share}");
        }
    }

    #[test]
    fn equal_chains_share_a_number() {
        let mut table = ChainTable::default();
        let a = table.intern(&[1, 2]);
        let b = table.intern(&[1]);
        assert_eq!(table.intern(&[1, 2]), a);
        assert_ne!(a, b);
        assert_eq!(table.get(b), [1]);
    }
}
