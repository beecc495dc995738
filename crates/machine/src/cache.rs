//! A level of cache.

use serde::Deserialize;

use crate::quantity::{Cycles, Share, Size};

/// A level of the cache hierarchy; [`crate::Machine::caches`] lists them nearest to the core first.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct CacheLevel {
    /// `L1D`, `L2`, `L3`.
    #[serde(skip)]
    pub name: String,
    /// Bytes of one instance: a private level has one a core, a shared level one in all.
    pub size: Size,
    /// Associativity.
    pub ways: u32,
    /// Load-to-use latency of a hit, measured from the core (not added to nearer levels').
    pub latency: Cycles,
    /// Private to a core, or shared by all.
    pub scope: Scope,
    /// Relation to the nearer levels; ignored for the nearest.
    #[serde(default)]
    pub inclusion: Inclusion,
    /// Victim choice.
    pub replacement: Replacement,
    /// How addresses choose a slice, then a set in it.
    #[serde(default)]
    pub hash: SliceHash,
    /// Slices of a shared level (1: no slicing).
    #[serde(default = "one")]
    pub slices: u32,
    /// What a store that hits does.
    pub write: WritePolicy,
    /// Misses under way at once (`None`: not limited here).
    pub mshrs: Option<u32>,
}

fn one() -> u32 {
    1
}

/// Who shares a level.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One instance a core.
    Private,
    /// One instance for all cores.
    Shared,
}

/// What a level holds of the lines of nearer levels.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// All of them: evicting a line here evicts it nearer too. Filled on a miss.
    Inclusive,
    /// Some: filled on a miss, but an eviction here leaves nearer copies alone.
    #[default]
    NonInclusive,
    /// Filled by the next nearer level's victims only (clean and dirty); a hit keeps the line here.
    NonInclusiveVictim,
    /// Filled by victims only; a hit moves the line nearer and frees it here.
    Exclusive,
}

/// How a victim is chosen among the valid lines of a set.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Replacement {
    /// The least recently used.
    Lru,
    /// A tree of bits (ways must be a power of two).
    TreePlru,
    /// Quad-age LRU: two-bit ages, `hit` and `insert` say which age a line gets, the victim is the
    /// first way of age 3 (ages are raised until there is one). `distant` is the share of fills
    /// inserted at age 3 instead, which makes the order of evictions look random.
    Qlru {
        /// Age after a hit.
        hit: u8,
        /// Age after a fill.
        insert: u8,
        /// Share of fills inserted at age 3.
        distant: Share,
    },
    /// Any, by a seeded generator.
    Random,
    /// Not recently used: one bit a line; the first way with a clear bit.
    Nru,
}

/// How an address chooses its slice and set.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum SliceHash {
    /// Low bits of the line number.
    #[default]
    None,
    /// The line number's bits folded together, slice and set.
    XorFold,
    /// The same, but sets go round the slices each from a place of its own, which changes from one
    /// region of 4096 times all sets of a slice to the next.
    RegionFold,
}

/// What a store that hits a level does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// The line becomes dirty here.
    Back,
    /// The write goes on to the next level; the line stays clean here.
    Through,
}
