//! What cleaning and flushing a line costs, by what the caches hold of it.

use prestore::{Instruction, Op, query};

use crate::arch::{full_fence, store};
use crate::buffer::{Buffer, LINE};
use crate::calibration::{Clwb, FlushCost, LineState, Stays};
use crate::chase::Ring;
use crate::figure::{Figure, each, ns};
use crate::{CalibrateError, Effort};

/// Lines flushed between two looks at the clock.
const LINES: usize = 256;
/// The same where all are waited for: so many that the first and the last do not matter.
const MANY: usize = 4096;

const FLUSHES: [Instruction; 4] = [
    Instruction::Clwb,
    Instruction::ClflushOpt,
    Instruction::Clflush,
    Instruction::DcCvac,
];

/// Does a demote pre-store do anything on this host?
pub fn demotes() -> bool {
    query(Op::Demote).active
}

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
    full_fence();
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

/// What the cleaning instruction costs and does. `cache_ns`: latencies of the last private and the last shared cache.
pub(crate) fn clwb(
    effort: Effort,
    cache_ns: [Option<f64>; 2],
) -> Result<Option<Clwb>, CalibrateError> {
    let cleaning = [Instruction::Clwb, Instruction::DcCvac];
    let Some(instruction) = cleaning.into_iter().find(|i| prestore::usable(*i)) else {
        return Ok(None);
    };
    let buffer = Buffer::new(LINES * LINE)?;
    let ring = Ring::new(&buffer, LINES * LINE);
    let hit = Figure::of(
        &loads_after(effort, &ring, &|| {}),
        "ns",
        "load of a dirty line",
    );
    let flushed = |by: Instruction| {
        let runs = loads_after(effort, &ring, &|| flush_all(by, &ring));
        Figure::of(
            &runs,
            "ns",
            format!("load of a line after {by} and a fence"),
        )
    };
    let cleaned = flushed(instruction);
    let absent = dropping().and_then(flushed);
    let line = each_of_many(effort, instruction)?;
    let issue = issue(effort, &ring, instruction);
    let write_back = write_back(effort, &ring, instruction);
    let (Some(hit), Some(cleaned), Some(issue), Some(write_back), Some(line)) =
        (hit, cleaned, issue, write_back, line)
    else {
        return Ok(None);
    };
    let stays = absent.as_ref().map(|absent| {
        let [private, shared] = cache_ns;
        let known = [
            (Stays::Where, Some(hit.value())),
            (Stays::Where, private),
            (Stays::Shared, shared),
            (Stays::Nowhere, Some(absent.value())),
        ];
        nearest(cleaned.value(), known).unwrap_or(Stays::Where)
    });
    Ok(Some(Clwb {
        line,
        instruction: instruction.name(),
        issue,
        write_back,
        load_dirty: hit,
        load_cleaned: cleaned,
        load_absent: absent,
        retains: stays.map(|stays| stays == Stays::Where),
        stays,
    }))
}

/// Nanoseconds of a load from the ring's lines, which were dirty before `act`.
fn loads_after(effort: Effort, ring: &Ring<'_>, act: &dyn Fn()) -> Vec<f64> {
    (0..effort.runs())
        .map(|_| {
            dirty(ring);
            act();
            full_fence();
            let steps = ring.lines() as u64;
            ns(|| {
                let _ = std::hint::black_box(ring.follow(ring.start(), steps));
            }) / steps as f64
        })
        .collect()
}

/// What the instruction takes where there is nothing to write back.
fn issue(effort: Effort, ring: &Ring<'_>, instruction: Instruction) -> Option<Figure> {
    flush_all(instruction, ring);
    let all = each(effort, |times| {
        for _ in 0..times {
            flush_all(instruction, ring);
        }
    });
    let one: Vec<f64> = all.iter().map(|ns| ns / LINES as f64).collect();
    Figure::of(
        &one,
        "ns",
        format!("{instruction} after {instruction} of clean lines, no fence"),
    )
}

/// What it takes until a line that was just stored to is in memory.
fn write_back(effort: Effort, ring: &Ring<'_>, instruction: Instruction) -> Option<Figure> {
    let mut next = 0;
    let runs = each(effort, |times| {
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
    Figure::of(
        &runs,
        "ns",
        format!("store, {instruction} and store fence to lines in turn"),
    )
}

/// The state whose load takes about as long, by orders of magnitude.
fn nearest(ns: f64, known: [(Stays, Option<f64>); 4]) -> Option<Stays> {
    let known = known
        .into_iter()
        .filter_map(|(stays, of)| Some((stays, of?)));
    let far = |of: f64| (ns / of).ln().abs();
    known
        .min_by(|a, b| far(a.1).total_cmp(&far(b.1)))
        .map(|(stays, _)| stays)
}

/// Nanoseconds of a dirty line where many are demoted and nothing is waited for: how often one can go.
pub(crate) fn demotions(effort: Effort) -> Result<Option<Figure>, CalibrateError> {
    let instruction = Instruction::Cldemote;
    if !prestore::usable(instruction) {
        return Ok(None);
    }
    let buffer = Buffer::new(LINES * LINE)?;
    let ring = Ring::new(&buffer, LINES * LINE);
    let runs: Vec<f64> = (0..effort.runs() * 2)
        .map(|_| {
            dirty(&ring);
            full_fence();
            ns(|| flush_all(instruction, &ring)) / LINES as f64
        })
        .collect();
    let how = format!("{instruction} of {LINES} dirty lines, not waited for");
    Ok(Figure::of(&runs, "ns", how))
}

/// Nanoseconds of a dirty line where many are cleaned and all waited for.
fn each_of_many(
    effort: Effort,
    instruction: Instruction,
) -> Result<Option<Figure>, CalibrateError> {
    let buffer = Buffer::new(MANY * LINE)?;
    let ring = Ring::new(&buffer, MANY * LINE);
    let runs: Vec<f64> = (0..effort.runs())
        .map(|_| {
            dirty(&ring);
            full_fence();
            let time = ns(|| {
                flush_all(instruction, &ring);
                full_fence();
            });
            time / MANY as f64
        })
        .collect();
    let how = format!("{instruction} of {MANY} dirty lines, all waited for");
    Ok(Figure::of(&runs, "ns", how))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_cleaned_line_is_follows_from_its_load() {
        let stays = |ns| {
            let known = [
                (Stays::Where, Some(1.0)),
                (Stays::Where, Some(3.0)),
                (Stays::Shared, Some(12.0)),
                (Stays::Nowhere, Some(100.0)),
            ];
            nearest(ns, known)
        };
        assert_eq!(stays(3.5), Some(Stays::Where));
        assert_eq!(stays(10.0), Some(Stays::Shared));
        assert_eq!(stays(70.0), Some(Stays::Nowhere));
    }
}
