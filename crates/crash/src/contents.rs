//! What stores change of what a power cut would leave: of recordings with values.
//!
//! A store of what is there, and persistent, needs no flush: zeros to a new file, a lock that is released as it was found. A byte that
//! has held something else since it was persistent last counts as changed, whatever it holds now: the caches may have
//! written that back.

use rangemap::RangeSet;
use rustc_hash::FxHashMap;

use crate::line::{LINE, mask};
use crate::memory::Key;
use crate::regions::{Part, Piece};
use crate::values::Held;

/// A line.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    now: [u8; LINE as usize],
    /// Those that are, or were, not what a power cut would leave, a bit each.
    changed: u64,
}

const ZEROS: Bytes = Bytes {
    now: [0; LINE as usize],
    changed: 0,
};

/// Of all images. Memory: some 100 bytes for each line that does not hold zeros.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Others hold zeros, where it is known what they held first.
    lines: FxHashMap<Key, Bytes>,
    /// By owner of lines, of which bytes that is known.
    known: FxHashMap<u32, RangeSet<u64>>,
}

impl Contents {
    /// What `held` says was there, and a power cut leaves it.
    pub(crate) fn held(&mut self, held: &Held) {
        let Piece {
            owner, at, size, ..
        } = held.piece;
        if size == 0 {
            return;
        }
        self.known.entry(owner).or_default().insert(at..at + size);
        // Zeros without bytes: another file is in the place of what was there.
        let Some(bytes) = &held.bytes else {
            let whole = at.div_ceil(LINE)..(at + size) / LINE;
            (self.lines).retain(|&(of, line), _| of != owner || !whole.contains(&line));
            return;
        };
        for part in held.piece.lines() {
            let bytes = &bytes[part.further as usize..][..part.size as usize];
            // A second mapping shows what waits, too.
            let waits = self.lines.get(&part.key).map_or(0, |line| line.changed);
            self.write(part, bytes);
            self.persistent(part.key, mask(part.from, part.size) & !waits);
        }
    }

    /// `bytes` are stored to a part of a line. Answers which bytes of the line that does not change.
    pub(crate) fn stored(&mut self, part: Part, bytes: &[u8]) -> u64 {
        let at = part.key.1 * LINE + part.from;
        let range = at..at + part.size;
        let known = self.known.entry(part.key.0).or_default();
        let written = mask(part.from, part.size);
        if known.gaps(&range).next().is_some() {
            // What a power cut would leave of it is not known until it is persistent.
            known.insert(range);
            self.lines.entry(part.key).or_insert(ZEROS).changed |= written;
        }
        written & !self.write(part, bytes)
    }

    /// Answers which bytes of the line have changed since they were persistent last.
    fn write(&mut self, part: Part, bytes: &[u8]) -> u64 {
        if !self.lines.contains_key(&part.key) && bytes.iter().all(|b| *b == 0) {
            return 0;
        }
        let line = self.lines.entry(part.key).or_insert(ZEROS);
        for (at, byte) in (part.from..).zip(bytes) {
            let now = &mut line.now[at as usize];
            line.changed |= u64::from(*now != *byte) << at;
            *now = *byte;
        }
        line.changed
    }

    /// `bytes` of the line are what a power cut leaves.
    pub(crate) fn persistent(&mut self, key: Key, bytes: u64) {
        if let Some(line) = self.lines.get_mut(&key) {
            line.changed &= !bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(at: u64, size: u64) -> Piece {
        Piece {
            owner: 0,
            at,
            size,
            addr: at,
            offset: at,
        }
    }

    fn store(contents: &mut Contents, at: u64, bytes: &[u8]) -> u64 {
        let parts = piece(at, bytes.len() as u64).lines();
        parts.fold(0, |same, part| {
            let bytes = &bytes[part.further as usize..][..part.size as usize];
            same | contents.stored(part, bytes)
        })
    }

    fn zeros(size: u64) -> Contents {
        let mut contents = Contents::default();
        contents.held(&Held {
            piece: piece(0, size),
            bytes: None,
        });
        contents
    }

    #[test]
    fn zeros_over_zeros_change_nothing_and_take_no_room() {
        let mut contents = zeros(4096);
        assert_eq!(store(&mut contents, 8, &[0; 16]), 0xffff << 8);
        assert!(contents.lines.is_empty());
        assert_eq!(store(&mut contents, 8, &[0, 7, 0, 7]), 0b101 << 8);
    }

    #[test]
    fn what_was_something_else_meanwhile_has_changed_until_it_is_persistent() {
        let mut contents = zeros(4096);
        assert_eq!(store(&mut contents, 0, &[1]), 0);
        assert_eq!(store(&mut contents, 0, &[0]), 0, "1 may be in memory");
        contents.persistent((0, 0), 1);
        assert_eq!(store(&mut contents, 0, &[0]), 1);
    }

    #[test]
    fn nothing_is_said_of_what_nobody_knows() {
        let mut contents = zeros(64);
        assert_eq!(store(&mut contents, 60, &[0; 4]), 0xf << 60);
        assert_eq!(store(&mut contents, 64, &[0; 4]), 0);
        assert_eq!(store(&mut contents, 64, &[0; 4]), 0, "nor is the first");
        assert_eq!(store(&mut contents, 64, &[5; 4]), 0);
        contents.persistent((0, 1), 0xf);
        assert_eq!(store(&mut contents, 64, &[5; 4]), 0xf);
        contents.held(&Held {
            piece: piece(128, 8),
            bytes: Some(vec![9; 8]),
        });
        assert_eq!(store(&mut contents, 128, &[9, 9, 0]), 0b011);
    }

    #[test]
    fn a_second_mapping_makes_nothing_persistent() {
        let mut contents = zeros(64);
        store(&mut contents, 0, &[1]);
        contents.held(&Held {
            piece: piece(0, 64),
            bytes: Some([1; 64].to_vec()),
        });
        assert_eq!(store(&mut contents, 0, &[1, 1]), 0b10);
    }
}
