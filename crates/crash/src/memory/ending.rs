//! What waits when nobody will flush it any more.

use prestore_trace::ThreadId;
use rustc_hash::FxHashMap;

use super::{Key, Memory};
use crate::finding::{At, FindingKind};
use crate::ledger::{Ledger, Occurrence};
use crate::line::{LINE, Line, mask};
use crate::regions::Piece;
use crate::under_way::Pending;
use crate::write::{State, Write};

impl Memory {
    /// `piece` is freed: what waits there will not be flushed any more.
    pub(crate) fn freed(&mut self, piece: Piece, threads: &FxHashMap<ThreadId, Pending>) {
        let mut lost = Vec::new();
        self.take(piece, |_, write, _| lost.push(write.clone()));
        self.missing(piece.owner, None, &lost, threads);
    }

    /// The program has ended.
    pub(crate) fn end(mut self, threads: &FxHashMap<ThreadId, Pending>) -> Ledger {
        (self.pointers, self.contents) = (None, None);
        let mut keys: Vec<Key> = self.lines.keys().copied().collect();
        keys.sort_unstable();
        for key in keys {
            if let Some(line) = self.lines.remove(&key) {
                self.missing(key.0, line.last_flush, &line.writes, threads);
            }
        }
        self.ledger.keep_worse();
        self.ledger
    }

    /// Takes the bytes of `piece` out of what waits.
    pub(super) fn take(&mut self, piece: Piece, mut taken: impl FnMut(Key, &Write, u64)) {
        let (first, last) = (piece.at / LINE, (piece.at + piece.size - 1) / LINE);
        let mut one = |number: u64, line: &mut Line| {
            let start = (number * LINE).max(piece.at);
            let end = ((number + 1) * LINE).min(piece.at + piece.size);
            let bytes = mask(start % LINE, end - start);
            for write in line.writes.iter_mut().filter(|w| w.bytes & bytes != 0) {
                taken((piece.owner, number), write, bytes & write.bytes);
                write.bytes &= !bytes;
            }
            line.writes.retain(|w| w.bytes != 0);
        };
        if last - first < self.lines.len() as u64 {
            for number in first..=last {
                if let Some(line) = self.lines.get_mut(&(piece.owner, number)) {
                    one(number, line);
                }
            }
            return;
        }
        for (&(owner, number), line) in &mut self.lines {
            if owner == piece.owner && (first..=last).contains(&number) {
                one(number, line);
            }
        }
    }

    fn missing(
        &mut self,
        owner: u32,
        last_flush: Option<At>,
        writes: &[Write],
        threads: &FxHashMap<ThreadId, Pending>,
    ) {
        for write in writes.iter().filter(|w| w.bytes & !w.same != 0) {
            let thread = threads.get(&write.first.thread);
            let (kind, flush, fence) = match &write.state {
                State::Dirty { told: true, .. } => continue,
                State::Dirty { .. } => {
                    let nearest = last_flush.or(thread.and_then(|t| t.last_flush));
                    (FindingKind::MissingFlush, nearest, write.fence)
                }
                State::Flushed { flush, by } => {
                    let flusher = by.first().and_then(|t| threads.get(t));
                    let before = flusher.and_then(|t| t.last_fence);
                    (FindingKind::MissingFence, Some(*flush), before)
                }
            };
            self.ledger.add(Occurrence {
                kind,
                image: Some(self.owners[owner as usize]),
                at: write.at,
                count: write.stores,
                first: write.first,
                flush,
                fence,
                pointer: None,
                transaction: None,
            });
        }
    }
}
