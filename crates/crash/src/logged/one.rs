//! The log of one image while it grows.

use prestore_trace::ThreadId;

use super::{KERNEL, Logged};
use crate::finding::{First, Spot};
use crate::line::LINE;
use crate::regions::Piece;
use crate::survive::Log;

/// An image, from the beginning of its first line.
#[derive(Debug, Default)]
pub(super) struct One {
    log: Log,
    /// What it holds when all has happened so far.
    now: Vec<u8>,
    /// Of which bytes that is known from the beginning.
    known: Vec<bool>,
    pad: usize,
    /// Threads whose next fence counts.
    fences: Vec<ThreadId>,
    stores: u64,
    /// Where it begins in its owner's memory.
    origin: Option<u64>,
    /// There are several, of one owner: allocations.
    pub(super) several: bool,
}

impl One {
    /// `piece` is part of it.
    pub(super) fn grow(&mut self, piece: Piece) {
        let origin = piece.at.wrapping_sub(piece.offset);
        self.several |= *self.origin.get_or_insert(origin) != origin;
        self.pad = (origin % LINE) as usize;
        let end = self.place(piece) + piece.size as usize;
        if end > self.now.len() {
            self.log.grow(end);
            self.now.resize(end, 0);
            self.known.resize(end, false);
        }
    }

    /// Where in the log's memory.
    fn place(&self, piece: Piece) -> usize {
        piece.offset as usize + self.pad
    }

    pub(super) fn store(
        &mut self,
        (thread, tag): (ThreadId, u32),
        piece: Piece,
        bytes: &[u8],
        around: bool,
    ) {
        self.grow(piece);
        let at = self.place(piece);
        self.now[at..at + bytes.len()].copy_from_slice(bytes);
        self.stores += 1;
        self.log.thread(thread.0).tag(tag);
        if around {
            self.log.store_around(at as u64, bytes);
            self.waits(thread);
        } else {
            self.log.store(at as u64, bytes);
        }
    }

    pub(super) fn flush(&mut self, (thread, tag): (ThreadId, u32), piece: Piece, alone: bool) {
        let at = self.place(piece) as u64;
        self.log.thread(thread.0).tag(tag);
        if alone {
            self.log.flush_now(at);
        } else {
            self.log.flush(at);
            self.waits(thread);
        }
    }

    fn waits(&mut self, thread: ThreadId) {
        if !self.fences.contains(&thread) {
            self.fences.push(thread);
        }
    }

    /// Does a fence of `thread` count?
    pub(super) fn awaits(&self, thread: ThreadId) -> bool {
        self.fences.contains(&thread)
    }

    /// Fences that nothing waits for are left out.
    pub(super) fn fence(&mut self, (thread, tag): (ThreadId, u32)) {
        if let Some(waiting) = self.fences.iter().position(|t| *t == thread) {
            self.fences.swap_remove(waiting);
            self.log.thread(thread.0).tag(tag).fence();
        }
    }

    pub(super) fn synced(&mut self, piece: Piece) {
        let at = self.place(piece) as u64;
        self.log.tag(KERNEL).sync(at, piece.size);
    }

    /// What `piece` held when it was mapped. Where that is known already, a system call has changed the
    /// file in between, and it is taken for persistent.
    pub(super) fn held(&mut self, piece: Piece, bytes: &[u8]) {
        self.grow(piece);
        let first = self.place(piece);
        let mut at = 0;
        while at < bytes.len() {
            let known = self.known[first + at];
            let same = |i: &usize| self.known[first + i] == known;
            let run = (at..bytes.len()).take_while(same).count();
            let (place, new) = (first + at, &bytes[at..at + run]);
            at += run;
            if known && self.now[place..place + run] == *new {
                continue;
            }
            if known {
                self.log.tag(KERNEL).store(place as u64, new);
                self.log.sync(place as u64, run as u64);
            } else {
                self.log.begin_with(place, new);
                self.known[place..place + run].fill(true);
            }
            self.now[place..place + run].copy_from_slice(new);
        }
    }

    pub(super) fn is_stored_to(&self) -> bool {
        self.stores > 0
    }

    pub(super) fn logged(
        self,
        name: String,
        (origins, spots): (Vec<(u32, First)>, Vec<Spot>),
        unknown_stores: u64,
    ) -> Logged {
        let unknown = self.known[self.pad.min(self.known.len())..].iter();
        Logged {
            name,
            unknown: unknown.filter(|k| !**k).count() as u64,
            log: self.log,
            origins,
            spots,
            pad: self.pad,
            unknown_stores,
        }
    }
}
