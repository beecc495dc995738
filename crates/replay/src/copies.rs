//! Copies by one instruction (`rep movs`), which loads and stores by turns.
//!
//! A recording has such an instruction's loads as one access and its stores as another. All loads before the first store would bring
//! the whole source into the caches before anything is written, and take another time than the same copy in several instructions.

use prestore_sim::Op;
use prestore_trace::block::{Ref, RefMode};
use prestore_trace::replay::each_touch;
use prestore_trace::{EventKind, SiteId};

use crate::dataflow::From;
use crate::lane::{Lane, Make};

/// Bytes that are loaded, and stored, together. Processors take lines by turns; but a core knows by its size that a store is a string
/// instruction's, which need not read lines that it writes whole.
const PIECE: u64 = 256;
/// Pieces of a copy, but for one at each end: larger copies have larger ones, as all are operations at one time.
const MOST: u64 = 1 << 18;

/// What a copy reads, what it writes, and how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StringCopy {
    from: u64,
    to: u64,
    bytes: u64,
    /// Bytes of a piece.
    piece: u64,
}

impl StringCopy {
    /// The copy that the first two of `refs` are, if it has more than one piece.
    pub(crate) fn of(refs: &[Ref], values: &[u64]) -> Option<Self> {
        let [load, store, ..] = refs else { return None };
        let string = |r: &Ref| matches!(r.mode, RefMode::Rep { .. });
        let kinds = (load.kind, store.kind) == (EventKind::Load, EventKind::Store);
        if !kinds || load.instr != store.instr || !string(load) || !string(store) {
            return None;
        }
        let ((from, read), (to, bytes)) = (touched(load, values)?, touched(store, values)?);
        let piece = PIECE.max((bytes / MOST).next_multiple_of(PIECE));
        (read == bytes && bytes > piece).then_some(Self {
            from,
            to,
            bytes,
            piece,
        })
    }

    /// Appends its loads and stores, which are the references `at` and the next; `after`: what each of them waits for.
    pub(crate) fn append(
        self,
        lane: &mut Lane,
        ops: &mut Vec<Op>,
        (at, instr, site): (usize, u64, SiteId),
        after: [From; 2],
    ) {
        let kinds = [EventKind::Load, EventKind::Store];
        for (from, to, size) in self.pieces() {
            for ((kind, after), addr) in kinds.into_iter().zip(after).zip([from, to]) {
                let known = ops.len();
                let make = Make::Event {
                    kind,
                    addr,
                    size,
                    site,
                };
                lane.part(instr, ops, make);
                for op in &mut ops[known..] {
                    op.after = lane.data.back(after);
                }
                if kind == EventKind::Load {
                    lane.data.loaded(at);
                }
            }
        }
        lane.passed(2, lane.instr(instr));
    }

    /// From where, to where, how many bytes, one after the other.
    fn pieces(self) -> impl Iterator<Item = (u64, u64, u64)> {
        let mut done = 0;
        std::iter::from_fn(move || {
            let to = self.to.wrapping_add(done);
            let bytes = (self.piece - to % self.piece).min(self.bytes - done);
            let piece = (self.from.wrapping_add(done), to, bytes);
            done += bytes;
            (bytes > 0).then_some(piece)
        })
    }
}

/// All that a string instruction's reference touches.
fn touched(r: &Ref, values: &[u64]) -> Option<(u64, u64)> {
    let mut all = None;
    each_touch(&[], r, values, |addr, size| all = Some((addr, size)));
    all
}
