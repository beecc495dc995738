//! The caching modes.

use prestore_machine::{Machine, MemoryModel, MemoryType};
use serde::Serialize;

/// How a range is cached, and what makes stores to it persistent (P1, section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Mode {
    /// Write-back: flushes and fences, as the program has them.
    #[serde(rename = "WB")]
    WriteBack,
    /// Write-through: the order of the stores, under total store order.
    #[serde(rename = "WT")]
    WriteThrough,
    /// Write-combining: a fence in the place of flush and fence.
    #[serde(rename = "WC")]
    WriteCombining,
    /// Uncacheable: the order of the stores.
    #[serde(rename = "UC")]
    Uncacheable,
    /// Write-back, with non-temporal stores in the place of all stores, and a fence.
    #[serde(rename = "NT")]
    NonTemporal,
    /// Write-back with caches that a power cut leaves (eADR): the order of the stores.
    #[serde(rename = "EADR")]
    PersistentCaches,
}

/// What stands in the place of a flush of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The flush.
    Flush,
    /// A fence, at the latest the one that follows.
    Fence,
    /// Nothing: no fence that was there for the flush either.
    Nothing,
}

impl Mode {
    /// All of them; the last is the reference that no choice of memory type gives.
    pub const ALL: [Self; 6] = [
        Self::WriteBack,
        Self::WriteThrough,
        Self::WriteCombining,
        Self::Uncacheable,
        Self::NonTemporal,
        Self::PersistentCaches,
    ];

    /// As users write it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::WriteBack => "WB",
            Self::WriteThrough => "WT",
            Self::WriteCombining => "WC",
            Self::Uncacheable => "UC",
            Self::NonTemporal => "NT",
            Self::PersistentCaches => "EADR",
        }
    }

    /// The mode of a word, in letters of either case.
    pub fn named(word: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|mode| mode.word().eq_ignore_ascii_case(word))
    }

    /// The type of its memory.
    pub const fn memory_type(self) -> MemoryType {
        match self {
            Self::WriteBack | Self::NonTemporal | Self::PersistentCaches => MemoryType::WriteBack,
            Self::WriteThrough => MemoryType::WriteThrough,
            Self::WriteCombining => MemoryType::WriteCombining,
            Self::Uncacheable => MemoryType::Uncacheable,
        }
    }

    /// What stands in a flush's place. On a core whose stores are not ordered a fence does what order does elsewhere.
    pub(crate) fn fit(self, model: MemoryModel) -> Fit {
        match self {
            Self::WriteBack => Fit::Flush,
            Self::WriteCombining | Self::NonTemporal => Fit::Fence,
            _ if model == MemoryModel::Weak => Fit::Fence,
            Self::WriteThrough | Self::Uncacheable | Self::PersistentCaches => Fit::Nothing,
        }
    }

    /// Can the machine have it?
    ///
    /// # Errors
    /// What it lacks, in words.
    pub fn possible_on(self, machine: &Machine) -> Result<(), String> {
        let has = machine.core.memory_types();
        let wanted = self.memory_type();
        if !has.contains(&wanted) {
            let names: Vec<&str> = has.iter().copied().map(MemoryType::name).collect();
            return Err(format!(
                "no {} memory, only {}",
                wanted.name(),
                names.join(", ")
            ));
        }
        if self == Self::NonTemporal && machine.core.write_combining.is_none() {
            return Err("no non-temporal stores that pass its caches".to_owned());
        }
        Ok(())
    }

    /// Do stores gather at the core until a fence?
    pub(crate) const fn combines(self) -> bool {
        matches!(self, Self::WriteCombining | Self::NonTemporal)
    }
}
