//! Memory after a power cut.

use super::fingerprint::Fingerprint;
use super::log::WORD;
use super::pending::Word;
use super::place::{Place, chosen};
use super::view::View;

/// Memory that words are written to and taken back from.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    /// Filled up to whole words.
    bytes: Vec<u8>,
    len: usize,
    fingerprint: Fingerprint,
}

impl Memory {
    pub(super) fn new(initial: &[u8]) -> Self {
        let mut bytes = initial.to_vec();
        bytes.resize(initial.len().next_multiple_of(WORD as usize), 0);
        Self {
            bytes,
            len: initial.len(),
            fingerprint: Fingerprint::default(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Writes what `word` holds; returns what was there.
    pub(super) fn write(&mut self, word: &Word) -> u64 {
        let old = self.get(word.place);
        self.set(word.place, old, old & !word.mask | word.value);
        old
    }

    /// Is what `word` holds there?
    pub(super) fn has(&self, word: &Word) -> bool {
        self.get(word.place) & word.mask == word.value
    }

    /// The word at `place` is `value` again.
    pub(super) fn take_back(&mut self, place: u64, value: u64) {
        let old = self.get(place);
        self.set(place, old, value);
    }

    fn get(&self, place: u64) -> u64 {
        let at = (place * WORD) as usize;
        let (words, _) = self.bytes[at..].as_chunks::<8>();
        words.first().map_or(0, |w| u64::from_le_bytes(*w))
    }

    fn set(&mut self, place: u64, old: u64, new: u64) {
        if old != new {
            let at = (place * WORD) as usize;
            self.bytes[at..at + WORD as usize].copy_from_slice(&new.to_le_bytes());
            self.fingerprint.change(place, old, new);
        }
    }
}

/// One image that a power cut may leave.
#[derive(Clone, Copy, Debug)]
pub struct CrashImage<'a> {
    pub(super) number: u64,
    pub(super) bytes: &'a [u8],
    pub(super) events: usize,
    pub(super) view: &'a View,
    pub(super) kept: &'a [bool],
}

impl<'a> CrashImage<'a> {
    /// All bytes of memory.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How many different images came before it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// How many events had happened.
    pub fn events(&self) -> usize {
        self.events
    }

    /// Where it comes from, so that it can be made again.
    pub fn place(&self) -> Place {
        Place {
            events: self.events,
            lost: chosen(self.view, self.kept, false),
            kept: chosen(self.view, self.kept, true),
        }
    }
}
