//! What to do at a place (P0, sections 6.2.3, 5 and 7.4), and why.
//!
//! | sequential | fence soon | re-written | re-read | verdict |
//! |---|---|---|---|---|
//! | any | yes | yes, and not at once in its own line | any | demote; leave alone where other code of the thread writes many of the lines at once |
//! | yes | no | while cached | any | leave alone |
//! | in part, and the rest is written again | no | of all, by bytes, while cached | any | leave alone |
//! | yes, but too many at a time | any | no | any | leave alone |
//! | yes, with fences amid the lines, or (by one thread) every few lines | yes | no | any | leave alone |
//! | yes, in memory mapped anew each time | any | no | any | leave alone |
//! | yes | any | no | yes, or a little at once, or flushed already | clean, or leave alone |
//! | yes | any | no | no | skip; clean where many of the lines are written in part, or are read just before |
//! | no, but whole lines at once | no | no | no | skip |
//! | no | no | any | any | leave alone |
//! | no | yes | while cached, or an atomic took the line | any | leave alone |
//! | no | yes | no | any | clean |
//!
//! "While cached" is told by the bytes that came to the core meanwhile, not by instructions, so that
//! it does not depend on how well the code was compiled. What is written again while any cache holds it, also one that cores
//! share, would have been overwritten there: with a pre-store each writing goes to memory (where no fence waits for the data). The rows with too many streams, with fences amid lines, with memory mapped anew (see `fresh`), with whole lines (see `lone`) and the
//! last two refine P0. Where one loop fills hundreds of buffers by turns, each line is completed
//! over many visits: the buffers that gather non-temporal stores send it out in parts, and
//! cleaning it moves it alone, without its neighbours, at the cost of an instruction a line. A lone line that its core writes again and again, or has just
//! taken by an atomic (a lock), is in its cache in a writable state, so the fence does not wait for
//! it; and partial lines are better cleaned than written around the cache, where each would cost
//! the device a read. So are lines that are changed in place: P0 (7.2.2) names skip for such a loop (`psinv`), and used clean.

use crate::Thresholds;
use crate::far::Far;
use crate::findings::{CacheLimit, Dismissed, FenceDistance, Streams, Verdict};
use crate::lone::Lone;
use crate::reread::Reread;
use crate::told::Told;
use crate::usage::{Events, Usage};
use crate::words::{of, percent, size};
use crate::written::SizeClass;
use crate::{awaited, limit, reasons};

/// What speaks for and against at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) stores: u64,
    pub(crate) bytes: u64,
    /// Its stores are in code that others call as well (`memcpy`).
    pub(crate) generic_writer: bool,
    pub(crate) write_share: f64,
    /// Instructions in whose time the writing is done, as estimated.
    pub(crate) time: u64,
    pub(crate) sequential_share: f64,
    /// All sequential contexts as one.
    pub(crate) sequential: SizeClass,
    pub(crate) classes: &'a [SizeClass],
    /// Lines in sequential contexts of which other bytes were not written, or by other code.
    pub(crate) in_part: u64,
    /// Lines that sequential contexts went on with behind a fence.
    pub(crate) parted: u64,
    /// Threads that write here in sequence.
    pub(crate) writers: u32,
    /// Lines that other code of the thread wrote again within the fence window.
    pub(crate) returned: u64,
    /// Fences that writes waited for, of each store.
    pub(crate) fences: u64,
    /// Share of the lines in sequential contexts that were read just before, see [`crate::loaded`].
    pub(crate) in_place_share: f64,
    pub(crate) lone: Lone,
    /// Share of the lines in sequential contexts that were written for the first time, see [`crate::fresh`].
    pub(crate) fresh_share: f64,
    /// Those of them in memory that the process had before, gave back and got anew.
    pub(crate) anew_share: f64,
    /// Lines in sequential contexts that larger caches would have kept.
    pub(crate) far: Far,
    /// Lines that other threads read.
    pub(crate) told: Told,
    /// Sequential or not.
    pub(crate) whole: Usage,
    /// Not sequential.
    pub(crate) scattered: Usage,
    pub(crate) fence: FenceDistance,
    /// Share of its stores that are non-temporal already.
    pub(crate) non_temporal_share: f64,
    /// Share of its stores that are atomics, or write a line that one of the thread's has just taken.
    pub(crate) atomic_share: f64,
}

