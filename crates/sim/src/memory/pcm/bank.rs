//! A bank of PCM and its row buffer.

use crate::Time;
use crate::memory::calendar::Calendar;

/// One bank.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    busy: Calendar<8>,
    open: Option<u64>,
    /// Dirty bytes of the open row, a bit each.
    dirty: Box<[u64]>,
    any_dirty: bool,
    /// The last write was asked for then.
    written: Time,
    /// The array has all that was written then.
    recovered: Time,
}

impl Bank {
    /// `words`: 64-byte pieces of a row.
    pub(super) fn new(words: usize) -> Self {
        Self {
            busy: Calendar::new(),
            open: None,
            dirty: vec![0; words].into(),
            any_dirty: false,
            written: Time::ZERO,
            recovered: Time::ZERO,
        }
    }

    #[inline]
    pub(super) fn is_open(&self, row: u64) -> bool {
        self.open == Some(row)
    }

    #[inline]
    pub(super) fn set_open(&mut self, row: u64) {
        self.open = Some(row);
    }

    /// Closes the open row; answers how many of its bytes are dirty, `None` if none was open.
    pub(super) fn close(&mut self) -> Option<u64> {
        self.open.take()?;
        if !std::mem::take(&mut self.any_dirty) {
            return Some(0);
        }
        let dirty = self.dirty.iter().map(|w| u64::from(w.count_ones())).sum();
        self.dirty.fill(0);
        Some(dirty)
    }

    /// Bytes of `mask` at `offset` of the open row were written. What lies beyond the row's end
    /// (masks do not cross rows) is nobody's.
    #[inline]
    pub(super) fn dirty(&mut self, offset: u64, mask: u128) {
        self.any_dirty |= mask != 0;
        let (word, bit) = ((offset / 64) as usize, offset % 64);
        // A mask that does not begin at a word's first byte reaches into one word more.
        let low = mask << bit;
        let high = if bit == 0 { 0 } else { mask >> (128 - bit) };
        for (i, bits) in [low as u64, (low >> 64) as u64, high as u64]
            .into_iter()
            .enumerate()
        {
            if let Some(word) = self.dirty.get_mut(word + i) {
                *word |= bits;
            }
        }
    }

    /// What was written at `at` is in the array at `until`.
    pub(super) fn recovers(&mut self, at: Time, until: Time) {
        self.written = self.written.max(at);
        self.recovered = self.recovered.max(until);
    }

    /// When a row may be closed at `at` or later. Who came before the last write does not wait for it.
    pub(super) fn may_close(&self, at: Time) -> Time {
        if at < self.written {
            at
        } else {
            at.max(self.recovered)
        }
    }

    /// When it is free for `length` from `at` on.
    pub(super) fn free(&self, at: Time, length: Time) -> Time {
        self.busy.find(at, length)
    }

    /// Keeps it busy for `length`, as soon as possible; answers when that begins.
    #[inline]
    pub(super) fn hold(&mut self, at: Time, length: Time) -> Time {
        self.busy.reserve(at, length)
    }
}
