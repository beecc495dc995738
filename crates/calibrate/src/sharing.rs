//! What it costs to read what another core has just written, with and without a pre-store.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use prestore::Op;

use crate::arch::{full_fence, store};
use crate::buffer::{Buffer, LINE};
use crate::chase::Ring;
use crate::figure::{Figure, ns};
use crate::pin::{cpus, pin};
use crate::{CalibrateError, Effort};

/// Lines handed over at once.
const LINES: usize = 128;

/// A turn that goes to and fro between two threads.
struct Turn(AtomicU32);

impl Turn {
    /// Waits, for a while without the system, so that the answer comes at once.
    fn wait(&self, wanted: u32) {
        let mut spins = 0u32;
        while self.0.load(Ordering::Acquire) != wanted {
            spins = spins.saturating_add(1);
            if spins > 100_000 {
                thread::yield_now();
            }
            std::hint::spin_loop();
        }
    }

    fn give(&self, next: u32) {
        self.0.store(next, Ordering::Release);
    }
}

/// Nanoseconds a line to read what another core has just written, as [`crate::calibrate`] measures it, in some
/// milliseconds: a hypervisor may move CPUs nearer together or farther apart at any time. None where there is one
/// CPU only.
///
/// # Errors
/// [`CalibrateError::Memory`].
pub fn between_cores() -> Result<Option<Figure>, CalibrateError> {
    read_of_written(Effort::Full, &cpus(), None)
}

/// Nanoseconds a line to read what another core wrote and then pre-stored; none where there is one CPU only.
///
/// The writer has the time to finish: what is measured is where the line is, not how fast it got there.
pub(crate) fn read_of_written(
    effort: Effort,
    cpus: &[usize],
    op: Option<Op>,
) -> Result<Option<Figure>, CalibrateError> {
    let [reader, writer, ..] = *cpus else {
        return Ok(None);
    };
    let buffer = Buffer::new(LINES * LINE)?;
    let ring = Ring::new(&buffer, LINES * LINE);
    let turn = Turn(AtomicU32::new(0));
    let rounds = effort.runs() as u32 * 4;
    let runs: Vec<f64> = thread::scope(|scope| {
        scope.spawn(|| {
            pin(writer);
            for round in 0..rounds {
                turn.wait(2 * round);
                write(&ring, op);
                turn.give(2 * round + 1);
            }
        });
        let reading = scope.spawn(|| {
            pin(reader);
            (0..rounds)
                .map(|round| {
                    turn.wait(2 * round + 1);
                    let steps = ring.lines() as u64;
                    let time = ns(|| {
                        let _ = std::hint::black_box(ring.follow(ring.start(), steps));
                    });
                    turn.give(2 * round + 2);
                    time / steps as f64
                })
                .collect()
        });
        reading.join().unwrap_or_default()
    });
    let done = match op {
        None => "",
        Some(Op::Demote) => " and demoted",
        Some(_) => " and cleaned",
    };
    let how = format!("pointer chase through {LINES} lines that another core has written{done}");
    Ok(Figure::of(&runs, "ns", how))
}

fn write(ring: &Ring, op: Option<Op>) {
    for line in 0..ring.lines() {
        // SAFETY: the second word of a line of the ring; the reader reads the first, and not before its turn.
        unsafe { store(ring.line(line).add(8), line as u64) };
    }
    if let Some(op) = op {
        // SAFETY: the ring's lines, which are readable.
        unsafe { prestore::prestore(ring.line(0), ring.lines() * LINE, op) };
    }
    full_fence();
    // A demote goes on in the background, and no fence waits for it.
    let mut waited = 0;
    while op.is_some() && waited < 2_000 {
        waited += 1;
        std::hint::spin_loop();
    }
}

/// Nanoseconds from a store until another core sees it: half of a round trip of one word.
pub(crate) fn one_way(effort: Effort, cpus: &[usize]) -> Option<Figure> {
    const TRIPS: u32 = 200;
    let [here, there, ..] = *cpus else {
        return None;
    };
    let turn = Turn(AtomicU32::new(0));
    let rounds = effort.runs() as u32;
    let runs: Vec<f64> = thread::scope(|scope| {
        scope.spawn(|| {
            pin(there);
            for trip in 0..rounds * TRIPS {
                turn.wait(2 * trip + 1);
                turn.give(2 * trip + 2);
            }
        });
        let timing = scope.spawn(|| {
            pin(here);
            (0..rounds)
                .map(|round| {
                    let time = ns(|| {
                        for trip in round * TRIPS..(round + 1) * TRIPS {
                            turn.give(2 * trip + 1);
                            turn.wait(2 * trip + 2);
                        }
                    });
                    time / f64::from(2 * TRIPS)
                })
                .collect()
        });
        timing.join().unwrap_or_default()
    });
    Figure::of(
        &runs,
        "ns",
        "a word stored by one core until another reads it, half of a round trip",
    )
}
