//! One page of memory: what is known of it, and who has stored it last.

use super::order::{Order, Writer};

/// Bytes of a page.
pub const PAGE: u64 = 4096;

const SIZE: usize = PAGE as usize;
const WORD: usize = 8;

/// Who has stored a word last, and which of its bytes since then.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    writer: Writer,
    bytes: u8,
}

#[derive(Clone, Debug)]
pub(super) struct Page {
    bytes: Box<[u8; SIZE]>,
    /// A bit a byte.
    known: [u64; SIZE / 64],
    /// None, where there is but one thread.
    last: Option<Box<[Last; SIZE / WORD]>>,
}

impl Page {
    pub(super) fn new() -> Self {
        Self {
            bytes: Box::new([0; SIZE]),
            known: [0; SIZE / 64],
            last: None,
        }
    }

    pub(super) fn bytes(&self) -> &[u8; SIZE] {
        &self.bytes
    }

    pub(super) fn is_known(&self, at: usize) -> bool {
        self.known[at / 64] >> (at % 64) & 1 == 1
    }

    /// Sets `bytes` at `at`, in the order in which they come.
    pub(super) fn set(&mut self, at: usize, bytes: impl Iterator<Item = u8>) {
        let mut end = at;
        for (to, byte) in self.bytes[at..].iter_mut().zip(bytes) {
            *to = byte;
            end += 1;
        }
        for i in at..end {
            self.known[i / 64] |= 1 << (i % 64);
        }
    }

    pub(super) fn forget(&mut self, at: usize, end: usize) {
        for i in at..end {
            self.known[i / 64] &= !(1 << (i % 64));
        }
    }

    /// Is what is at `at` of a stretch that may as well come behind that of `now`?
    pub(super) fn may_stay(&self, at: usize, order: &Order, now: Writer) -> bool {
        let Some(last) = &self.last else { return false };
        let last = last[at / WORD];
        last.bytes >> (at % WORD) & 1 == 1 && order.overlap(last.writer, now)
    }

    /// Notes that `now` stores from `at` to `end`; gives `unordered` what it stores over at the same
    /// time: where, what was there, and whose it was.
    pub(super) fn note(
        &mut self,
        at: usize,
        end: usize,
        order: &Order,
        now: Writer,
        mut unordered: impl FnMut(usize, u8, Writer),
    ) {
        let last = (self.last).get_or_insert_with(|| Box::new([Last::default(); SIZE / WORD]));
        for word in at / WORD..end.div_ceil(WORD) {
            let first = at.max(word * WORD) - word * WORD;
            let behind = end.min((word + 1) * WORD) - word * WORD;
            let mask = (((1u16 << behind) - 1) & !((1u16 << first) - 1)) as u8;
            let before = last[word];
            if before.writer == now {
                last[word].bytes |= mask;
                continue;
            }
            last[word] = Last {
                writer: now,
                bytes: mask,
            };
            let both = before.bytes & mask;
            if both != 0 && order.overlap(before.writer, now) {
                for i in (0..WORD).filter(|i| both >> i & 1 == 1) {
                    unordered(word * WORD + i, self.bytes[word * WORD + i], before.writer);
                }
            }
        }
    }
}
