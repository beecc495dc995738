//! The lines of all images, and what threads have under way to them.

mod ending;
mod unstored;

use prestore_trace::ThreadId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contents::Contents;
use crate::finding::{At, FindingKind, First};
use crate::image::Domain;
use crate::ledger::{Ledger, Occurrence};
use crate::line::{Line, Met, mask};
use crate::pointers::{Pointer, Pointers};
use crate::regions::{Piece, Regions};
use crate::transactions::Unlogged;
use crate::under_way::{Orders, Pending, Store};
use crate::values::{Held, Stored};
use crate::write::{State, Write};
use unstored::Unstored;

/// A line: whose memory, and which.
pub(crate) type Key = (u32, u64);

/// A flush with nothing to write back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Redundant {
    pub(crate) at: At,
    pub(crate) first: First,
    pub(crate) owner: u32,
    /// The flush or non-temporal store that had written the line back before.
    pub(crate) before: Option<At>,
    /// Another thread had stored to the line last: who flushes what it reads may come first, too.
    pub(crate) of_another: bool,
}

/// All persistent memory. Lines that have been flushed are kept for what is said of the next flush.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) domain: Domain,
    /// Those that were stored to.
    lines: FxHashMap<Key, Line>,
    unstored: Unstored,
    /// Which image an owner of lines belongs to.
    owners: Vec<usize>,
    /// Images of which something was stored or flushed.
    touched: FxHashSet<usize>,
    /// Something of an image was flushed, or written back by `msync`.
    pub(crate) any_flush: bool,
    /// How often lines of an image were flushed where.
    pub(crate) flushes: FxHashMap<(At, usize), u64>,
    /// How often something was stored to an image where, a line at a time.
    pub(crate) stores: FxHashMap<(At, usize), u64>,
    /// How often a flush had nothing to write back of a line that another thread had stored to last.
    pub(crate) of_another: FxHashMap<(At, usize), u64>,
    pub(crate) ledger: Ledger,
    /// Where it is known what is stored, and it matters what is persistent first.
    pointers: Option<Pointers>,
    /// The same: what is there.
    contents: Option<Contents>,
}

impl Memory {
    pub(crate) fn new(domain: Domain, values: bool) -> Self {
        Self {
            domain,
            pointers: (values && domain == Domain::Adr).then(Pointers::default),
            contents: (values && domain == Domain::Adr).then(Contents::default),
            lines: FxHashMap::default(),
            owners: Vec::new(),
            touched: FxHashSet::default(),
            any_flush: false,
            flushes: FxHashMap::default(),
            stores: FxHashMap::default(),
            of_another: FxHashMap::default(),
            unstored: Unstored::default(),
            ledger: Ledger::default(),
        }
    }

    /// A new owner of lines, of `image`.
    pub(crate) fn owner(&mut self, image: usize) -> u32 {
        self.owners.push(image);
        self.owners.len() as u32 - 1
    }

    /// The image of `owner`.
    pub(crate) fn image(&self, owner: u32) -> usize {
        self.owners[owner as usize]
    }

    /// The images of which something was stored or flushed.
    pub(crate) fn touched(&self) -> FxHashSet<usize> {
        self.touched.clone()
    }

    pub(crate) fn store(&mut self, pending: &mut Pending, store: Store, piece: Piece) {
        pending.stored = true;
        let image = self.owners[piece.owner as usize];
        self.touched.insert(image);
        // What the caches have is safe; what was to be written around them there before is not any more.
        let cached_is_safe = self.domain == Domain::Eadr;
        let stores = self.stores.entry((store.at, image)).or_default();
        for part in piece.lines() {
            *stores += 1;
            let first = First {
                address: piece.addr + part.further,
                offset: piece.offset + part.further,
                ..store.first
            };
            let state = if store.non_temporal {
                let (flush, by) = (store.at, vec![store.first.thread]);
                State::Flushed { flush, by }
            } else {
                State::Dirty {
                    over: None,
                    past: None,
                    told: false,
                }
            };
            let line = self
                .lines
                .entry(part.key)
                .or_insert_with(|| Line::new(self.unstored.taken(part.key)));
            let write = Write {
                at: store.at,
                first,
                stores: 1,
                bytes: mask(part.from, part.size),
                same: 0,
                state,
                fence: None,
                is_pointed_to: false,
            };
            line.store(write, !cached_is_safe);
            if cached_is_safe {
                (line.writes).retain(|w| matches!(w.state, State::Flushed { .. }));
            }
            pending.note(part.key);
        }
    }

