//! Every number a verdict hangs on, named, with its reason, settable.

use serde::{Deserialize, Serialize};

/// The analysis's constants. [`Thresholds::default`] are the ones the known answers hold with;
/// [`Thresholds::list`] gives them by name for a command line, [`Thresholds::set`] sets one.
///
/// Distances are in executed instructions, sizes in bytes, shares from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Estimated share of the time that writing takes below which a program is not
    /// write-intensive.
    pub min_write_time: f64,
    /// Share of the program's writing below which a place is not listed.
    pub min_store_share: f64,
    /// Share of the program's writing below which a listed place gets no advice.
    pub min_advice_share: f64,
    /// Instructions in whose time a listed place's writing is done, as estimated, below which it gets no advice.
    pub min_advice_time: u64,
    /// Share of a place's written bytes in sequential contexts from which on it is sequential.
    pub min_sequential_share: f64,
    /// Smallest span of a context that counts as sequential.
    pub min_context_bytes: u64,
    /// Share of a context's span that must have been written; a write that would make the
    /// context sparser starts another one.
    pub min_density: f64,
    /// Longest pause between two writes of one context.
    pub max_pause: u64,
    /// Largest object that counts as re-read as a whole when one of its lines is.
    pub object_bytes: u64,
    /// Distance of a fence within which it waits for the write.
    pub fence_window: u64,
    /// Bytes that may come to a core until what it touched before has left its own cache.
    pub near_bytes: u64,
    /// Bytes of different lines that may be touched until it has left its own cache and its part of the shared one, so that
    /// reading it again means going to memory.
    pub kept_bytes: u64,
    /// Bytes of different lines that may be touched until it has left the caches that cores share, too: what is written again before was never to leave.
    pub reach_bytes: u64,
    /// Sequential contexts that can be written by turns, with non-temporal stores, without the
    /// lines being sent out incomplete.
    pub max_streams: u64,
    /// Share of the lines that are completed late, after more streams than that, from which on a
    /// place writes too many streams.
    pub min_late_share: f64,
    /// Share of the written lines from which on they count as re-read.
    pub min_reread_share: f64,
    /// Share of the written lines that are read within `soon` from which on non-temporal stores lose what they gain.
    pub min_read_soon_share: f64,
    /// Instructions from a write to a read, in the mean, up to which the read finds the line still on its way to memory.
    pub soon: u64,
    /// Share of the written lines from which on they count as re-written.
    pub min_rewrite_share: f64,
    /// Share of the written lines that are re-written within the rewrite window from which on
    /// data before a fence is better demoted than cleaned or skipped.
    pub min_demote_share: f64,
    /// Share of the written lines that are flushed from which on the place counts as cleaned.
    pub min_flushed_share: f64,
    /// Share of an instruction's flushes or fences from which on they count as useless.
    pub min_useless_share: f64,
    /// Share of an instruction's non-temporal lines that leave incomplete which is reported.
    pub min_partial_share: f64,
    /// Instructions from a read of a line to its first write, at most, if it was read just before.
    pub in_place_window: u64,
    /// Share of the sequentially written lines that were read just before from which on a place changes data in place.
    pub min_in_place_share: f64,
    /// Share of the sequentially written lines that are written for the first time, in pages that the kernel has just made,
    /// from which on advice to skip or clean says so; of memory that was given back and got anew, from which on there is none.
    pub min_fresh_share: f64,
    /// Estimated share of the program's time from which on a useless operation is reported.
    pub min_cost_share: f64,
    /// Instructions in whose time a core gets a line from memory or another core.
    pub line_cost: u64,
    /// Bytes that one store's time is enough for.
    pub store_width: u64,
    /// Instructions in whose time a fence is executed that waits for nothing.
    pub fence_cost: u64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            min_write_time: 0.10,
            min_store_share: 0.01,
            min_advice_share: 0.01,
            min_advice_time: 10_000,
            min_sequential_share: 0.40,
            min_context_bytes: 128,
            min_density: 0.75,
            max_pause: 200_000,
            object_bytes: 8192,
            fence_window: 1000,
            near_bytes: 1 << 20,
            kept_bytes: 5 << 19,
            reach_bytes: 10 << 20,
            max_streams: 7,
            min_late_share: 0.20,
            min_reread_share: 0.30,
            min_read_soon_share: 0.015,
            soon: 10_000,
            min_rewrite_share: 0.50,
            min_demote_share: 0.75,
            min_flushed_share: 0.50,
            min_useless_share: 0.50,
            min_partial_share: 0.25,
            in_place_window: 256,
            min_in_place_share: 0.75,
            min_fresh_share: 0.50,
            min_cost_share: 0.01,
            line_cost: 28,
            store_width: 32,
            fence_cost: 66,
        }
    }
}

/// One threshold as a command line shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThresholdInfo {
    /// Its name, as in [`Thresholds`].
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What it is, why its default is what it is, and where that comes from.
    pub doc: &'static str,
}

