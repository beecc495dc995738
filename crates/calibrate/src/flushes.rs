//! What cleaning and flushing a line costs, by what the caches hold of it.

use prestore::Instruction;

use crate::arch::store;
use crate::buffer::{Buffer, LINE};
use crate::calibration::{Clwb, FlushCost, LineState};
use crate::chase::Ring;
use crate::figure::{Figure, each, ns};
use crate::{CalibrateError, Effort};

/// Lines flushed between two looks at the clock.
const LINES: usize = 256;

const FLUSHES: [Instruction; 4] = [
    Instruction::Clwb,
    Instruction::ClflushOpt,
    Instruction::Clflush,
    Instruction::DcCvac,
];

/// The instructions there are on this CPU.
pub(crate) fn usable() -> Vec<Instruction> {
    FLUSHES
        .into_iter()
        .filter(|i| prestore::usable(*i))
        .collect()
}

/// One that makes lines absent, if there is any.
fn dropping() -> Option<Instruction> {
    let mut candidates = [Instruction::ClflushOpt, Instruction::Clflush].into_iter();
    candidates.find(|i| prestore::usable(*i))
}

fn flush_all(instruction: Instruction, ring: &Ring) {
    // SAFETY: the lines are readable, and only usable instructions come here.
    unsafe { prestore::execute(instruction, ring.line(0), ring.lines() * LINE) };
}

fn dirty(ring: &Ring) {
    for line in 0..ring.lines() {
        // SAFETY: the second word of a line of the ring; the first is its pointer.
        unsafe { store(ring.line(line).add(8), line as u64) };
    }
    prestore::fence();
}

/// Brings all lines into `state`; false where that cannot be done.
fn prepare(state: LineState, ring: &Ring) -> bool {
    dirty(ring);
    match (state, dropping()) {
        (LineState::Dirty, _) => {}
        (LineState::Clean, Some(instruction)) => {
            flush_all(instruction, ring);
            prestore::fence();
            ring.follow(ring.start(), ring.lines() as u64);
        }
        (LineState::Clean, None) => {
            flush_all(Instruction::DcCvac, ring);
            prestore::fence();
        }
        (LineState::Absent, Some(instruction)) => flush_all(instruction, ring),
        (LineState::Absent, None) => return false,
    }
    // All of it done and seen before the clock is read.
    crate::arch::full_fence();
    true
}

/// Nanoseconds a line of each instruction and state: many lines, then a store fence.
pub(crate) fn costs(effort: Effort) -> Result<Vec<FlushCost>, CalibrateError> {
    let buffer = Buffer::new(LINES * LINE)?;
    let ring = Ring::new(&buffer, LINES * LINE);
    let mut costs = Vec::new();
    for instruction in usable() {
        for state in LineState::ALL {
            let runs: Vec<f64> = (0..effort.runs() * 2)
                .filter(|_| prepare(state, &ring))
                .map(|_| {
                    let time = ns(|| {
                        flush_all(instruction, &ring);
                        prestore::fence();
                    });
                    time / LINES as f64
                })
                .collect();
            let how = format!(
                "{instruction} of {LINES} {} lines, then a store fence",
                state.name()
            );
            if let Some(figure) = Figure::of(&runs, "ns", how) {
                costs.push(FlushCost {
                    instruction: instruction.name(),
                    state,
                    figure,
                });
            }
        }
    }
    Ok(costs)
}

/// What the cleaning instruction costs and does.
pub(crate) fn clwb(effort: Effort) -> Result<Option<Clwb>, CalibrateError> {
    let cleaning = [Instruction::Clwb, Instruction::DcCvac];
    let Some(instruction) = cleaning.into_iter().find(|i| prestore::usable(*i)) else {
        return Ok(None);
    };
    let buffer = Buffer::new(LINES * LINE)?;
    let ring = Ring::new(&buffer, LINES * LINE);
    let after = |act: &dyn Fn()| -> Vec<f64> {
        (0..effort.runs())
            .map(|_| {
                dirty(&ring);
                act();
                crate::arch::full_fence();
                let steps = ring.lines() as u64;
                ns(|| {
                    let _ = std::hint::black_box(ring.follow(ring.start(), steps));
                }) / steps as f64
            })
            .collect()
    };
    let hit = Figure::of(&after(&|| {}), "ns", "load of a dirty line");
    let cleaned = after(&|| flush_all(instruction, &ring));
    let cleaned = Figure::of(
        &cleaned,
        "ns",
        format!("load of a line after {instruction} and a fence"),
    );
    let absent = dropping().and_then(|dropping| {
        let runs = after(&|| flush_all(dropping, &ring));
        Figure::of(
            &runs,
            "ns",
            format!("load of a line after {dropping} and a fence"),
        )
    });
    // Nothing is dirty any more: the instruction alone.
    flush_all(instruction, &ring);
    let issue = each(effort, |times| {
        for _ in 0..times {
            flush_all(instruction, &ring);
        }
    });
    let issue: Vec<f64> = issue.iter().map(|ns| ns / LINES as f64).collect();
    let issue = Figure::of(
        &issue,
        "ns",
        format!("{instruction} after {instruction} of clean lines, no fence"),
    );
    let mut next = 0;
    let write_back = each(effort, |times| {
        for _ in 0..times {
            next = (next + 1) % LINES;
            let line = ring.line(next);
            // SAFETY: the second word of a line of the ring, then the line itself.
            unsafe {
                store(line.add(8), 1);
                prestore::execute(instruction, line, LINE);
            }
            prestore::fence();
        }
    });
    let write_back = Figure::of(
        &write_back,
        "ns",
        format!("store, {instruction} and store fence to lines in turn"),
    );
    let (Some(hit), Some(cleaned), Some(issue), Some(write_back)) =
        (hit, cleaned, issue, write_back)
    else {
        return Ok(None);
    };
    // Halfway by orders of magnitude between a line that is there and one that is not.
    let retains = absent
        .as_ref()
        .map(|absent| cleaned.value() < (hit.value() * absent.value()).sqrt());
    Ok(Some(Clwb {
        instruction: instruction.name(),
        issue,
        write_back,
        load_dirty: hit,
        load_cleaned: cleaned,
        load_absent: absent,
        retains,
    }))
}
