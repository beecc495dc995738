//! Loads of what was just stored around the caches, and beside that.

use serde::Serialize;

use crate::arch::{full_fence, store, unknown_zero};
use crate::buffer::{Buffer, LINE};
use crate::chase::{PAGE_LINES, Ring, random_line};
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

/// Nanoseconds of a non-temporal store to a random line and a store fence, which waits until memory has acknowledged it.
pub(crate) fn fenced(effort: Effort, memory: &Buffer) -> Option<Figure> {
    let (mut next, lines) = (1u64, memory.lines() as u64);
    let runs = each(effort, |times| {
        for _ in 0..times * STEPS {
            let line = random_line(&mut next, lines) as usize;
            // SAFETY: a line of the buffer, whose contents nobody needs.
            unsafe { store_around(memory.start().add(line * LINE)) };
            prestore::fence();
        }
    });
    let runs: Vec<f64> = runs.iter().map(|ns| ns / STEPS as f64).collect();
    let how = "non-temporal store to a random line and store fence";
    Figure::of(&runs, "ns", how)
}

/// Loads side by side, and lines stored around the caches beside them.
const LOADS: usize = 16;
const STORED: usize = 8;

/// Loads that miss, non-temporal stores, and both: do they take buffers from each other?
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// Loads from memory, side by side.
    pub loads: Figure,
    /// Lines of non-temporal stores.
    pub stores: Figure,
    /// Both.
    pub both: Figure,
}

impl Beside {
    /// How much of the shorter's time comes to the longer's where both are done: 0 they do not meet, 1 they take turns.
    pub fn added(&self) -> f64 {
        let (loads, stores) = (self.loads.value(), self.stores.value());
        let shorter = loads.min(stores);
        if shorter <= 0.0 {
            return 1.0;
        }
        (self.both.value() - loads.max(stores)) / shorter
    }

    /// They take the same buffers: more than half of the shorter's time comes to the longer's. Memory's bandwidth is no
    /// reason on one core, which does not use it up.
    pub fn shares(&self) -> bool {
        self.added() > 0.5
    }
}

/// Measures in `memory`, whose contents nobody needs: loads in the first halves of the pages of its lower half, stores
/// in the second halves of those of its upper.
pub(crate) fn beside_loads(effort: Effort, memory: &Buffer) -> Option<Beside> {
    let ring = Ring::half_pages(memory, memory.size() / 2);
    let half = PAGE_LINES as u64 / 2;
    let lines = memory.lines() as u64 / 4;
    let mut next = 1u64;
    let mut store = || {
        for _ in 0..STORED {
            let upper = lines + random_line(&mut next, lines);
            let line = (2 * (upper / half) + 1) * half + upper % half;
            // SAFETY: a line of the buffer that no chain goes through.
            unsafe { store_around(memory.start().add(line as usize * LINE)) };
        }
    };
    let loads = ring.steps::<LOADS>(effort, || ());
    let both = ring.steps::<LOADS>(effort, &mut store);
    let stores = each(effort, |times| {
        for _ in 0..times * STEPS {
            store();
        }
    });
    let stores: Vec<f64> = stores.iter().map(|ns| ns / STEPS as f64).collect();
    full_fence();
    let (many, lines) = (
        format!("{LOADS} loads from memory at once"),
        format!("{STORED} lines stored around the caches"),
    );
    Some(Beside {
        loads: Figure::of(&loads, "ns", many.clone())?,
        stores: Figure::of(&stores, "ns", lines.clone())?,
        both: Figure::of(&both, "ns", format!("{many} and {lines}"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(loads: f64, stores: f64, both: f64) -> Beside {
        let figure = |ns: f64| Figure::of(&[ns], "ns", "").unwrap();
        Beside {
            loads: figure(loads),
            stores: figure(stores),
            both: figure(both),
        }
    }

    #[test]
    fn what_takes_turns_shares_and_what_overlaps_does_not() {
        assert!(beside(100.0, 80.0, 180.0).shares());
        assert!(beside(80.0, 100.0, 150.0).shares());
        assert!(!beside(100.0, 80.0, 105.0).shares());
        assert!(!beside(100.0, 80.0, 95.0).shares());
        assert!((beside(100.0, 80.0, 140.0).added() - 0.5).abs() < 1e-9);
    }
}
