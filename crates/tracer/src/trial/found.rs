//! What the client tells of a run: the shared file `trial-results`, laid out as in `client/trial_sites.h`.

use std::io;
use std::time::Duration;

use memmap2::MmapMut;

use crate::channel::Session;

/// What became of a store that was to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It was never executed.
    NotMet,
    /// It was changed.
    Changed,
    /// The instruction there does not store.
    NoStore,
    /// It stores less than four bytes.
    Small,
    /// It stores what a mask chooses.
    Masked,
    /// It is an atomic.
    Atomic,
    /// It is a string instruction.
    String,
    /// It stores on the stack.
    Stack,
    /// It reads what it writes.
    Reads,
    /// It stores relative to a segment: data of the thread.
    ThreadLocal,
    /// There is no instruction that does the same.
    NoForm,
    /// It is non-temporal already.
    NonTemporal,
    /// This processor lacks the instruction.
    NoInstruction,
}

/// Indexed by `site_fate_t`.
const FATES: [Fate; 13] = [
    Fate::NotMet,
    Fate::Changed,
    Fate::NoStore,
    Fate::Small,
    Fate::Masked,
    Fate::Atomic,
    Fate::String,
    Fate::Stack,
    Fate::Reads,
    Fate::ThreadLocal,
    Fate::NoForm,
    Fate::NonTemporal,
    Fate::NoInstruction,
];

/// What was found where a store was to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// What became of it.
    pub fate: Fate,
    /// At least once the address was not aligned as the non-temporal store needs it, and the program's own store
    /// was executed.
    pub unaligned: bool,
}

/// `trial_sums_t`.
const SUMS: usize = 64;
/// `trial_site_result_t`.
const RESULT: usize = 8;

/// The file, mapped.
pub(super) struct Results {
    map: MmapMut,
}

impl Results {
    pub(super) fn create(session: &Session, changes: usize) -> io::Result<Self> {
        let file = session.give("trial-results", &vec![0; SUMS + changes * RESULT])?;
        // SAFETY: the file was just sized, and nobody shortens it; clients change single words of it.
        let map = unsafe { MmapMut::map_mut(&file)? };
        Ok(Self { map })
    }

    fn word(&self, number: usize) -> u64 {
        let at = number * 8;
        let bytes = self.map.get(at..at + 8).unwrap_or_default();
        bytes.try_into().map_or(0, u64::from_ne_bytes)
    }

    /// From the begin of the first process to the end of the last; `None`: none ended in order.
    pub(super) fn time(&self) -> Option<Duration> {
        let (begun, ended) = (self.word(0), self.word(1));
        (begun > 0 && ended > begun).then(|| Duration::from_nanos(ended - begun))
    }

    pub(super) fn cpu(&self) -> Duration {
        Duration::from_nanos(self.word(2))
    }

    pub(super) fn fences(&self) -> u64 {
        self.word(3)
    }

    pub(super) fn found(&self) -> Vec<Found> {
        let results = self.map.get(SUMS..).unwrap_or_default();
        let found = results.chunks_exact(RESULT).map(|result| Found {
            fate: FATES
                .get(usize::from(result[0]))
                .copied()
                .unwrap_or(Fate::NotMet),
            unaligned: result[4] != 0,
        });
        found.collect()
    }
}
