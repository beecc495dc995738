//! What a block does to memory, in as few steps as can be.
//!
//! Stores of a block through the same value, of one kind and group, each touching what those
//! before it wrote, are *one write*, made when the last of them is: vector loops are unrolled,
//! structures are filled field by field, registers are pushed in a row, and nobody but the
//! compiler decided on how many stores that is. Loads may lie between them, unless they read
//! through the same value what the write has written by then. Loads without a write in between
//! are looked at together, as most find nothing.

use prestore_trace::EventKind;

use crate::access::{Access, AccessFacts, Op};
use crate::lines::RegionHint;

/// Loads are looked at together where they are within so many bytes, and not farther apart than
/// a line, so that few lines are looked at that are not loaded from.
const TOGETHER: i64 = 1024;
const APART: i64 = 64;

/// A step of a block's execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Lowest displacement, and bytes from there on.
    pub(crate) disp: u64,
    pub(crate) size: u32,
    pub(crate) slot: u16,
    /// Its last access's instruction.
    pub(crate) instr: u16,
    pub(crate) op: Op,
    /// For loads: steps from this one on that are looked at together.
    pub(crate) loads: u16,
    /// Of its write.
    pub(crate) streak: u32,
    /// Its accesses; for loads: those of all that are looked at together.
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// For loads: which of those accesses are its own; the last bit is that of all from there on.
    pub(crate) own: u64,
    pub(crate) hint: RegionHint,
}

/// A write while it grows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    kind: EventKind,
    group: u32,
    slot: u16,
    pub(crate) disp: u64,
    pub(crate) size: u32,
}

impl Write {
    pub(crate) fn new(a: &Access) -> Self {
        Self {
            kind: a.kind,
            group: a.group,
            slot: a.slot,
            disp: a.disp,
            size: u32::from(a.size),
        }
    }

    /// Takes the store in, if it goes on with this write.
    pub(crate) fn take(&mut self, a: &Access) -> bool {
        let (from, size) = (self.offset(a), i64::from(self.size));
        let end = from.saturating_add(i64::from(a.size));
        let goes_on = a.op.is_store()
            && (self.kind, self.group, self.slot) == (a.kind, a.group, a.slot)
            && from <= size
            && end >= 0;
        if goes_on {
            let lo = from.min(0);
            self.disp = self.disp.wrapping_add_signed(lo);
            self.size = (size.max(end) - lo) as u32;
        }
        goes_on
    }

    /// Does the load read what was written?
    fn feeds(&self, a: &Access) -> bool {
        let from = self.offset(a);
        a.slot == self.slot
            && from < i64::from(self.size)
            && from.saturating_add(i64::from(a.size)) > 0
    }

    fn offset(&self, a: &Access) -> i64 {
        a.disp.wrapping_sub(self.disp) as i64
    }
}

/// Moves each write's stores to its last one, behind the loads between them.
pub(crate) fn order(all: &[(Access, AccessFacts)]) -> Vec<(Access, AccessFacts)> {
    let mut ordered = Vec::with_capacity(all.len());
    let mut open: Vec<(Access, AccessFacts)> = Vec::new();
    let mut write: Option<Write> = None;
    for (a, facts) in all {
        if let Some(w) = &mut write {
            if w.take(a) {
                open.push((*a, *facts));
                continue;
            }
            if a.op != Op::Load || w.feeds(a) {
                ordered.append(&mut open);
                write = None;
            }
        }
        if a.op.is_store() {
            write = Some(Write::new(a));
            open.push((*a, *facts));
        } else {
            ordered.push((*a, *facts));
        }
    }
    ordered.append(&mut open);
    ordered
}

/// The stores from the first of `accesses` on that are one write: how many, and the write.
/// `None`: there are none.
pub(crate) fn one_write(accesses: &[Access]) -> Option<(usize, Write)> {
    let mut all = accesses.iter();
    let mut write = Write::new(all.next()?);
    let more = all.take_while(|a| write.take(a)).count();
    Some((1 + more, write))
}

/// The steps of a run's accesses, which are in order and whose first has the number `first`.
pub(crate) fn of(accesses: &[Access], first: u32) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(a) = accesses.get(at) {
        let (rest, number) = (&accesses[at..], first + at as u32);
        at += match (a.op, one_write(rest)) {
            (Op::Load, _) => {
                let n = rest.iter().take_while(|a| a.op == Op::Load).count();
                append_loads(&mut steps, &rest[..n], number);
                n
            }
            (op, Some((n, write))) if op.is_store() => {
                steps.push(step(&rest[n - 1], write.disp, write.size, number, n));
                n
            }
            _ => {
                steps.push(step(a, a.disp, u32::from(a.size), number, 1));
                1
            }
        };
    }
    steps
}

fn step(last: &Access, disp: u64, size: u32, first: u32, n: usize) -> Step {
    Step {
        disp,
        size,
        slot: last.slot,
        instr: last.instr,
        op: last.op,
        loads: 0,
        streak: last.streak,
        first,
        end: first + n as u32,
        own: 0,
        hint: RegionHint::default(),
    }
}

fn append_loads(steps: &mut Vec<Step>, loads: &[Access], first: u32) {
    let head = steps.len();
    let mut sorted: Vec<(usize, &Access)> = loads.iter().enumerate().collect();
    sorted.sort_by_key(|(_, a)| (a.slot, a.disp as i64));
    for (at, load) in sorted {
        // More than there are bits are looked at one by one, whichever bit is there.
        let own = 1 << at.min(63);
        if let Some(last) = steps[head..].last_mut()
            && last.slot == load.slot
        {
            let from = load.disp.wrapping_sub(last.disp) as i64;
            let (size, end) = (i64::from(last.size), from + i64::from(load.size));
            if from >= 0 && from <= size + APART && end <= TOGETHER {
                last.size = size.max(end) as u32;
                last.own |= own;
                continue;
            }
        }
        let load = step(load, load.disp, u32::from(load.size), first, loads.len());
        steps.push(Step { own, ..load });
    }
    steps[head].loads = (steps.len() - head) as u16;
}
