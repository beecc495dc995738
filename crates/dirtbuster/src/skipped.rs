//! What reads of data that was skipped cost.

use crate::usage::Usage;
use crate::words::percent;

/// From this share of the lines on it is said what reads of them cost. On an AMD EPYC (Zen 4, DRAM) non-temporal stores of rows one
/// element of which was read at once took 1.37, 2.3, 4.1 and 9.9 times as long as ordinary ones where that was in 0.8, 3.1, 6.3 and 12.5%
/// of the lines; without the reads 1.09 to 1.26 times (medians of 7).
const MIN_READ_SHARE: f64 = 0.01;

/// Farthest, in instructions in the mean, that these reads may be: what was measured was read at once.
const SOON: f64 = 10_000.0;

/// To be added to advice to skip: below the share of lines that speaks for cleaning, reads of what would still be near the core may cost
/// all that is gained.
pub(crate) fn read_from_memory(usage: &Usage) -> String {
    let near = usage.reread_near_share(usage.reread_near.n);
    let soon = usage.reread_near.mean().is_some_and(|mean| mean <= SOON);
    if near < MIN_READ_SHARE || !soon {
        return String::new();
    }
    format!(
        " Beware: {} of the lines are read soon, and what reads them waits for the memory. That costs more than is gained where it is DRAM \
         (2 to 10 times as long on an AMD Zen 4, where one element of each row of 2 KB to 512 B was read at once): keep what is read in a \
         register or a copy, or leave the place alone there; `prestore try` measures it.",
        percent(near),
    )
}