impl Evidence<'_> {
    /// Does a fence follow soon?
    pub(crate) fn is_fenced(&self, t: &Thresholds) -> bool {
        self.fence.median.is_some_and(|m| m <= t.fence_window)
    }

    /// Do fences part its sequential writing so often that memory farther than that of P0's machines would make each wait?
    fn waits_for_far_memory(&self, t: &Thresholds) -> bool {
        let sequential = self.sequential_share >= t.min_sequential_share;
        sequential && self.is_fenced(t) && self.lines_a_fence() <= MAX_LINES_A_FAR_FENCE
    }

    /// Lines of sequential contexts from one fence to the next, where fences follow all of them.
    fn lines_a_fence(&self) -> f64 {
        let usage = &self.sequential.usage;
        // Small objects that lie apart, with a fence each, are P0's listing 2: there is nothing between them that a fence parts.
        let pieces = (self.parted + usage.cut).min(self.fences);
        usage.lines as f64 / pieces.max(1) as f64
    }
}

/// From this share of its lines on that have a fence between two of their stores, sequential writing is cut to pieces: at the
/// fence, the buffer that gathers non-temporal stores is sent out as it is, and a line that is cleaned is waited for each time.
/// Simulated on P0's machines A and B, an atomic every 8 to 128 bytes: skip takes up to 8.6 times as long, clean 1.2 to 6.6 times;
/// with one every 256 bytes clean gains on B, every 4 KB both gain on A. Near a half, as 128 bytes may begin within a line.
pub(crate) const MIN_CUT_SHARE: f64 = 0.45;

/// Lines from one fence to the next up to which a fence costs more than sequential writing gains: with a store around the cache
/// or a clean it waits until its lines have come to the memory, a hundred nanoseconds and more, where an ordinary store is over when the
/// core has the line; of few lines nothing else is done meanwhile.
/// Simulated, an atomic behind each line of 64 bytes: clean takes 2.8 times as long on P0's machine A and skip 3.1 to 4 times, both ten times
/// or more on a Sapphire Rapids with memory behind CXL, and neither gains on B. Behind every fourth line A runs at 0.85 to 0.93 of its speed
/// with skip and 0.81 with clean, though B gains (clean 1.34, demote 1.76). Behind every sixth, eighth, twelfth and sixteenth both gain: skip on
/// A 1.37, 1.49, 1.42 and 1.43, clean on B 1.94, 2.51, 2.43 and 3.03; with two hundred additions before each fence
/// 1.25, 1.40 (in place; as a buffer that is copied 0.72, 0.81) and 2.67, 3.23.
const MAX_LINES_A_FENCE: f64 = 4.5;

/// Of all threads that write so together, as while one waits at its fence the others' lines are under way; but not where each line has a fence.
/// What several threads evict in random order takes all of the memory's rate of writing, and its amplification then costs more than the fences do.
/// Simulated on machine A, a hash table whose values lie one behind the other, with a lock for each: with 256 B one thread runs at 0.98 of its
/// speed with skip and 0.89 with clean, two at 1.63 and 1.49, but at 0.78 with 128 B. P0 (7.2.3) measured a gain of 21% for 128 B with ten threads.
const LINE_A_FENCE: f64 = 1.5;

/// Up to so many lines from one fence to the next, memory that is farther than that of P0's machines makes each fence wait longer than the
/// lines' way to it and back takes otherwise: simulated on a Sapphire Rapids with memory behind CXL, skip runs at 0.47 of the speed with 8 lines,
/// 0.73 with 16, and 1.14 with 32.
const MAX_LINES_A_FAR_FENCE: f64 = 24.0;

/// From this share of its stores on that are non-temporal, a place skips the cache already. A copy does not write all of its bytes so: its head
/// and its tail, which are no whole lines, are stored as others are (glibc's `memcpy` of large blocks, libpmem's).
const MIN_NON_TEMPORAL_SHARE: f64 = 0.75;

/// The program that the place is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    /// Share of the time that writing takes.
    pub(crate) write_time: f64,
}

impl Program {
    pub(crate) fn is_write_intensive(self, t: &Thresholds) -> bool {
        self.write_time >= t.min_write_time
    }
}

/// What to do, and why.
#[derive(Clone, Debug)]
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    pub(crate) reason: String,
    pub(crate) dismissed: Option<Dismissed>,
    /// See [`crate::Finding::written_once`].
    pub(crate) written_once: bool,
    /// Up to which size of the last-level cache the verdict holds; `None`: up to any that was looked at.
    pub(crate) limit: Option<CacheLimit>,
}

