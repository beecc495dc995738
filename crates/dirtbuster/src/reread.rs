//! What reads of the data soon after it was written say for keeping it in the caches.

use crate::Thresholds;
use crate::reasons::written_again;
use crate::usage::Usage;
use crate::verdict::{Again, Evidence};
use crate::words::{distance, percent};

/// From this share of the lines on it is said what reads of them cost if they are skipped. On an AMD EPYC (Zen 4, DRAM) non-temporal
/// stores of rows one element of which was read at once took 1.37, 2.3, 4.1 and 9.9 times as long as ordinary ones where that was in
/// 0.8, 3.1, 6.3 and 12.5% of the lines; without the reads 1.09 to 1.26 times (medians of 7).
const MIN_SAID_SHARE: f64 = 0.005;

/// Reads of what a place writes in sequence, while it is near the core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reread {
    /// Share of the lines that are read.
    pub(crate) lines: f64,
    /// The same, with all lines of an object of which one is read.
    pub(crate) objects: f64,
    /// Instructions from the write of a line to its read; `None`: none is read.
    mean: Option<f64>,
    /// Are they read so soon that non-temporal stores would still be on their way?
    is_read_soon: bool,
    /// Do enough of the objects profit from staying cached?
    pub(crate) is_kept: bool,
    /// Would enough of the lines be waited for if they were skipped?
    pub(crate) is_awaited: bool,
}

/// Are the lines that are read while near the core read so soon that non-temporal stores to them are still on their way?
fn is_read_soon(usage: &Usage, t: &Thresholds) -> bool {
    let mean = usage.reread_near.mean();
    mean.is_some_and(|mean| mean <= t.soon as f64)
}

/// Are so many of the lines read so soon that waiting for them costs more than non-temporal stores gain?
pub(crate) fn is_awaited(usage: &Usage, t: &Thresholds) -> bool {
    let share = usage.reread_near_share(usage.reread_near.n);
    share >= t.min_read_soon_share && is_read_soon(usage, t)
}

impl Reread {
    pub(crate) fn of(e: &Evidence<'_>, t: &Thresholds) -> Self {
        let usage = &e.sequential.usage;
        let lines = usage.reread_near_share(usage.reread_near.n);
        let objects = e.sequential.reused_share();
        let mean = usage.reread_near.mean();
        // Whether rows of a matrix are objects or one array depends on the order in which they are written, what reads of them cost does not.
        let some = lines >= t.min_read_soon_share;
        Self {
            lines,
            objects,
            mean,
            is_read_soon: is_read_soon(usage, t),
            is_kept: some && objects >= t.min_reread_share,
            is_awaited: is_awaited(usage, t),
        }
    }

    /// Better cleaned than skipped?
    pub(crate) fn speaks_for_cleaning(&self) -> bool {
        self.is_kept || self.is_awaited
    }

    /// To be added to advice to skip: below the share of lines that speaks for cleaning, reads of what would still be near the core may
    /// cost all that is gained.
    pub(crate) fn waits_for_memory(&self) -> String {
        if self.lines < MIN_SAID_SHARE || !self.is_read_soon {
            return String::new();
        }
        format!(
            " Beware: {} of the lines are read soon, and what reads them waits for the memory. That may cost more than is gained where it is \
             DRAM (1.4 times as long on an AMD Zen 4 with one line of each row of 8 KB read at once): keep what is read in a register or a \
             copy, or leave the place alone there; `prestore try` measures it.",
            percent(self.lines),
        )
    }

    /// Few of the lines are read, but so soon that skipping would make each wait twice.
    pub(crate) fn clean(&self, e: &Evidence<'_>, again: &Again, fence: &str) -> String {
        format!(
            "{} of the writes are sequential, and {} of the lines that they wrote are read soon, after {} on average, but {} of it is \
             written again before {} more have come to the core: cleaning writes the lines back in order and keeps them cached for the \
             reads. What reads a line that non-temporal stores have just sent waits until memory has it, and then for memory: with one line of \
             32 read so, skipping took 1.6 times as long as ordinary stores on an Intel Emerald Rapids with DRAM and 2.3 times on an AMD \
             Zen 4, with one of eight 5.5 and 9.9 times.{fence}",
            percent(e.sequential_share),
            percent(self.lines),
            distance(self.mean),
            written_again(again),
            again.before(),
        )
    }
}
