//! Loads of what was just stored around the caches.

use crate::arch::{full_fence, store, unknown_zero};
use crate::buffer::{Buffer, LINE};
use crate::chase::random_line;
use crate::figure::{Figure, each, ns};
use crate::{CalibrateError, Effort};

/// Lines that the nearest cache holds with ease.
const LINES: usize = 128;
/// Loads between two looks at the clock.
const STEPS: u64 = 64;

/// Stores to all of a line around the caches.
///
/// # Safety
/// The line is writable.
unsafe fn store_around(line: *mut u8) {
    // SAFETY: passed on.
    unsafe { prestore::fill_skip_unfenced(line, 0, LINE) };
}

/// Nanoseconds of a load of a line that was in the nearest cache as it was stored to around the caches.
pub(crate) fn of_cached(effort: Effort) -> Result<Option<Figure>, CalibrateError> {
    let buffer = Buffer::new(LINES * LINE)?;
    let runs: Vec<f64> = (0..effort.runs())
        .map(|_| {
            for line in 0..LINES {
                // SAFETY: a line of the buffer.
                unsafe { store(buffer.line(line), 0) };
            }
            full_fence();
            for line in 0..LINES {
                // SAFETY: a line of the buffer.
                unsafe { store_around(buffer.line(line)) };
            }
            full_fence();
            let (mut loaded, zero) = (0u64, unknown_zero());
            let time = ns(|| {
                for line in 0..LINES {
                    // A step that no prefetcher follows.
                    let line = (line * 37) % LINES + (loaded & zero) as usize;
                    // SAFETY: a line of the buffer.
                    loaded = unsafe { buffer.line(line).cast::<u64>().read_volatile() };
                }
            });
            time / LINES as f64
        })
        .collect();
    let how = format!(
        "load of a line after a non-temporal store to it in the nearest cache, {LINES} in turn"
    );
    Ok(Figure::of(&runs, "ns", how))
}

/// Nanoseconds of two misses one after the other, with a non-temporal store to a third line and a load of that behind
/// them in the program. If the load fetches its line while the store waits for the misses, that is all there is to it.
pub(crate) fn behind_misses(effort: Effort, memory: &Buffer) -> Option<Figure> {
    let (mut next, mut loaded, zero) = (1u64, 0u64, unknown_zero());
    let lines = memory.lines() as u64;
    let runs = each(effort, |times| {
        for _ in 0..times * STEPS {
            // SAFETY: lines of the buffer, whose contents nobody needs.
            unsafe {
                let load = |line: u64| {
                    let at = memory.start().add(line as usize * LINE + 32);
                    at.cast::<u64>().read_volatile()
                };
                let first = load(random_line(&mut next, lines) + (loaded & zero));
                let second = load(random_line(&mut next, lines) + (first & zero));
                let third = random_line(&mut next, lines);
                store_around(memory.start().add(third as usize * LINE));
                loaded = load(third) | second;
            }
        }
    });
    let runs: Vec<f64> = runs.iter().map(|ns| ns / STEPS as f64).collect();
    let how = "two loads from memory, one after the other, then a non-temporal store to a random line and a load of it";
    Figure::of(&runs, "ns", how)
}
