//! Long accesses as several operations, so that a unit may begin and end within one.

use prestore_sim::{Op, OpKind};
use prestore_trace::container::further_lines;

/// What one operation of a sample touches, bytes; the last of several up to twice as many.
const PIECE: u64 = 4096;

/// As how many operations `op` counts in a sample: one, or the lines of a long access; none where it only tells of the order
/// between threads.
pub(super) fn weight(op: &Op) -> u64 {
    match op.kind {
        OpKind::HandOff | OpKind::Await | OpKind::Acquire | OpKind::Release => 0,
        _ => 1 + lines(op),
    }
}

fn lines(op: &Op) -> u64 {
    match op.kind {
        OpKind::Load | OpKind::Store | OpKind::NtStore | OpKind::Atomic => {
            further_lines(op.size.into())
        }
        _ => 0,
    }
}

/// One core's operations that were read and not given.
#[derive(Debug, Default)]
pub(super) struct Held {
    ops: Vec<Op>,
    /// So many of them were given.
    given: usize,
    /// What the others count as.
    weight: u64,
    /// How many events of the recording those are, long ones not counted.
    events: u64,
}

impl Held {
    /// As how many operations those held count.
    pub(super) fn weight(&self) -> u64 {
        self.weight
    }

    /// Are there none, such included that count as nothing?
    pub(super) fn is_empty(&self) -> bool {
        self.given == self.ops.len()
    }

    /// How many events of the recording they are, long ones not counted.
    pub(super) fn events(&self) -> u64 {
        self.events
    }

    /// Takes what stands in `ops` from `from` on, where there are long accesses in it, as pieces of some [`PIECE`] bytes, or where it
    /// is more than `enough`, and says how many lines more than operations there are. Leaves other operations where they are. To be
    /// called where none are held.
    pub(super) fn take(&mut self, ops: &mut Vec<Op>, from: usize, enough: u64) -> u64 {
        let fresh = &ops[from..];
        let further: u64 = fresh.iter().map(lines).sum();
        if further == 0 && fresh.len() as u64 <= enough {
            return 0;
        }
        self.ops.clear();
        self.given = 0;
        self.weight = fresh.iter().map(weight).sum();
        self.events = single(fresh);
        if further == 0 {
            self.ops.extend_from_slice(fresh);
        } else {
            fresh.iter().for_each(|&op| self.push(op));
        }
        ops.truncate(from);
        further
    }

    fn push(&mut self, op: Op) {
        if lines(&op) == 0 || u64::from(op.size) <= PIECE {
            self.ops.push(op);
            return;
        }
        let (mut addr, mut left) = (op.addr, u64::from(op.size));
        while left > 0 {
            // A last piece of a few bytes would not count as what it has of the whole.
            let bytes = if left < 2 * PIECE { left } else { PIECE };
            let size = bytes as u32;
            self.ops.push(Op { addr, size, ..op });
            addr = addr.wrapping_add(bytes);
            left -= bytes;
        }
    }

    /// Gives of what is held what counts as `enough` or a piece more.
    pub(super) fn give(&mut self, ops: &mut Vec<Op>, enough: u64) {
        let (mut end, mut given) = (self.given, 0);
        while given < enough
            && let Some(op) = self.ops.get(end)
        {
            given += weight(op);
            end += 1;
        }
        let gives = &self.ops[self.given..end];
        self.events = self.events.saturating_sub(single(gives));
        ops.extend_from_slice(gives);
        self.weight = self.weight.saturating_sub(given);
        self.given = end;
    }
}

/// How many of `ops` count as one.
fn single(ops: &[Op]) -> u64 {
    ops.iter().filter(|op| weight(op) == 1).count() as u64
}

#[cfg(test)]
mod tests {
    use prestore_trace::SiteId;

    use super::*;

    fn store(addr: u64, size: u32) -> Op {
        Op {
            instr: addr,
            addr,
            size,
            site: SiteId::NONE,
            kind: OpKind::Store,
            after: 0,
        }
    }

    #[test]
    fn pieces_are_the_whole_and_count_as_it_does() {
        for size in [257, 4096, 4097, 8191, 8192, 8193, 1_000_001] {
            let whole = store(100, size);
            let mut ops = vec![store(0, 8), whole];
            let mut held = Held::default();
            assert_eq!(
                held.take(&mut ops, 1, 100),
                u64::from(size).div_ceil(64) - 1
            );
            assert_eq!(held.weight(), weight(&whole));
            while held.weight() > 0 {
                let (before, from) = (held.weight(), ops.len());
                held.give(&mut ops, 100);
                let given: u64 = ops[from..].iter().map(weight).sum();
                assert_eq!(held.weight() + given, before);
                assert!(given >= 100 || held.weight() == 0);
            }
            let mut at = 100;
            for piece in &ops[1..] {
                assert_eq!((piece.addr, piece.instr), (at, whole.instr));
                assert!(u64::from(piece.size) < 2 * PIECE);
                at += u64::from(piece.size);
            }
            assert_eq!(at, 100 + u64::from(size), "{size}");
        }
    }

    #[test]
    fn of_many_short_ones_those_behind_are_held_and_order_alone_counts_as_nothing() {
        let wait = Op {
            kind: OpKind::Await,
            ..store(8, 0)
        };
        let mut ops = vec![store(0, 8), wait, store(16, 8), store(24, 8), wait];
        let mut held = Held::default();
        assert_eq!(held.take(&mut ops, 1, 1), 0);
        assert_eq!((ops.len(), held.weight(), held.events()), (1, 2, 2));
        held.give(&mut ops, 1);
        assert_eq!((ops.len(), held.weight(), held.events()), (3, 1, 1));
        held.give(&mut ops, 9);
        assert_eq!(
            (held.weight(), held.events(), held.is_empty()),
            (0, 0, true)
        );
    }

    #[test]
    fn short_accesses_stay() {
        let mut ops = vec![store(0, 8), store(8, 256)];
        let mut held = Held::default();
        assert_eq!(held.take(&mut ops, 0, 2), 0);
        assert_eq!((ops.len(), held.weight()), (2, 0));
    }
}