/// Why a threshold could not be set.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ThresholdError {
    /// No threshold has this name.
    #[error("there is no threshold `{0}`; `prestore advise --help` lists them")]
    Unknown(String),
    /// The value makes no sense for it.
    #[error("threshold `{name}` cannot be {value}: {what}")]
    Range {
        /// Which.
        name: &'static str,
        /// The value asked for.
        value: f64,
        /// What values it takes.
        what: &'static str,
    },
}

const SHARE: &str = "it is a share, from 0 to 1";
const WHOLE: &str = "it is a whole number, 0 or more, below 10^18";

macro_rules! thresholds {
    ($($name:ident: $kind:ident, $doc:expr;)*) => {
        impl Thresholds {
            /// All thresholds with their present values and reasons.
            pub fn list(&self) -> Vec<ThresholdInfo> {
                vec![$(ThresholdInfo {
                    name: stringify!($name),
                    value: self.$name as f64,
                    doc: $doc,
                }),*]
            }

            /// Sets the threshold called `name`.
            ///
            /// # Errors
            /// [`ThresholdError`] for an unknown name or a value out of range.
            pub fn set(&mut self, name: &str, value: f64) -> Result<(), ThresholdError> {
                match name {
                    $(stringify!($name) => {
                        self.$name = thresholds!(@ $kind stringify!($name), value)?;
                        Ok(())
                    })*
                    _ => Err(ThresholdError::Unknown(name.to_owned())),
                }
            }
        }
    };
    (@ share $name:expr, $value:expr) => {
        if (0.0..=1.0).contains(&$value) {
            Ok($value)
        } else {
            Err(ThresholdError::Range { name: $name, value: $value, what: SHARE })
        }
    };
    (@ whole $name:expr, $value:expr) => {
        if $value >= 0.0 && $value.fract() == 0.0 && $value < 1e18 {
            Ok($value as u64)
        } else {
            Err(ThresholdError::Range { name: $name, value: $value, what: WHOLE })
        }
    };
}

