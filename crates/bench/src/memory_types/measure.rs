//! One round of one type.

use std::hint::black_box;
use std::time::Instant;

use prestore::{Instruction, TypedMemory};

const LINE: usize = 64;
/// Lines flushed, a look at the clock around all.
const FLUSHES: usize = 256;

/// Its figures: GB a second, and nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub read: f64,
    pub write: f64,
    pub copy: f64,
    pub flush: Option<f64>,
}

impl Round {
    /// Measures the memory, which nobody else uses.
    pub fn of(memory: &TypedMemory, flush: Option<Instruction>) -> Round {
        let start = memory.as_ptr().cast::<u64>();
        let words = memory.size() / size_of::<u64>();
        let bytes = memory.size() as f64;
        // A GB a second is a byte a nanosecond.
        Round {
            write: bytes / ns(|| write(start, words)),
            read: bytes / ns(|| read(start, words)),
            copy: bytes / 2.0 / ns(|| copy(start, words / 2)),
            flush: flush.map(|instruction| flushed(memory, instruction)),
        }
    }
}

fn ns(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    // A clock that did not move is no division by 0.
    start.elapsed().as_nanos().max(1) as f64
}

fn read(start: *const u64, words: usize) {
    let mut sum = 0u64;
    for word in 0..words {
        // SAFETY: within the memory. Volatile: each word is one load, however the memory is cached.
        sum = sum.wrapping_add(unsafe { start.add(word).read_volatile() });
    }
    black_box(sum);
}

fn write(start: *mut u64, words: usize) {
    for word in 0..words {
        // SAFETY: as in `read`.
        unsafe { start.add(word).write_volatile(word as u64) };
    }
    prestore::fence();
}

fn copy(start: *mut u64, half: usize) {
    for word in 0..half {
        // SAFETY: as in `read`; twice `half` words are there.
        unsafe {
            start
                .add(half + word)
                .write_volatile(start.add(word).read_volatile());
        }
    }
    prestore::fence();
}

/// Nanoseconds a line.
fn flushed(memory: &TypedMemory, instruction: Instruction) -> f64 {
    let lines = FLUSHES.min(memory.size() / LINE);
    for line in 0..lines {
        // SAFETY: within the memory.
        unsafe { memory.as_ptr().add(line * LINE).write_volatile(1) };
    }
    prestore::fence();
    let all = ns(|| {
        for line in 0..lines {
            // SAFETY: a line of the memory; the instruction is usable here.
            unsafe {
                prestore::execute(instruction, memory.as_ptr().add(line * LINE), LINE);
            }
            prestore::fence();
        }
    });
    all / lines as f64
}