    /// What a store has written is known, behind [`Memory::store`]. `space`: of its process.
    pub(crate) fn stored(&mut self, stored: &Stored<'_>, space: &Regions) {
        if let Some(pointers) = &mut self.pointers {
            pointers.stored(stored, space);
        }
        let Some(contents) = &mut self.contents else {
            return;
        };
        for part in stored.piece.lines() {
            let bytes = &stored.bytes[part.further as usize..][..part.size as usize];
            let same = contents.stored(part, bytes);
            if let Some(line) = self.lines.get_mut(&part.key).filter(|_| same != 0) {
                line.is_same(stored.at, same);
            }
        }
    }

    /// What is there without a store.
    pub(crate) fn held(&mut self, held: &Held) {
        if let Some(pointers) = &mut self.pointers {
            pointers.held(held);
        }
        if let Some(contents) = &mut self.contents {
            contents.held(held);
        }
    }

    /// `first` flushes a line, of which `pieces` are what is persistent, see [`Regions::line`]. `alone`: no fence is needed. Answers
    /// where it is redundant.
    pub(crate) fn flush(
        &mut self,
        pending: &mut Pending,
        at: At,
        first: First,
        pieces: &[Piece],
        alone: bool,
    ) -> Option<Redundant> {
        self.any_flush |= !pieces.is_empty();
        let (mut met, mut in_vain) = (Met::Nothing, None);
        for piece in pieces {
            let (met_here, before, of_another) =
                self.flush_line(pending, at, first.thread, piece.key(), alone);
            if met_here == Met::Work {
                met = Met::Work;
            }
            // Beside what is flushed is other memory, of which nobody said that it is persistent.
            if piece.addr == first.address {
                let image = self.owners[piece.owner as usize];
                self.touched.insert(image);
                *self.flushes.entry((at, image)).or_default() += 1;
                in_vain = Some((piece, before, of_another));
            }
        }
        let (piece, before, of_another) = in_vain.filter(|_| met == Met::Nothing)?;
        let first = First {
            offset: piece.offset,
            ..first
        };
        let owner = piece.owner;
        Some(Redundant {
            at,
            first,
            owner,
            before,
            of_another,
        })
    }

    /// Flushes a line; answers what that met, what had written the line back before, and whether another thread had stored to
    /// it last.
    fn flush_line(
        &mut self,
        pending: &mut Pending,
        at: At,
        thread: ThreadId,
        key: Key,
        alone: bool,
    ) -> (Met, Option<At>, bool) {
        pending.last_flush = Some(at);
        let Some(line) = self.lines.get_mut(&key) else {
            return (Met::Nothing, self.unstored.flushed(key, at), false);
        };
        let before = line.last_written_back();
        let of_another = line.is_of_another(thread);
        let waiting = line.writes.iter().fold(0, |all, w| all | w.bytes);
        if alone && let Some(pointers) = &mut self.pointers {
            pointers.persistent_alone(key, waiting, &mut pending.pointers);
        }
        if alone && let Some(contents) = &mut self.contents {
            contents.persistent(key, waiting);
        }
        let met = match self.domain {
            Domain::Adr => line.flush(thread, at, alone),
            Domain::Eadr => Met::Nothing,
        };
        match met {
            Met::Work => pending.note(key),
            Met::Nothing => line.flushed(at),
        }
        (met, before, of_another)
    }

    /// It had nothing to write back.
    pub(crate) fn redundant(&mut self, flush: Redundant) {
        let image = self.image(flush.owner);
        if flush.of_another {
            *self.of_another.entry((flush.at, image)).or_default() += 1;
        }
        self.ledger.add(Occurrence {
            kind: FindingKind::RedundantFlush,
            image: Some(image),
            at: flush.at,
            count: 1,
            first: flush.first,
            flush: flush.before,
            fence: None,
            pointer: None,
            transaction: None,
        });
    }

