//! Ranges that are added to a transaction without a copy (`POBJ_XADD_NO_SNAPSHOT`), as containers do with room that nothing is in: nothing
//! loads them, but they are flushed at the commit.
//!
//! The functions that add have what they were told in their frame, as three words that follow each other: where in the pool, how many
//! bytes, and the flags (`struct tx_range_def` of libpmemobj's `tx.c`, the same in the versions of PMDK that have these flags, as far as they were looked at: 1.12 among them).

use std::collections::VecDeque;

/// pmemobj_tx_xadd_range(3), and what may be said with it (`libpmemobj/base.h`).
const NO_SNAPSHOT: u64 = 1 << 2;
/// Nor is it flushed: who asks for both does that.
const NO_FLUSH: u64 = 1 << 1;
const FLAGS: u64 = (1 << 5) - 1;

/// Words that are remembered: some more than a range has, as others are stored in between.
const WORDS: usize = 16;

const WORD: u64 = 8;

/// What a function that adds has stored to its frame last: address and value of words.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    words: VecDeque<(u64, u64)>,
}

impl Frame {
    /// It stores `bytes` at `addr`, which completes a range that is not copied: where in the pool, and how many bytes.
    pub(super) fn stored(&mut self, addr: u64, bytes: &[u8]) -> Option<(u64, u64)> {
        let mut found = None;
        for (number, word) in (0..).zip(bytes.as_chunks::<{ WORD as usize }>().0) {
            let at = addr.wrapping_add(number * WORD);
            self.words.retain(|(a, _)| *a != at);
            self.words.push_back((at, u64::from_le_bytes(*word)));
            if self.words.len() > WORDS {
                self.words.pop_front();
            }
            let firsts = (0..3).map(|before| at.wrapping_sub(before * WORD));
            found = firsts
                .filter_map(|first| self.range(first))
                .next()
                .or(found);
        }
        found
    }

    fn range(&self, first: u64) -> Option<(u64, u64)> {
        let value = |number: u64| {
            let at = first.wrapping_add(number * WORD);
            self.words.iter().find(|(a, _)| *a == at).map(|w| w.1)
        };
        let (offset, size, flags) = (value(0)?, value(1)?, value(2)?);
        let is_range = offset != 0 && size != 0 && size <= i64::MAX as u64;
        let is_left = flags & (NO_SNAPSHOT | NO_FLUSH) == NO_SNAPSHOT;
        (is_range && is_left && flags & !FLAGS == 0).then_some((offset, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|v| v.to_le_bytes()).collect()
    }

    #[test]
    fn a_range_is_three_words_in_any_order_whose_flags_ask_for_no_copy() {
        let mut frame = Frame::default();
        assert_eq!(frame.stored(0x7010, &words(&[NO_SNAPSHOT])), None);
        assert_eq!(frame.stored(0x7000, &words(&[0x400])), None);
        assert_eq!(frame.stored(0x7100, &words(&[1, 2])), None);
        assert_eq!(frame.stored(0x7008, &words(&[24])), Some((0x400, 24)));
        let mut at_once = Frame::default();
        assert_eq!(
            at_once.stored(0x7000, &words(&[0x400, 24, NO_SNAPSHOT | 1])),
            Some((0x400, 24))
        );
    }

    #[test]
    fn what_is_copied_or_is_no_range_is_none() {
        for values in [
            [0x400, 24, 0],
            [0x400, 24, 6],
            [0x400, 24, 1 << 40 | 4],
            [0, 24, 4],
            [0x400, 0, 4],
        ] {
            assert_eq!(
                Frame::default().stored(0x7000, &words(&values)),
                None,
                "{values:?}"
            );
        }
        let mut apart = Frame::default();
        apart.stored(0x7000, &words(&[0x400, 24]));
        assert_eq!(apart.stored(0x7018, &words(&[NO_SNAPSHOT])), None);
    }
}