thresholds! {
    min_write_time: share,
        "Share of the time that writing takes below which a program is not write-intensive and \
         gets no advice: pre-stores would have no effect. P0, section 7.1: 10% of the time. The \
         time is estimated: see line_cost, store_width.";
    min_store_share: share,
        "Share of the program's writing (bytes stored, and bytes of lines that leave for memory) \
         below which a place is not listed: a perfect cure of 1% of it cannot be measured.";
    min_advice_share: share,
        "Share of the program's writing below which a listed place gets no advice.";
    min_advice_time: whole,
        "Instructions in whose time all of a place's writing is done, below which it gets no advice: a few \
         microseconds of the whole run, which nobody can measure, whatever their share of a program that is over at once.";
    min_sequential_share: share,
        "Share of a place's written bytes in sequential contexts from which on the place is \
         sequential. P0, section 7.2.1 gives advice at 50%; a little below, so that 50% is safe.";
    min_context_bytes: whole,
        "Smallest span of a sequential context: two 64 B lines. Below, there is no adjacent line \
         that could be written back along with it (P0, section 4.1).";
    min_density: share,
        "Part of a context's span that must be written. Random writes into a small table land \
         close to one another, but leave most of what lies between them unwritten.";
    max_pause: whole,
        "Instructions after which an idle context is closed: its lines have left the cache by \
         then, and a write next to it is a neighbour by chance.";
    object_bytes: whole,
        "Contexts up to this size are objects: reading one field means that the object is \
         re-read (P0, listing 1: one field of an element of up to 4 KB; twice that, as two \
         neighbours may be written in a row). Larger ones are arrays: by their share of lines.";
    fence_window: whole,
        "Instructions within which a following fence still finds the write in the core's \
         buffers. P0, figure 5: demoting gains up to some hundred instructions before the fence \
         on slow memory, and nothing far beyond.";
    near_bytes: whole,
        "Bytes of lines that come anew to a core until what it touched before counts as gone from \
         its own cache: a re-write before need not get the line, and no fence waits for it. 1 MB: the private cache of \
         P0's machine A (Xeon Gold 6230); later server cores have 1 to 2 MB.";
    kept_bytes: whole,
        "The same for its own cache and its part of the shared one, each line counted once however often it comes: a \
         re-read before profits from staying cached. 2.5 MB: machine A has 1 MB of L2 and 1.4 MB of L3 a core. Simulated there, \
         with the other cores idle, a buffer written and then read is better cleaned than skipped at 2 MB \
         (1.42x to 1.17x), about the same at 4 MB (1.18x to 1.16x), and worse at 8 MB (1.14x to \
         1.17x).";
    reach_bytes: whole,
        "The same, each line counted once, for caches that cores share: a re-write before would have found the line in a cache and \
         overwritten it there, so that a write-back or a store around the cache is one more write to memory; and \
         before a fence the data is one that lives in the cache, as the slots of a message ring do (P0, section 7.3.2). \
         10 MB: less than the last level of P0's machines, 27.5 MB (A) and 16 MB (B), for which other data competes; \
         for re-writes each thread at work has its part of it, and no less than kept_bytes. \
         Simulated on A, arrays that are swept over again and again run at 0.53 to 0.88 of their speed with clean at 1.5 to 8 MB, \
         and at 0.23 to 0.76 with skip.";
    max_streams: whole,
        "Sequential contexts that one piece of code can write by turns with non-temporal stores. \
         Each needs one of the core's buffers until its line is complete: 10 on Intel's Skylake, \
         12 on Sunny Cove, 16 on Golden Cove (fill buffers; Intel's optimization manual), 8 on \
         AMD's Zen 4. With more, lines leave in parts, and each part is a write to memory. \
         7, as everything else needs one, too: on a Zen 4, arrays of 8-byte elements that are filled by turns take 1.0 to 1.8 \
         times as long with non-temporal stores as without for 1 to 7 of them, 2.6 times for 8, and 33 times for 9.";
    min_late_share: share,
        "Share of the sequentially written lines that are come back to after \
         max_streams other streams or more, or are open beside as many, from which on the place gets neither skip nor clean. \
         On a Zen 4 a part of a line costs 12 ns, and a whole one 2.5.";
    min_reread_share: share,
        "Share of the written lines that are re-read near the core from which on they \
         count as re-read. P0, section 7.2.1: 60% of the sequential writes were, and that decided.";
    min_read_soon_share: share,
        "Share of the written lines that are read soon (see soon) from which on the place is cleaned rather than skipped, and below \
         which objects do not count as re-read. One line of an element of 4 KB, as in P0's listing 1, is 1.6%. A read of a line that \
         has just been sent around the caches waits until memory has it, and then for memory: 270 ns on a Xeon with DRAM (Emerald \
         Rapids), where a line costs 7 ns with ordinary stores. Rows of which one line is read at once took there 5.5, 2.6, 1.6 and 0.86 times \
         as long with non-temporal stores for 12.5, 6.3, 3.1 and 1.6% of the lines, on a Zen 4 9.9, 4.1 and 2.3 times for the first three, and 1.37 \
         times for 0.8%.";
    soon: whole,
        "Instructions from a write of a line to its read, in the mean, up to which it is read soon. What was measured was read at once.";
    min_rewrite_share: share,
        "Share of the written lines that are re-written from which on they count as re-written: \
         with half of them, every second write-back would be for nothing (P0, listing 3: 75x).";
    min_demote_share: share,
        "Share of the written lines that are re-written within reach_bytes from which on \
         data before a fence lives in the cache. All slots of a ring do (P0, section 7.3.2); of \
         the values of a key-value store the popular ones may, and P0 skips those (7.2.3).";
    min_flushed_share: share,
        "Share of the written lines that the program flushes itself from which on advice to clean \
         them is followed already.";
    min_useless_share: share,
        "Share of an instruction's flushes or fences that are useless from which on it is \
         reported: where most are useful, a test before each would cost more than it saves.";
    min_partial_share: share,
        "Share of an instruction's non-temporal lines that leave incomplete from which on it is \
         reported, and of the lines that would at a place from which on it is not advised to skip. The ends of a copy that \
         is not aligned are two lines; copies worth non-temporal stores have more than eight.";
    in_place_window: whole,
        "Instructions from a read of a line to the first write of this visit to it, at most, if it is read just before: the \
         body of a loop, unrolled, or compiled without optimisation. A row of a matrix that is worked on in a buffer first \
         takes thousands, and its lines are written whole, without a read between. Chosen, not measured.";
    min_in_place_share: share,
        "Share of the sequentially written lines that are read at most in_place_window before they are written, from \
         which on the place changes data in place and is cleaned rather than skipped. Nearly all lines of a loop that \
         does are; of objects whose first line is read before they are written anew, half at most.";
    min_fresh_share: share,
        "Share of the sequentially written lines that are written for the first time, in pages that the kernel has just zeroed \
         (from a sample; where all that ran before was recorded), from which on advice to skip or to clean says that it is not for \
         memory that is written once; and there is none where the program got as much of it anew, after giving it back. Filling 256 MB of such pages of 4 KB takes 1.04 (a Zen 4) to 2.0 times (a Xeon with AMX) as long \
         with non-temporal stores as without, of memory that was written before 0.27 times on the latter.";
    min_cost_share: share,
        "Estimated share of the program's time from which on a useless flush, fence or partial \
         line is reported: less cannot be measured.";
    line_cost: whole,
        "Instructions in whose time a core gets a line of 64 bytes from memory, or another core: 10 to 12 \
         fill buffers over a memory latency of 80 ns are 8 to 10 GB/s for one core, 14 cycles a \
         line at P0's 2.1 GHz, in which two instructions a cycle are executed. A line that is \
         written must be got first; its way back takes no core's time.";
    store_width: whole,
        "Bytes that a core writes to its own cache in one instruction's time: the widest stores \
         of most compiled code. `rep stosb` and wide vectors count by it.";
    fence_cost: whole,
        "Instructions in whose time a fence is executed that has nothing to wait for: 33 cycles \
         for `mfence` on Skylake (Agner Fog's instruction tables), two instructions a cycle.";
}
