//! Where a core's time goes while it waits.

use std::fmt;

use crate::{ServedBy, Time};

/// Why a core could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A fence waits for loads.
    FenceLoads,
    /// A fence waits for stores to reach the cache.
    FenceStores,
    /// A fence waits for flushes and non-temporal stores to be taken by the memory controller.
    FenceFlushes,
    /// An atomic waits for what came before it: loads, stores, flushes.
    AtomicOrder,
    /// An atomic waits for its line.
    AtomicLine,
    /// No entry of the store buffer (merging write buffer) is free.
    StoreBuffer,
    /// A load needs bytes of a pending store and others: the store must reach the cache first.
    StoreForward,
    /// No line fill buffer is free.
    FillBuffers,
    /// No write-combining buffer is free, or one must be sent before an access to its line.
    WriteCombining,
    /// Too many flushes wait to be sent.
    Flush,
    /// Another thread has not handed over yet.
    Await,
    /// Another thread has the lock.
    Lock,
    /// An access to memory that is not cached waits for the one before it.
    Uncached,
    /// The thread has ended, what it left pending has not.
    End,
    /// The reorder window is full behind a load (or, in order, a load is waited for).
    Load(ServedBy),
}

/// Causes other than [`Cause::Load`].
const SIMPLE: [Cause; 14] = [
    Cause::FenceLoads,
    Cause::FenceStores,
    Cause::FenceFlushes,
    Cause::AtomicOrder,
    Cause::AtomicLine,
    Cause::StoreBuffer,
    Cause::StoreForward,
    Cause::FillBuffers,
    Cause::WriteCombining,
    Cause::Flush,
    Cause::Await,
    Cause::Lock,
    Cause::End,
    Cause::Uncached,
];

const PEER: usize = SIMPLE.len();
const CACHES: usize = PEER + 1;

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FenceLoads => "fence_loads",
            Self::FenceStores => "fence_stores",
            Self::FenceFlushes => "fence_flushes",
            Self::AtomicOrder => "atomic_order",
            Self::AtomicLine => "atomic_line",
            Self::StoreBuffer => "store_buffer_full",
            Self::StoreForward => "store_forward",
            Self::FillBuffers => "fill_buffers_full",
            Self::WriteCombining => "write_combining_full",
            Self::Flush => "flush",
            Self::Await => "await",
            Self::Lock => "lock",
            Self::End => "end",
            Self::Uncached => "uncached",
            Self::Load(ServedBy::Peer) => "load_peer",
            Self::Load(ServedBy::Cache(i)) => return write!(f, "load_cache_{i}"),
            Self::Load(ServedBy::Memory(i)) => return write!(f, "load_memory_{i}"),
        })
    }
}

/// Stalled time by cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stalls {
    caches: usize,
    time: Vec<Time>,
}

impl Stalls {
    /// None yet, on a machine with this many cache levels and memories.
    pub(super) fn new(caches: usize, memories: usize) -> Self {
        Self {
            caches,
            time: vec![Time::ZERO; CACHES + caches + memories],
        }
    }

    fn index(&self, cause: Cause) -> usize {
        match cause {
            Cause::FenceLoads => 0,
            Cause::FenceStores => 1,
            Cause::FenceFlushes => 2,
            Cause::AtomicOrder => 3,
            Cause::AtomicLine => 4,
            Cause::StoreBuffer => 5,
            Cause::StoreForward => 6,
            Cause::FillBuffers => 7,
            Cause::WriteCombining => 8,
            Cause::Flush => 9,
            Cause::Await => 10,
            Cause::Lock => 11,
            Cause::End => 12,
            Cause::Uncached => 13,
            Cause::Load(ServedBy::Peer) => PEER,
            Cause::Load(ServedBy::Cache(i)) => CACHES + usize::from(i),
            Cause::Load(ServedBy::Memory(i)) => CACHES + self.caches + usize::from(i),
        }
    }

    /// `time` more was lost to `cause`.
    #[inline]
    pub(super) fn add(&mut self, cause: Cause, time: Time) {
        let index = self.index(cause);
        if let Some(sum) = self.time.get_mut(index) {
            *sum += time;
        } else {
            debug_assert!(false, "{cause} on a machine that has no such level");
        }
    }

    /// Time lost to `cause`.
    pub fn of(&self, cause: Cause) -> Time {
        self.time
            .get(self.index(cause))
            .copied()
            .unwrap_or_default()
    }

    /// All causes there are on this machine, with the time lost to each.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Time)> {
        let memories = self.time.len() - CACHES - self.caches;
        let caches = (0..self.caches).map(|i| Cause::Load(ServedBy::Cache(i as u8)));
        let memories = (0..memories).map(|i| Cause::Load(ServedBy::Memory(i as u8)));
        let loads = std::iter::once(Cause::Load(ServedBy::Peer));
        SIMPLE
            .into_iter()
            .chain(loads)
            .chain(caches)
            .chain(memories)
            .map(|cause| (cause, self.of(cause)))
    }

    /// Time lost in all.
    pub fn total(&self) -> Time {
        Time(self.time.iter().map(|t| t.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_sum_of_its_own() {
        let mut stalls = Stalls::new(3, 2);
        let causes: Vec<Cause> = stalls.iter().map(|(cause, _)| cause).collect();
        assert_eq!(causes.len(), stalls.time.len());
        for (i, &cause) in causes.iter().enumerate() {
            stalls.add(cause, Time(1 << i));
        }
        for (i, &cause) in causes.iter().enumerate() {
            assert_eq!(stalls.of(cause), Time(1 << i), "{cause}");
        }
        assert_eq!(stalls.total(), Time((1 << causes.len()) - 1));
    }
}
