//! How many events of each kind.

use std::collections::BTreeMap;
use std::ops::{AddAssign, Index};

use serde::{Deserialize, Serialize};

use crate::{DemoteKind, EventKind, FenceKind, FlushKind};

/// Number of kinds that are counted.
pub(crate) const KINDS: usize = 19;

/// Every counted kind, in the order in which stored blocks keep their counts.
const ALL: [(EventKind, &str); KINDS] = [
    (EventKind::Load, "load"),
    (EventKind::Store, "store"),
    (EventKind::NtStore, "nt-store"),
    (EventKind::AtomicRmw, "atomic-rmw"),
    (EventKind::Flush(FlushKind::Clflush), "clflush"),
    (EventKind::Flush(FlushKind::Clflushopt), "clflushopt"),
    (EventKind::Flush(FlushKind::Clwb), "clwb"),
    (EventKind::Flush(FlushKind::DcCivac), "dc-civac"),
    (EventKind::Flush(FlushKind::DcCvac), "dc-cvac"),
    (EventKind::Flush(FlushKind::DcCvap), "dc-cvap"),
    (EventKind::Demote(DemoteKind::Cldemote), "cldemote"),
    (EventKind::Demote(DemoteKind::DcCvau), "dc-cvau"),
    (EventKind::Fence(FenceKind::Store), "fence-store"),
    (EventKind::Fence(FenceKind::Load), "fence-load"),
    (EventKind::Fence(FenceKind::Full), "fence-full"),
    (EventKind::RegionBegin, "region-begin"),
    (EventKind::RegionEnd, "region-end"),
    (EventKind::Alloc, "alloc"),
    (EventKind::Free, "free"),
];

pub(crate) const ALLOC: usize = 17;
pub(crate) const FREE: usize = 18;

pub(crate) fn index_of(kind: EventKind) -> usize {
    match kind {
        EventKind::Load => 0,
        EventKind::Store => 1,
        EventKind::NtStore => 2,
        EventKind::AtomicRmw => 3,
        EventKind::Flush(f) => 4 + f as usize,
        EventKind::Demote(d) => 10 + d as usize,
        EventKind::Fence(f) => 12 + f as usize,
        EventKind::RegionBegin => 15,
        EventKind::RegionEnd => 16,
        EventKind::Alloc | EventKind::ThreadStart => ALLOC,
        EventKind::Free | EventKind::ThreadEnd => FREE,
    }
}

/// The name of `kind` in manifests and exports: lower case, words joined by `-`.
pub fn kind_name(kind: EventKind) -> &'static str {
    match kind {
        EventKind::ThreadStart => "thread-start",
        EventKind::ThreadEnd => "thread-end",
        other => ALL[index_of(other)].1,
    }
}

/// How many events of each kind (all but thread starts and ends).
///
/// An event is what [`crate::replay::for_each_event`] delivers: a masked store with no lane set
/// is none, a gather is one a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "BTreeMap<String, u64>", from = "BTreeMap<String, u64>")]
pub struct EventCounts(pub(crate) [u64; KINDS]);

impl EventCounts {
    /// Events that move data: loads, stores of all sorts, atomics (one each).
    pub fn accesses(&self) -> u64 {
        self.0[..4].iter().fold(0, |a, b| a.saturating_add(*b))
    }

    /// Loads and atomics.
    pub fn reads(&self) -> u64 {
        self.0[0].saturating_add(self.0[3])
    }

    /// Stores of all sorts and atomics.
    pub fn writes(&self) -> u64 {
        self.0[1..4].iter().fold(0, |a, b| a.saturating_add(*b))
    }

    /// The kinds that occur, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let named = ALL.iter().zip(&self.0);
        named
            .filter(|(_, n)| **n > 0)
            .map(|((_, name), n)| (*name, *n))
    }

    /// Names of all counted kinds, in the order of [`EventCounts::index_of`].
    #[cfg(feature = "parquet")]
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(_, name)| *name)
    }

    /// Where in [`EventCounts::names`] a kind is.
    #[cfg(feature = "parquet")]
    pub(crate) fn index_of(kind: EventKind) -> usize {
        index_of(kind)
    }

    /// Counts `n` more events of `kind`; thread starts and ends are not counted.
    pub fn add(&mut self, kind: EventKind, n: u64) {
        if !matches!(kind, EventKind::ThreadStart | EventKind::ThreadEnd) {
            self.bump(index_of(kind), n);
        }
    }

    pub(crate) fn bump(&mut self, kind: usize, n: u64) {
        self.0[kind] = self.0[kind].saturating_add(n);
    }
}

impl Index<EventKind> for EventCounts {
    type Output = u64;
    fn index(&self, kind: EventKind) -> &u64 {
        &self.0[index_of(kind)]
    }
}

impl AddAssign for EventCounts {
    fn add_assign(&mut self, other: Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = a.saturating_add(b);
        }
    }
}

impl From<EventCounts> for BTreeMap<String, u64> {
    fn from(counts: EventCounts) -> Self {
        counts.iter().map(|(k, n)| (k.to_owned(), n)).collect()
    }
}

impl From<BTreeMap<String, u64>> for EventCounts {
    fn from(map: BTreeMap<String, u64>) -> Self {
        let mut counts = Self::default();
        for (at, (_, name)) in ALL.iter().enumerate() {
            counts.0[at] = map.get(*name).copied().unwrap_or(0);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_place() {
        for (at, (kind, name)) in ALL.iter().enumerate() {
            assert_eq!(index_of(*kind), at, "{name}");
            assert_eq!(kind_name(*kind), *name);
        }
    }

    #[test]
    fn survives_json() {
        let mut counts = EventCounts::default();
        counts.add(EventKind::Store, 3);
        counts.add(EventKind::Flush(FlushKind::Clwb), 2);
        let json = serde_json::to_string(&counts).unwrap();
        assert_eq!(json, r#"{"clwb":2,"store":3}"#);
        assert_eq!(serde_json::from_str::<EventCounts>(&json).unwrap(), counts);
    }

    #[test]
    fn atomics_read_and_write_but_are_one_access() {
        let mut counts = EventCounts::default();
        counts.add(EventKind::AtomicRmw, 5);
        counts.add(EventKind::Load, 1);
        assert_eq!(
            (counts.reads(), counts.writes(), counts.accesses()),
            (6, 5, 6)
        );
    }
}
