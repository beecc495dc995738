//! Bytes a second, by threads and by size of the piece.

use std::sync::Barrier;
use std::thread;

use prestore_measure::Summary;

use crate::arch::compiler_barrier;
use crate::buffer::{Buffer, LINE};
use crate::curve::Curve;
use crate::figure::{each, ns};
use crate::pin::pin;
use crate::{CalibrateError, Effort};

/// Bytes between two looks at the clock.
const PIECE: usize = 256 << 10;
/// Pieces of which the middle one counts.
const PIECES_A_ROUND: usize = 15;

/// What is done to memory.
#[derive(Clone, Copy, Debug)]
enum Traffic {
    Read,
    Write,
    Copy,
    NonTemporal,
}

impl Traffic {
    const ALL: [Traffic; 4] = [
        Traffic::Read,
        Traffic::Write,
        Traffic::Copy,
        Traffic::NonTemporal,
    ];

    const fn name(self) -> &'static str {
        match self {
            Traffic::Read => "read bandwidth",
            Traffic::Write => "write bandwidth",
            Traffic::Copy => "copy bandwidth",
            Traffic::NonTemporal => "non-temporal write bandwidth",
        }
    }

    const fn how(self) -> &'static str {
        match self {
            Traffic::Read => "each thread sums up memory of its own; bytes read",
            Traffic::Write => {
                "each thread stores to memory of its own; bytes stored, each of which is also read first"
            }
            Traffic::Copy => "each thread copies within its memory; bytes read and bytes stored",
            Traffic::NonTemporal => {
                "each thread fills memory of its own with non-temporal stores; bytes stored"
            }
        }
    }

    /// Goes through a piece of the buffer; those past the end begin anew at the first.
    fn pass(self, buffer: &Buffer, piece: usize) {
        let words = PIECE / 8;
        // SAFETY: the piece lies in the buffer, which this thread alone uses and which has at least one.
        unsafe {
            let start = buffer.line(piece * (PIECE / LINE)).cast::<u64>();
            match self {
                Traffic::Read => {
                    let mut sums = [0u64; 8];
                    for line in (0..words).step_by(8) {
                        for (word, sum) in sums.iter_mut().enumerate() {
                            *sum = sum.wrapping_add(start.add(line + word).read());
                        }
                    }
                    std::hint::black_box(sums);
                }
                Traffic::Write => {
                    for line in (0..words).step_by(8) {
                        start.add(line).cast::<[u64; 8]>().write([line as u64; 8]);
                        // Else it becomes a call of memset, which may choose other stores.
                        compiler_barrier();
                    }
                }
                Traffic::Copy => {
                    let half = words / 2;
                    for line in (0..half).step_by(8) {
                        let from = start.add(line).cast::<[u64; 8]>().read();
                        start.add(half + line).cast::<[u64; 8]>().write(from);
                        compiler_barrier();
                    }
                }
                Traffic::NonTemporal => {
                    prestore::fill_skip_unfenced(start.cast(), 1, PIECE);
                    prestore::fence();
                }
            }
        }
    }
}

/// A curve over the number of threads for each kind of traffic. `bytes` is each thread's memory, many pieces of it.
pub(crate) fn by_threads(
    effort: Effort,
    cpus: &[usize],
    bytes: usize,
) -> Result<Vec<Curve>, CalibrateError> {
    let buffers = buffers(cpus, bytes)?;
    let curves = Traffic::ALL.map(|traffic| {
        let mut curve = Curve {
            name: traffic.name().into(),
            over: "threads",
            unit: "GB/s",
            how: traffic.how().into(),
            points: Vec::new(),
        };
        let mut threads = 1;
        loop {
            let runs = together(effort, traffic, &buffers[..threads], cpus);
            curve.push(threads as u64, &runs);
            if threads == cpus.len() {
                return curve;
            }
            threads = (threads * 2).min(cpus.len());
        }
    });
    Ok(curves.into())
}

/// GB/s that a thread on each of `cpus` reads, together, a number for each round.
pub(crate) fn reading(
    effort: Effort,
    cpus: &[usize],
    bytes: usize,
) -> Result<Vec<f64>, CalibrateError> {
    let buffers = buffers(cpus, bytes)?;
    Ok(together(effort, Traffic::Read, &buffers, cpus))
}

fn buffers(cpus: &[usize], bytes: usize) -> Result<Vec<Buffer>, CalibrateError> {
    cpus.iter().map(|_| Buffer::new(bytes)).collect()
}

/// GB/s of all threads together, a number for each round.
///
/// Each thread times small pieces of its work while the others work, too; a round is the sum of what they reach at
/// the same piece. So a thread that loses its CPU for a while spoils a few pieces and not the figure.
fn together(effort: Effort, traffic: Traffic, buffers: &[Buffer], cpus: &[usize]) -> Vec<f64> {
    let barrier = Barrier::new(buffers.len());
    let rounds = effort.runs();
    let rates: Vec<Vec<f64>> = thread::scope(|scope| {
        let threads: Vec<_> = buffers
            .iter()
            .zip(cpus)
            .map(|(buffer, cpu)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    pin(*cpu);
                    // Once around, for the caches to be full of it, as they are later.
                    (0..buffer.size() / PIECE).for_each(|piece| traffic.pass(buffer, piece));
                    barrier.wait();
                    let pieces = 0..rounds * PIECES_A_ROUND;
                    let rate = |piece| PIECE as f64 / ns(|| traffic.pass(buffer, piece));
                    let rates: Vec<f64> = pieces.map(rate).collect();
                    let rounds = rates.chunks(PIECES_A_ROUND);
                    rounds
                        .filter_map(|r| Some(Summary::of(r)?.median))
                        .collect::<Vec<f64>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect()
    });
    (0..rounds)
        .map(|round| rates.iter().filter_map(|thread| thread.get(round)).sum())
        .collect()
}

/// GB/s of one thread's non-temporal stores over the size of the piece; pieces follow each other at random.
pub(crate) fn non_temporal_by_size(effort: Effort, buffer: &Buffer) -> Curve {
    let mut curve = Curve {
        name: "non-temporal write bandwidth, pieces in random order".into(),
        over: "bytes of a piece",
        unit: "GB/s",
        how: "one thread fills pieces with non-temporal stores, no fence between".into(),
        points: Vec::new(),
    };
    let mut size = LINE;
    while size <= 1 << 20 && size <= buffer.size() {
        let pieces = buffer.size() / size;
        let mut next = 1usize;
        let runs = each(effort, |times| {
            for _ in 0..times {
                // A full-period generator of the low bits: every piece's turn comes.
                next = next.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                let piece = (next >> 20) % pieces;
                // SAFETY: the piece lies in the buffer.
                unsafe { prestore::fill_skip_unfenced(buffer.start().add(piece * size), 1, size) };
            }
            prestore::fence();
        });
        let rates: Vec<f64> = runs.iter().map(|ns| size as f64 / ns).collect();
        curve.push(size as u64, &rates);
        size *= 4;
    }
    curve
}
