//! What stores to persistent memory have written, and what it held before: of recordings with values.

mod known;

use prestore_replay::Executor;
use prestore_trace::block::Block;
use prestore_trace::content::{Content, Why};
use prestore_trace::replay::NodeId;
use prestore_trace::{SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::finding::{At, First};
use crate::regions::{Piece, Regions};
use known::Known;

/// A store to persistent memory, as far as it is in one region.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored<'a> {
    pub(crate) at: At,
    pub(crate) first: First,
    pub(crate) piece: Piece,
    pub(crate) bytes: &'a [u8],
    /// It goes around the caches.
    pub(crate) around: bool,
}

/// What a piece of persistent memory held when it was mapped.
#[derive(Clone, Debug)]
pub(crate) struct Held {
    pub(crate) piece: Piece,
    /// None: they are zeros, as those of large new files, which would take much room.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// What came of one record.
#[derive(Clone, Debug)]
pub(crate) enum Come<'a> {
    Stored(Stored<'a>),
    /// As if the system call had stored it: no instruction has.
    Written(Stored<'a>),
    Held(Held),
}

/// Of all threads.
#[derive(Debug, Default)]
pub(crate) struct Values {
    known: FxHashMap<ThreadId, Known>,
}

impl Values {
    /// A thread executes `block`: its stores come, by [`Values::store`], those that `matters` says of by address and bytes.
    pub(crate) fn exec(
        &mut self,
        who: Executor<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
        matters: impl Fn(u64, u64) -> bool,
    ) {
        let known = self.known.entry(who.thread).or_default();
        let instr = (before, executed);
        known.exec(who.table.xsave(), instr, block, values, matters);
    }

    /// The `size` bytes at `addr` that `first.instr` stores are persistent memory where `space` says so. What
    /// comes behind its execution only is left to [`Values::content`]. `around`: around the caches.
    pub(crate) fn store(
        &mut self,
        (at, first): (At, First),
        (addr, size): (u64, u64),
        around: bool,
        space: &Regions,
        mut come: impl FnMut(Stored<'_>),
    ) {
        let Some(known) = self.known.get_mut(&first.thread) else {
            return;
        };
        match known.take(first.instr, addr, size) {
            Some(bytes) => pieces((at, first), (addr, &bytes), around, space, &mut come),
            None => known.awaited(at.site, first, around),
        }
    }

    /// What `first.instr` has stored at `addr`, where that is known at once and is no image's.
    pub(crate) fn own(&mut self, first: First, addr: u64, size: u64) -> Option<Vec<u8>> {
        self.known
            .get_mut(&first.thread)?
            .take(first.instr, addr, size)
    }

    /// What `piece`, which is there now, held before, where that has come already.
    pub(crate) fn mapped(&self, thread: ThreadId, piece: Piece) -> impl Iterator<Item = Held> {
        let earlier = self.known.get(&thread).map(Known::images);
        (earlier.into_iter().flatten())
            .filter_map(move |(addr, bytes)| part_of(piece, *addr, bytes))
    }

    /// What memory holds, beside what stores did when they were executed. `last`: what the thread has executed last, where the
    /// kernel has written the system call, and where that is in the calls.
    pub(crate) fn content(
        &mut self,
        content: &Content<'_>,
        (last, node): (Option<(SiteId, First)>, NodeId),
        thread: ThreadId,
        space: &Regions,
        mut come: impl FnMut(Come<'_>),
    ) {
        let known = self.known.entry(thread).or_default();
        if content.why == Why::Stored {
            for (awaited, addr, bytes) in known.content(content) {
                let site = awaited.site;
                let of = (At { site, node }, awaited.first);
                let mut come = |stored: Stored<'_>| come(Come::Stored(stored));
                pieces(of, (addr, &bytes), awaited.around, space, &mut come);
            }
        }
        if !matches!(content.why, Why::Kernel | Why::Image) {
            return;
        }
        if let (Why::Kernel, Some((site, first))) = (content.why, last) {
            let bytes = bytes_of(content.data, content.len);
            let mut come = |written: Stored<'_>| come(Come::Written(written));
            let of = (At { site, node }, first);
            pieces(of, (content.addr, &bytes), false, space, &mut come);
            return;
        }
        let mut any = false;
        space.pieces(content.addr, content.len, |piece| {
            any = true;
            come(Come::Held(Held {
                piece,
                bytes: (!content.data.is_empty()).then(|| part(content, piece.addr, piece.size)),
            }));
        });
        if !any && content.why == Why::Image {
            known.image(content);
        }
    }

    /// Stores of which it will not be known any more what they stored.
    pub(crate) fn lost(&self) -> u64 {
        self.known.values().map(|k| k.lost).sum()
    }
}

/// The parts of a store that lie in regions.
fn pieces(
    (at, first): (At, First),
    (addr, bytes): (u64, &[u8]),
    around: bool,
    space: &Regions,
    come: &mut impl FnMut(Stored<'_>),
) {
    space.pieces(addr, bytes.len() as u64, |piece| {
        let from = (piece.addr - addr) as usize;
        come(Stored {
            at,
            first: First {
                address: piece.addr,
                offset: piece.offset,
                ..first
            },
            piece,
            bytes: &bytes[from..from + piece.size as usize],
            around,
        });
    });
}

/// That part of `bytes` at `addr` which is in `piece`.
fn part_of(piece: Piece, addr: u64, bytes: &[u8]) -> Option<Held> {
    let first = addr.max(piece.addr);
    let end = (addr + bytes.len() as u64).min(piece.addr + piece.size);
    (first < end).then(|| {
        let further = first - piece.addr;
        Held {
            piece: Piece {
                at: piece.at + further,
                size: end - first,
                addr: first,
                offset: piece.offset + further,
                ..piece
            },
            bytes: Some(bytes[(first - addr) as usize..(end - addr) as usize].to_vec()),
        }
    })
}

/// The `size` bytes at `addr` of what `content` says.
fn part(content: &Content<'_>, addr: u64, size: u64) -> Vec<u8> {
    let from = (addr - content.addr) as usize;
    let words = content.data.iter().skip(from / 8);
    let bytes = words.flat_map(|w| w.to_le_bytes()).skip(from % 8);
    bytes
        .chain(std::iter::repeat(0))
        .take(size as usize)
        .collect()
}

/// The first `len` bytes of `data`, and zeros behind.
fn bytes_of(data: &[u64], len: u64) -> Vec<u8> {
    let bytes = data.iter().flat_map(|w| w.to_le_bytes());
    bytes
        .chain(std::iter::repeat(0))
        .take(len as usize)
        .collect()
}
