//! Pre-stores recorded on a machine with smaller lines than the simulated one's.

use prestore_sim::{Op, OpKind};
use prestore_trace::{DemoteKind, FlushKind};

/// Operations within which two flushes of one line belong to one call: more than a loop over an
/// element's lines stores between two of them.
const REACH: usize = 256;
/// Bytes of a line where recordings are made (x86-64).
const RECORDED: u64 = 64;
/// Lines remembered at once.
const LINES: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Flush(FlushKind),
    Demote(DemoteKind),
}

/// A flush that comes later in the thread.
struct Later {
    kind: Kind,
    line: u64,
    recorded: u64,
    index: usize,
}

/// Of flushes (or demotes) of several recorded lines in one line of `line` bytes only the last stays:
/// a program that asks the machine for its line size, as the library does, executes one. Nothing is
/// taken across a fence, an atomic or a hand-off, and a flush of the same recorded line again is the
/// program's own.
pub(crate) fn one_flush_a_line(ops: &mut Vec<Op>, from: usize, line: u64) {
    if line <= RECORDED {
        return;
    }
    let mut later: Vec<Later> = Vec::new();
    let mut gone = Vec::new();
    for (index, op) in ops.iter().enumerate().skip(from).rev() {
        let kind = match op.kind {
            OpKind::Flush(kind) => Kind::Flush(kind),
            OpKind::Demote(kind) => Kind::Demote(kind),
            OpKind::Fence(_) | OpKind::Atomic | OpKind::HandOff | OpKind::Release => {
                later.clear();
                continue;
            }
            _ => continue,
        };
        let (number, recorded) = (op.addr / line, op.addr / RECORDED);
        later.retain(|l| l.index - index <= REACH);
        match later
            .iter()
            .position(|l| l.kind == kind && l.line == number)
        {
            Some(known) if later[known].recorded != recorded => gone.push(index),
            Some(known) => later[known].index = index,
            None => {
                if later.len() == LINES {
                    later.remove(0);
                }
                later.push(Later {
                    kind,
                    line: number,
                    recorded,
                    index,
                });
            }
        }
    }
    // From behind, so that the first of them goes first.
    let mut next = gone.pop();
    let mut index = 0;
    ops.retain(|_| {
        let goes = next == Some(index);
        if goes {
            next = gone.pop();
        }
        index += 1;
        !goes
    });
}

#[cfg(test)]
mod tests {
    use prestore_sim::{Op, OpKind};
    use prestore_trace::{FenceKind, FlushKind, SiteId};

    use super::one_flush_a_line;

    fn op(kind: OpKind, addr: u64) -> Op {
        Op {
            instr: 0,
            addr,
            size: 0,
            site: SiteId(0),
            kind,
            after: 0,
        }
    }

    fn clwb(addr: u64) -> Op {
        op(OpKind::Flush(FlushKind::Clwb), addr)
    }

    fn left(ops: &[Op], line: u64) -> Vec<u64> {
        let mut ops = ops.to_vec();
        one_flush_a_line(&mut ops, 0, line);
        ops.iter().map(|o| o.addr).collect()
    }

    #[test]
    fn halves_of_a_line_are_flushed_once() {
        let store = op(OpKind::Store, 0x1040);
        let ops = [clwb(0x1000), store, clwb(0x1040), clwb(0x1080)];
        assert_eq!(left(&ops, 128), [0x1040, 0x1040, 0x1080]);
        assert_eq!(left(&ops, 64), [0x1000, 0x1040, 0x1040, 0x1080]);
    }

    #[test]
    fn the_same_half_again_is_the_programs_own() {
        assert_eq!(left(&[clwb(0x1000), clwb(0x1000)], 128), [0x1000, 0x1000]);
    }

    #[test]
    fn nothing_is_taken_across_a_fence() {
        let fence = op(OpKind::Fence(FenceKind::Store), 0);
        let ops = [clwb(0x1000), fence, clwb(0x1040)];
        assert_eq!(left(&ops, 128), [0x1000, 0, 0x1040]);
    }

    #[test]
    fn other_kinds_and_late_ones_stay() {
        let opt = op(OpKind::Flush(FlushKind::Clflushopt), 0x1040);
        assert_eq!(left(&[clwb(0x1000), opt], 128), [0x1000, 0x1040]);
        let mut ops = vec![clwb(0x1000)];
        ops.extend(vec![op(OpKind::Load, 8); 300]);
        ops.push(clwb(0x1040));
        assert_eq!(left(&ops, 128).len(), 302);
    }

    #[test]
    fn what_came_before_stays() {
        let mut ops = vec![clwb(0x1000), clwb(0x1040), clwb(0x2000), clwb(0x2040)];
        one_flush_a_line(&mut ops, 2, 128);
        let addresses: Vec<u64> = ops.iter().map(|o| o.addr).collect();
        assert_eq!(addresses, [0x1000, 0x1040, 0x2040]);
    }
}