/// Of more of its lines than this it has to be known whether they are written again, or advice to send them to memory says that it is not.
const MAX_OPEN_SHARE: f64 = 0.5;

/// The verdict and its reason; where it would be another one if only the place or the program wrote
/// more, that too.
pub(crate) fn decide(e: &Evidence<'_>, program: Program, t: &Thresholds) -> Decision {
    let (verdict, mut reason) = judge(e, t);
    let sent = matches!(verdict, Verdict::Skip | Verdict::Clean);
    if sent && e.waits_for_far_memory(t) {
        reason.push_str(&reasons::far_fences(e.lines_a_fence()));
    }
    if verdict == Verdict::Skip {
        reason.push_str(&e.told.reason(e.whole.lines));
    }
    let open = e.whole.open_share();
    if sent && open > MAX_OPEN_SHARE {
        reason.push_str(&reasons::open(open));
    }
    if sent && e.fresh_share >= t.min_fresh_share {
        reason.push_str(&reasons::fresh(e));
    }
    // What its own writes speak against is told so, however much the program writes.
    let dismissed = (verdict != Verdict::LeaveAlone).then(|| too_little(e, program, t));
    match dismissed.flatten() {
        None => Decision {
            verdict,
            reason,
            dismissed: None,
            written_once: sent && e.is_written_once(),
            limit: limit::of_verdict(verdict, e, t),
        },
        Some(why) => Decision {
            verdict: Verdict::LeaveAlone,
            reason: why,
            dismissed: Some(Dismissed { verdict, reason }),
            written_once: false,
            limit: None,
        },
    }
}

fn too_little(e: &Evidence<'_>, program: Program, t: &Thresholds) -> Option<String> {
    if !program.is_write_intensive(t) {
        return Some(format!(
            "The program is not write-intensive: writing takes {} of its time, as estimated, and \
             below {} pre-stores have no effect on the whole.",
            percent(program.write_time),
            percent(t.min_write_time)
        ));
    }
    if e.write_share < t.min_advice_share {
        return Some(format!(
            "Too few writes: {} of the program's.",
            percent(e.write_share)
        ));
    }
    (e.time < t.min_advice_time).then(|| {
        format!(
            "Over at once: all the writing here takes the time of {} instructions, as estimated, and of less than {} \
             nothing can be gained that anybody could measure.",
            e.time, t.min_advice_time
        )
    })
}

/// The verdict on the place alone.
fn judge(e: &Evidence<'_>, t: &Thresholds) -> (Verdict, String) {
    if e.non_temporal_share >= MIN_NON_TEMPORAL_SHARE {
        return (Verdict::LeaveAlone, reasons::non_temporal(e));
    }
    let sequential = e.sequential_share >= t.min_sequential_share;
    let fenced = e.is_fenced(t);
    if !sequential && !fenced && is_whole_lines(e, t) {
        return (Verdict::Skip, reasons::whole_lines(e, t));
    }
    if !sequential && !fenced {
        return (Verdict::LeaveAlone, reasons::scattered(e, t));
    }
    let usage = if sequential {
        e.sequential.usage
    } else {
        e.whole
    };
    if usage.lines == 0 {
        let reason = "Other code of the thread completes each line that is written here, so a \
                      pre-store belongs there.";
        return (Verdict::LeaveAlone, reason.to_owned());
    }
    if fenced && let Some(decided) = awaited::before_a_fence(e, &usage, sequential, t) {
        return decided;
    }
    let fence = reasons::fence(e, fenced);
    let flushed = of(e.whole.flushed, e.whole.lines) >= t.min_flushed_share;
    if !sequential {
        return match flushed {
            true => (Verdict::LeaveAlone, reasons::flushed(e)),
            false => (Verdict::Clean, reasons::lone_before_fence(e, &fence)),
        };
    }
    let again = Again::of(&usage, fenced, t);
    if again.share() >= t.min_rewrite_share {
        return (Verdict::LeaveAlone, reasons::rewritten(e, &again));
    }
    let rest = Again::of(&e.scattered, fenced, t);
    let all = e.sequential_share * again.share() + (1.0 - e.sequential_share) * rest.share();
    if all > t.min_rewrite_share {
        return (
            Verdict::LeaveAlone,
            reasons::rest_rewritten(e, all, &again, &rest),
        );
    }
    let cut = usage.cut_share();
    if cut >= MIN_CUT_SHARE {
        return (Verdict::LeaveAlone, reasons::cut_by_fences(e, cut));
    }
    let lines = e.lines_a_fence();
    let few = lines <= LINE_A_FENCE || lines * f64::from(e.writers) <= MAX_LINES_A_FENCE;
    // Where the program flushes them, its fence waits for them anyway.
    if fenced && !flushed && few {
        return (
            Verdict::LeaveAlone,
            reasons::fence_every_few_lines(e, lines),
        );
    }
    let late = streams(&e.sequential);
    if late.share >= t.min_late_share {
        return (Verdict::LeaveAlone, reasons::many_streams(e, late, t));
    }
    if e.anew_share >= t.min_fresh_share {
        return (Verdict::LeaveAlone, reasons::anew(e));
    }
    let reread = Reread::of(e, t);
    let in_part = of(e.in_part, usage.lines).min(1.0);
    // Advice to skip would be what is reported as a pitfall where it is found.
    let in_place = e.in_place_share >= t.min_in_place_share;
    if !reread.speaks_for_cleaning() && in_part < t.min_partial_share && !in_place {
        return (Verdict::Skip, reasons::skip(e, &reread, &again, &fence, t));
    }
    if flushed {
        return (Verdict::LeaveAlone, reasons::flushed(e));
    }
    let reason = if reread.is_kept {
        reasons::clean(e, &reread, &again, &fence, t)
    } else if reread.is_awaited {
        reread.clean(e, &again, &fence)
    } else if in_place {
        reasons::clean_in_place(e, &again, &fence)
    } else {
        reasons::clean_parts(e, in_part, &again, &fence)
    };
    (Verdict::Clean, reason)
}

