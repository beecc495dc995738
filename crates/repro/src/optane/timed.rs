//! One thread that times a few operations at a time, or writes halves of units: what the data set
//! has beside bandwidths.

use std::convert::Infallible;

use prestore_sim::{Next, Op, OpKind, Random, Source};
use prestore_trace::{FenceKind, FlushKind, SiteId};

use super::point::Operation;
use super::stimulus::REGION;

const LINE: u64 = 64;
const UNIT: u64 = 256;
/// Bytes that are in the cache before they are stored to: the benchmark's accesses come one right
/// behind the other (its 4 KiB take as long as the media's writes), so not each is loaded alone.
const LOADED: u64 = 512 * 1024;
/// The region that is timed.
pub(super) const TIMED: u64 = 1;

/// What is timed: an access of `size` bytes and the fence behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// What is done with each line. Lines that are stored to are in the cache already, as in the
    /// benchmark.
    pub operation: Operation,
    /// Anywhere, or one behind the other.
    pub random: bool,
    /// Bytes: a multiple of 64.
    pub size: u64,
    /// Is it one of the data set's batched flushes, whose timing costs something itself?
    pub batched: bool,
}

/// A thread that runs rounds of operations.
pub(super) struct Rounds<F> {
    round: F,
    left: u64,
    instr: u64,
}

impl<F: FnMut(&mut Emit<'_>)> Rounds<F> {
    /// `count` rounds, each of what `round` emits.
    pub(super) fn new(count: u64, round: F) -> Self {
        Self {
            round,
            left: count,
            instr: 0,
        }
    }
}

/// Takes the operations of a round.
pub(super) struct Emit<'o> {
    ops: &'o mut Vec<Op>,
    instr: &'o mut u64,
}

impl Emit<'_> {
    fn op(&mut self, kind: OpKind, addr: u64) {
        let size = match kind {
            OpKind::Load | OpKind::Store | OpKind::NtStore => LINE as u32,
            _ => 0,
        };
        self.ops.push(Op {
            instr: *self.instr,
            addr,
            size,
            site: SiteId(0),
            kind,
            after: 0,
        });
        *self.instr += 1;
    }

    fn write_line(&mut self, operation: Operation, addr: u64) {
        match operation {
            Operation::NtStore => self.op(OpKind::NtStore, addr),
            Operation::Store => self.op(OpKind::Store, addr),
            Operation::Load => self.op(OpKind::Load, addr),
            Operation::StoreFlush => {
                self.op(OpKind::Store, addr);
                self.op(OpKind::Flush(FlushKind::Clwb), addr);
            }
        }
    }
}

impl<F: FnMut(&mut Emit<'_>)> Source for Rounds<F> {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        1
    }

    fn fill(&mut self, _: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        if self.left == 0 {
            return Ok(Next::End { instrs: self.instr });
        }
        self.left -= 1;
        let instr = &mut self.instr;
        (self.round)(&mut Emit { ops, instr });
        Ok(Next::More)
    }
}

/// `accesses` of what is `timed` at least, each with its time in the region [`TIMED`].
pub(super) fn timed(timed: Timed, accesses: u64, seed: u64) -> impl Source<Error = Infallible> {
    let mut random = Random::new(seed);
    let mut next = 0;
    Rounds::new(accesses.div_ceil(accesses_of_round(timed)), move |emit| {
        if timed.operation == Operation::StoreFlush {
            let lines = (next..next + LOADED).step_by(LINE as usize);
            lines.for_each(|addr| emit.op(OpKind::Load, addr));
        }
        for _ in 0..accesses_of_round(timed) {
            if timed.random {
                next = random.below(REGION / timed.size) * timed.size;
            }
            emit.op(OpKind::Fence(FenceKind::Full), 0);
            emit.op(OpKind::RegionBegin, TIMED);
            let lines = (next..next + timed.size).step_by(LINE as usize);
            lines.for_each(|addr| emit.write_line(timed.operation, addr));
            emit.op(OpKind::Fence(FenceKind::Full), 0);
            emit.op(OpKind::RegionEnd, TIMED);
            next = (next + timed.size) % REGION;
        }
    })
}

/// Accesses between one load of what is stored to and the next.
pub(super) fn accesses_of_round(timed: Timed) -> u64 {
    (LOADED / timed.size).max(1)
}

/// Rounds over a region: the first half of each of its units is written (store, `clwb`), then the
/// second half of each, every half with a fence behind it.
pub(super) fn halves(region: u64, rounds: u64) -> impl Source<Error = Infallible> {
    Rounds::new(rounds, move |emit| {
        for half in [0, UNIT / 2] {
            for unit in (0..region).step_by(UNIT as usize) {
                emit.write_line(Operation::StoreFlush, unit + half);
                emit.write_line(Operation::StoreFlush, unit + half + LINE);
                emit.op(OpKind::Fence(FenceKind::Store), 0);
            }
        }
    })
}

/// Operations of a round of [`halves`].
pub(super) fn ops_of_halves(region: u64) -> u64 {
    region / UNIT * 10
}

#[cfg(test)]
mod tests {
    use prestore_sim::{Next, Op, OpKind, Source};

    use super::{LINE, LOADED, Timed, halves, ops_of_halves, timed};
    use crate::optane::point::Operation;

    fn all(mut source: impl Source) -> Vec<Op> {
        let mut ops = Vec::new();
        while let Ok(Next::More) = source.fill(0, &mut ops) {}
        ops
    }

    #[test]
    fn what_is_stored_to_is_loaded_before_the_clock_starts() {
        let what = Timed {
            operation: Operation::StoreFlush,
            random: false,
            size: 128,
            batched: true,
        };
        let ops = all(timed(what, 2, 1));
        let begin = ops.iter().position(|op| op.kind == OpKind::RegionBegin);
        assert_eq!(begin, Some((LOADED / LINE) as usize + 1));
        let stores = ops.iter().filter(|op| op.kind == OpKind::Store);
        let addrs: Vec<u64> = stores.map(|op| op.addr).collect();
        assert_eq!(addrs[..4], [0, 64, 128, 192]);
        assert_eq!(addrs.len() as u64, LOADED / LINE);
    }

    #[test]
    fn first_halves_come_before_second_halves() {
        let ops = all(halves(512, 3));
        assert_eq!(ops.len() as u64, 3 * ops_of_halves(512));
        let stores = ops.iter().filter(|op| op.kind == OpKind::Store);
        let addrs: Vec<u64> = stores.take(8).map(|op| op.addr).collect();
        assert_eq!(addrs, [0, 64, 256, 320, 128, 192, 384, 448]);
    }
}
