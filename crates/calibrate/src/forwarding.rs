//! A load right behind the store that has its data.

use crate::arch::{merging_loads, store, unknown_zero};
use crate::buffer::{Buffer, LINE};
use crate::chase::random_line;
use crate::figure::{Figure, each};
use crate::{CalibrateError, Effort};

/// Pairs of store and load between two looks at the clock.
const PAIRS: u64 = 64;

/// Nanoseconds of a store to a line that is in no cache and a load of what it stored; where to comes from the load
/// before. Where stores are forwarded whatever is in the caches, that is soon; else it is a miss.
pub(crate) fn of_misses(effort: Effort, memory: &Buffer) -> Option<Figure> {
    let (mut next, mut loaded, zero) = (1u64, 0u64, unknown_zero());
    let runs = each(effort, |times| {
        for _ in 0..times * PAIRS {
            let line = random_line(&mut next, memory.lines() as u64) + (loaded & zero);
            // SAFETY: within a line of the buffer, aligned. Pointers of a chase are no longer needed.
            unsafe {
                let word = memory.start().add(line as usize * LINE);
                store(word, 1);
                loaded = word.cast::<u64>().read_volatile();
            }
        }
    });
    let runs: Vec<f64> = runs.iter().map(|ns| ns / PAIRS as f64).collect();
    let how = format!(
        "a store to a random line of {} MiB and a load of it, each pair waiting for the one before",
        memory.size() >> 20
    );
    Figure::of(&runs, "ns", how)
}

/// Nanoseconds of a load that merges what two stores have left behind it, one such after the other.
pub(crate) fn of_several(effort: Effort) -> Result<Option<Figure>, CalibrateError> {
    let buffer = Buffer::new(LINE)?;
    // SAFETY: the buffer has a line.
    let runs = each(effort, |rounds| unsafe {
        merging_loads(buffer.start(), rounds)
    });
    let runs: Vec<f64> = runs.iter().map(|ns| ns / 8.0).collect();
    let how = "two stores of 8 bytes and a load of both, one such after the other";
    Ok(Figure::of(&runs, "ns", how))
}