/// From this share of its lines on, a place without sequence writes whole lines.
const MIN_WHOLE_SHARE: f64 = 0.75;

/// Does the place write whole lines, if in no sequence, each at once, that nobody reads or writes soon before or after?
fn is_whole_lines(e: &Evidence<'_>, t: &Thresholds) -> bool {
    of(e.lone.whole, e.whole.lines) >= MIN_WHOLE_SHARE
        && Again::of(&e.whole, false, t).share() < t.min_rewrite_share
        && e.whole.reread_near_share(e.whole.reread_near.n) < t.min_reread_share
        && e.lone.loaded.share() < t.min_in_place_share
        && of(e.whole.flushed, e.whole.lines) < t.min_flushed_share
}

/// Lines that are written again where a pre-store would have sent them to memory in vain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Again {
    pub(crate) events: Events,
    share: f64,
    /// Before so many bytes have come to the core.
    before: u64,
    pub(crate) fenced: bool,
}

impl Again {
    /// Where a fence waits for the data it is sent to memory for the fence's sake, and what speaks against it is only that it
    /// would still be in the core's own cache: P0 skips the values of a key-value store (7.2.3), popular ones too.
    pub(crate) fn of(usage: &Usage, fenced: bool, t: &Thresholds) -> Self {
        let (events, share, before) = match fenced {
            true => (
                usage.rewritten_near,
                usage.rewritten_near_share(),
                t.near_bytes,
            ),
            false => {
                let events = usage.rewritten_cached;
                (
                    events,
                    usage.rewritten_cached_share(events.n),
                    t.reach_bytes,
                )
            }
        };
        Self {
            events,
            share,
            before,
            fenced,
        }
    }

    /// Those that are written again while near the core.
    pub(crate) fn near(usage: &Usage, t: &Thresholds) -> Self {
        Self {
            fenced: false,
            ..Self::of(usage, true, t)
        }
    }

    pub(crate) fn share(&self) -> f64 {
        self.share
    }

    /// Before what has come to the core.
    pub(crate) fn before(&self) -> String {
        match self.fenced {
            true => size(self.before),
            false => format!("{} (shared by the threads at work)", size(self.before)),
        }
    }
}

/// Lines that are completed late, of those of sequential contexts. The first line of each was none's when it was written.
pub(crate) fn streams(sequential: &SizeClass) -> Streams {
    let r = sequential.usage.returns;
    let lines = sequential.usage.lines.saturating_sub(sequential.count);
    let mean = |n: u64, of: u64| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    Streams {
        share: of(r.lines, lines).min(1.0),
        visits: mean(r.n + r.lines, r.lines),
        between: mean(r.turns, r.n),
    }
}
