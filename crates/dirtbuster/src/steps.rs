//! What a block does to memory, in as few steps as can be.
//!
//! Stores that follow each other in a block, through the same value, of one kind and group, each
//! touching what those before it wrote, are *one write*, made when the last of them is: vector
//! loops are unrolled, structures are filled field by field, registers are pushed in a row, and
//! nobody but the compiler decided on how many stores that is. Loads without a store in between
//! are looked at together, as most find nothing.

use crate::lines::RegionHint;
use crate::runs::{Access, AccessFacts, Op};

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
    pub(crate) hint: RegionHint,
}

/// Does the store `b`, right behind a write of `size` bytes from `disp` on that ended with `a`,
/// belong to that write?
fn goes_on(a: (&Access, &AccessFacts), b: (&Access, &AccessFacts), disp: u64, size: u32) -> bool {
    let from = b.0.disp.wrapping_sub(disp) as i64;
    b.0.op == Op::Store
        && a.0.slot == b.0.slot
        && a.1.kind == b.1.kind
        && a.1.group == b.1.group
        && from <= i64::from(size)
        && from >= -i64::from(b.0.size)
}

/// The union of a write of `size` bytes from `disp` on and the store `b` that goes on with it.
fn union(disp: u64, size: u32, b: &Access) -> (u64, u32) {
    let from = b.disp.wrapping_sub(disp) as i64;
    let end = i64::from(size).max(from + i64::from(b.size));
    let lo = from.min(0);
    (disp.wrapping_add_signed(lo), (end - lo) as u32)
}

/// The stores from the first of `accesses` on that are one write: how many, and displacement and
/// bytes of the write.
pub(crate) fn one_write(accesses: &[Access], facts: &[AccessFacts]) -> (usize, u64, u32) {
    let Some(first) = accesses.first() else {
        return (0, 0, 0);
    };
    let (mut disp, mut size) = (first.disp, u32::from(first.size));
    let mut n = 1;
    while n < accesses.len() {
        let (a, b) = ((&accesses[n - 1], &facts[n - 1]), (&accesses[n], &facts[n]));
        if !goes_on(a, b, disp, size) {
            break;
        }
        (disp, size) = union(disp, size, &accesses[n]);
        n += 1;
    }
    (n, disp, size)
}

/// Appends the steps of the accesses from `first` on.
pub(crate) fn append(
    steps: &mut Vec<Step>,
    accesses: &[Access],
    facts: &[AccessFacts],
    first: usize,
) {
    let mut at = first;
    while at < accesses.len() {
        let a = &accesses[at];
        let n = match a.op {
            Op::Load => {
                let n = accesses[at..]
                    .iter()
                    .take_while(|a| a.op == Op::Load)
                    .count();
                append_loads(steps, &accesses[at..at + n], at as u32);
                n
            }
            Op::Store => {
                let (n, disp, size) = one_write(&accesses[at..], &facts[at..]);
                steps.push(step(&accesses[at + n - 1], disp, size, at as u32, n));
                n
            }
            _ => {
                steps.push(step(a, a.disp, u32::from(a.size), at as u32, 1));
                1
            }
        };
        at += n;
    }
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
        hint: RegionHint::default(),
    }
}

fn append_loads(steps: &mut Vec<Step>, loads: &[Access], first: u32) {
    let head = steps.len();
    let mut sorted: Vec<&Access> = loads.iter().collect();
    sorted.sort_by_key(|a| (a.slot, a.disp as i64));
    for load in sorted {
        if let Some(last) = steps[head..].last_mut()
            && last.slot == load.slot
        {
            let from = load.disp.wrapping_sub(last.disp) as i64;
            let (size, end) = (i64::from(last.size), from + i64::from(load.size));
            if from >= 0 && from <= size + APART && end <= TOGETHER {
                last.size = size.max(end) as u32;
                continue;
            }
        }
        let load = step(load, load.disp, u32::from(load.size), first, loads.len());
        steps.push(load);
    }
    steps[head].loads = (steps.len() - head) as u16;
}
