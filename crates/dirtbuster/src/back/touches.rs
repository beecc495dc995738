//! What a batch's executions touch, one access after the other: for what is looked at seldom.

use prestore_trace::replay::each_touch;

use super::BackThread;
use super::quiet::values;
use crate::access::Op;
use crate::batch::{Batch, RARE, Rare, word};
use crate::lines::{LINE, LINE_SHIFT};

/// An access to memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touched {
    pub(super) addr: u64,
    pub(super) size: u64,
    /// The thread's own instructions.
    pub(super) now: u64,
    pub(super) reads: bool,
    pub(super) writes: bool,
}

impl Touched {
    /// What of it lies in the line called `number`, where another process has that as `there`.
    pub(super) fn within(self, number: u64, there: u64) -> Self {
        let line = number << LINE_SHIFT;
        let lo = self.addr.max(line);
        let hi = self.addr.saturating_add(self.size).min(line + LINE);
        Self {
            addr: (there << LINE_SHIFT) + (lo - line),
            size: hi - lo,
            ..self
        }
    }
}

/// Each access of at least one byte in the batch, with whether its reference has ever read what another thread wrote.
#[inline]
pub(super) fn each_touch_of(
    thread: &mut BackThread,
    batch: &Batch,
    mut touch: impl FnMut(Touched, &mut bool),
) {
    for item in &batch.items {
        let (run, executed) = match item.run.checked_sub(RARE).map(|n| batch.rare[n as usize]) {
            None => (item.run, u32::MAX),
            Some(Rare::Cut { run, executed }) => (run, executed),
            Some(_) => continue,
        };
        let values = values(&batch.words, item);
        let (first, end) = thread.runs[run as usize];
        let steps = &thread.steps[first as usize..end as usize];
        let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
            continue;
        };
        for at in first.first as usize..last.end as usize {
            let a = &thread.accesses[at];
            if matches!(a.op, Op::Fence | Op::Flush) || u32::from(a.instr) >= executed {
                continue;
            }
            let mut one = |addr, size| {
                if size > 0 {
                    let now = item.before + u64::from(a.instr);
                    let (reads, writes) = (a.kind.reads(), a.kind.writes());
                    let one = Touched {
                        addr,
                        size,
                        now,
                        reads,
                        writes,
                    };
                    touch(one, &mut thread.received[at]);
                }
            };
            match a.op {
                Op::Odd => each_touch(&thread.xsave, &thread.odd[a.which as usize], values, one),
                _ => one(word(values, a.slot).wrapping_add(a.disp), u64::from(a.size)),
            }
        }
    }
}
