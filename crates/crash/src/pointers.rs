//! Pointers into persistent memory that are persistent before what they point to.
//!
//! A word of an image whose value is an address in an image is taken for a pointer. When a fence makes it persistent, what it
//! points to has to be persistent, too, if it is new: bytes that were stored, of which (and of what the same store changes of
//! their word) a power cut has never kept anything but zeros. Data that was persistent before and is changed again is no concern of its pointers, nor are lines that the
//! same fence completes.
//!
//! Of what a pointer points to only the beginning is looked at ([`BEGINNING`]): how much belongs to it is not known, and its
//! neighbour may rightly be unfinished.

use rustc_hash::FxHashMap;

use crate::finding::At;
use crate::line::{LINE, mask};
use crate::memory::Key;
use crate::regions::{Piece, Regions};
use crate::survive::WORD;
use crate::values::{Held, Stored};

/// Bytes of what is pointed to: as much as the smallest block that allocators hand out, and begin at its multiples; else a word.
const BEGINNING: u64 = 16;

/// A word that holds an address of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pointer {
    /// First byte in its line.
    from: u64,
    /// The line that it points to, and the bytes there.
    pub(crate) to: Key,
    pub(crate) bytes: u64,
    /// Who stored it.
    pub(crate) at: At,
}

/// What is known of a line's bytes, a bit each.
#[derive(Debug, Default)]
struct Words {
    /// Something else than zero was stored there last.
    some: u64,
    /// That was persistent, now or earlier.
    kept: u64,
    /// Those that are not persistent yet.
    pointers: Vec<Pointer>,
}

/// Of all images. Memory: some 70 bytes for each line that was stored to.
#[derive(Debug, Default)]
pub(crate) struct Pointers {
    lines: FxHashMap<Key, Words>,
}

impl Pointers {
    /// Bytes were stored; `space`: of the process that did so.
    pub(crate) fn stored(&mut self, stored: &Stored<'_>, space: &Regions) {
        for part in stored.piece.lines() {
            let bytes = &stored.bytes[part.further as usize..][..part.size as usize];
            let words = self.lines.entry(part.key).or_default();
            words.write(part.from, bytes);
            let first = part.from.next_multiple_of(WORD) - part.from;
            let rest = bytes.get(first as usize..).unwrap_or_default();
            for (number, word) in (0..).zip(rest.as_chunks::<{ WORD as usize }>().0) {
                let Some((to, bytes)) = target(u64::from_le_bytes(*word), space) else {
                    continue;
                };
                if to != part.key {
                    let (from, at) = (part.from + first + number * WORD, stored.at);
                    let pointer = Pointer {
                        from,
                        to,
                        bytes,
                        at,
                    };
                    words.pointers.push(pointer);
                }
            }
        }
    }

    /// It was there, and a power cut leaves it.
    pub(crate) fn held(&mut self, held: &Held) {
        let Some(bytes) = &held.bytes else {
            // What was there before has been replaced by zeros: nothing of it is kept.
            return self.forget(held.piece);
        };
        for part in held.piece.lines() {
            let bytes = &bytes[part.further as usize..][..part.size as usize];
            if bytes.iter().any(|b| *b != 0) || self.lines.contains_key(&part.key) {
                let words = self.lines.entry(part.key).or_default();
                words.write(part.from, bytes);
                words.kept |= words.some & mask(part.from, part.size);
            }
        }
    }

    /// The whole lines of `piece` hold zeros.
    fn forget(&mut self, piece: Piece) {
        let whole = piece.at.div_ceil(LINE)..(piece.at + piece.size) / LINE;
        self.lines
            .retain(|&(owner, line), _| owner != piece.owner || !whole.contains(&line));
    }

    /// `bytes` of the line are persistent; `now` gets the pointers among them.
    pub(crate) fn persistent(&mut self, line: Key, bytes: u64, now: &mut Vec<Pointer>) {
        if let Some(words) = self.lines.get_mut(&line) {
            words.kept |= bytes & words.some;
            let is_in = |p: &mut Pointer| bytes >> p.from & 1 != 0;
            now.extend(words.pointers.extract_if(.., is_in));
        }
    }

    /// The same by a flush that needs no fence. What is stored after it where they point to is no concern of theirs.
    pub(crate) fn persistent_alone(&mut self, line: Key, bytes: u64, now: &mut Vec<Pointer>) {
        let known = now.len();
        self.persistent(line, bytes, now);
        for pointer in &mut now[known..] {
            pointer.bytes = self.new_in(pointer.to, pointer.bytes);
        }
    }

    /// Those of `bytes` of which a power cut never kept anything but zeros, and that hold something else now.
    pub(crate) fn new_in(&self, line: Key, bytes: u64) -> u64 {
        let words = self.lines.get(&line);
        words.map_or(0, |w| bytes & w.some & !w.kept)
    }
}

impl Words {
    fn write(&mut self, from: u64, bytes: &[u8]) {
        let written = mask(from, bytes.len() as u64);
        self.pointers.retain(|p| written & mask(p.from, WORD) == 0);
        let some = (0..).zip(bytes).filter(|(_, b)| **b != 0);
        let some = some.fold(0, |some, (i, _)| some | 1 << (from + i));
        self.some = self.some & !written | some;
        // A counter that grows by a byte is the counter that was there.
        for word in (0..LINE).step_by(WORD as usize) {
            let stored = written & mask(word, WORD);
            if self.kept & stored != 0 {
                self.kept |= stored & self.some;
            }
        }
    }
}

/// The beginning of what `value` points to, if that is in an image: its line, and the bytes.
fn target(value: u64, space: &Regions) -> Option<(Key, u64)> {
    let mut found = None;
    space.pieces(value, 1, |piece| {
        let (line, from) = (piece.at / LINE, piece.at % LINE);
        let size = match from % BEGINNING {
            0 => BEGINNING,
            _ => WORD.min(LINE - from),
        };
        found = Some(((piece.owner, line), mask(from, size)));
    });
    found
}