    /// What orders stores completes what the thread has flushed.
    pub(crate) fn fence(&mut self, pending: &mut Pending, at: At, first: First, by: Orders) {
        if by == Orders::Told && !pending.flushed && !pending.stored {
            self.ledger.add(Occurrence {
                kind: FindingKind::RedundantFence,
                image: None,
                at,
                count: 1,
                first,
                flush: None,
                fence: pending.last_fence,
                pointer: None,
                transaction: None,
            });
        }
        // Which of several lines that are flushed alone comes first matters to nobody who fences behind them.
        let pointers = std::mem::take(&mut pending.pointers);
        let mut through = Vec::new();
        let mut lines = std::mem::take(&mut pending.lines);
        if by != Orders::Atomic {
            lines.append(&mut pending.past);
        }
        for key in lines {
            let (ledger, image) = (&mut self.ledger, Some(self.owners[key.0 as usize]));
            let Some(line) = self.lines.get_mut(&key) else {
                continue;
            };
            through.push((key, line.complete(first.thread)));
            if by == Orders::Atomic {
                if line.pass_atomic(first.thread) {
                    pending.past.push(key);
                }
                continue;
            }
            line.fence(first.thread, at, |write, flush| {
                ledger.add(Occurrence {
                    kind: FindingKind::Ordering,
                    image,
                    at: write.at,
                    count: write.stores,
                    first: write.first,
                    flush: Some(flush),
                    fence: Some(at),
                    pointer: None,
                    transaction: None,
                });
            });
        }
        self.persistent(&through, pointers, Some(at));
        if by != Orders::Atomic {
            (pending.flushed, pending.stored) = (false, false);
            pending.last_fence = Some(at);
        }
    }

    /// `msync` has written `piece` back.
    pub(crate) fn synced(&mut self, piece: Piece) {
        self.any_flush = true;
        let mut through = Vec::new();
        self.take(piece, |key, _, bytes| through.push((key, bytes)));
        self.persistent(&through, Vec::new(), None);
    }

    /// Bytes of these lines are persistent, all at once, by a fence or the kernel; `pointers` are so already.
    fn persistent(
        &mut self,
        through: &[(Key, u64)],
        mut pointers: Vec<Pointer>,
        fence: Option<At>,
    ) {
        let Some(known) = &mut self.pointers else {
            return;
        };
        for &(key, bytes) in through {
            known.persistent(key, bytes, &mut pointers);
            if let Some(contents) = &mut self.contents {
                contents.persistent(key, bytes);
            }
        }
        for pointer in pointers {
            let new = known.new_in(pointer.to, pointer.bytes);
            let Some(line) = self.lines.get_mut(&pointer.to).filter(|_| new != 0) else {
                continue;
            };
            for write in line.writes.iter_mut().filter(|w| w.bytes & new != 0) {
                if !std::mem::replace(&mut write.is_pointed_to, true) {
                    self.ledger.add(Occurrence {
                        kind: FindingKind::Ordering,
                        image: Some(self.owners[pointer.to.0 as usize]),
                        at: write.at,
                        count: write.stores,
                        first: write.first,
                        flush: None,
                        fence,
                        pointer: Some(pointer.at),
                        transaction: None,
                    });
                }
            }
        }
    }

    /// What is stored there was not added to the transaction that it is in.
    pub(crate) fn unlogged(&mut self, store: &Unlogged) {
        self.ledger.add(Occurrence {
            kind: FindingKind::Ordering,
            image: Some(self.image(store.owner)),
            at: store.at,
            count: store.stores,
            first: store.first,
            flush: None,
            fence: None,
            pointer: None,
            transaction: Some(store.begun),
        });
    }

    /// What was stored there at `at` is of an object that is not there any more.
    pub(crate) fn gone(&mut self, key: Key, at: At) {
        if let Some(line) = self.lines.get_mut(&key) {
            line.writes.retain(|w| w.at != at);
        }
    }
}
