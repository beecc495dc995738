//! What to do at a place (P0, sections 6.2.3, 5 and 7.4), and why.
//!
//! | sequential | fence soon | re-written | re-read | verdict |
//! |---|---|---|---|---|
//! | any | yes | yes, and not at once in its own line | any | demote |
//! | yes | no | while cached | any | leave alone |
//! | yes | any | no | yes | clean |
//! | yes | any | no | no | skip |
//! | no | no | any | any | leave alone |
//! | no | yes | while cached, or an atomic took the line | any | leave alone |
//! | no | yes | no | any | clean |
//!
//! The last two rows refine P0: a lone line that its core writes again and again, or has just
//! taken by an atomic (a lock), is in its cache in a writable state, so the fence does not wait for
//! it; and partial lines are better cleaned than written around the cache, where each would cost
//! the device a read.

use crate::Thresholds;
use crate::findings::{FenceDistance, Verdict};
use crate::origins::SizeClass;
use crate::usage::Usage;

/// What speaks for and against at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence<'a> {
    pub(crate) stores: u64,
    pub(crate) store_share: f64,
    pub(crate) sequential_share: f64,
    /// All sequential contexts as one.
    pub(crate) sequential: SizeClass,
    pub(crate) classes: &'a [SizeClass],
    /// Sequential or not.
    pub(crate) whole: Usage,
    pub(crate) fence: FenceDistance,
    /// All its stores are non-temporal already.
    pub(crate) non_temporal: bool,
    /// Share of its stores that are atomics.
    pub(crate) atomic_share: f64,
}

/// From this share of atomics on, a place writes lines that its own atomics have just taken: a
/// lock and what it guards, of which a third are the taking, a third the giving back.
const MIN_ATOMIC_SHARE: f64 = 0.25;

/// The program that the place is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Program {
    pub(crate) store_fraction: f64,
    pub(crate) write_intensive: bool,
}

impl Program {
    pub(crate) fn new(stores: u64, instructions: u64, t: &Thresholds) -> Self {
        let store_fraction = if instructions == 0 {
            0.0
        } else {
            stores as f64 / instructions as f64
        };
        Self {
            store_fraction,
            write_intensive: store_fraction >= t.min_store_fraction,
        }
    }
}

fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.001 {
        "under 0.1%".to_owned()
    } else if share < 0.0995 {
        format!("{:.1}%", share * 100.0)
    } else {
        format!("{:.0}%", share * 100.0)
    }
}

fn of(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// A mean distance in words.
fn distance(mean: Option<f64>) -> String {
    match mean {
        None => "never".to_owned(),
        Some(d) if d >= 1e6 => format!("{:.1} M instructions", d / 1e6),
        Some(d) if d >= 1e4 => format!("{:.1} K instructions", d / 1e3),
        Some(d) => format!("{d:.0} instructions"),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 10 << 20 => format!("{} MB", b >> 20),
        b if b >= 1 << 20 => format!("{:.1} MB", b as f64 / f64::from(1 << 20)),
        b if b >= 10 << 10 => format!("{} KB", b >> 10),
        b => format!("{b} B"),
    }
}

/// The verdict and its reason.
pub(crate) fn decide(e: &Evidence<'_>, program: Program, t: &Thresholds) -> (Verdict, String) {
    if let Some(reason) = nothing_to_do(e, program, t) {
        return (Verdict::LeaveAlone, reason);
    }
    let sequential = e.sequential_share >= t.min_sequential_share;
    let fenced = e.fence.median.is_some_and(|m| m <= t.fence_window);
    if !sequential && !fenced {
        return (Verdict::LeaveAlone, scattered_reason(e, t));
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
    if fenced && let Some(decided) = before_a_fence(e, &usage, sequential, t) {
        return decided;
    }
    let fence = fence_words(e, fenced);
    if !sequential {
        return (Verdict::Clean, lone_before_fence_reason(e, &fence));
    }
    if of(usage.rewritten_soon, usage.lines) >= t.min_rewrite_share {
        return (Verdict::LeaveAlone, rewritten_reason(e, &usage));
    }
    let reused = of(e.sequential.reused, usage.lines);
    if reused >= t.min_reread_share {
        return (Verdict::Clean, clean_reason(e, reused, &fence, t));
    }
    (Verdict::Skip, skip_reason(e, reused, &fence, t))
}

fn nothing_to_do(e: &Evidence<'_>, program: Program, t: &Thresholds) -> Option<String> {
    if !program.write_intensive {
        return Some(format!(
            "The program is not write-intensive: {} of its instructions are stores, and below {} \
             pre-stores have no effect on the whole.",
            percent(program.store_fraction),
            percent(t.min_store_fraction)
        ));
    }
    if e.store_share < t.min_advice_share {
        return Some(format!(
            "Too few writes: {} of the program's stores.",
            percent(e.store_share)
        ));
    }
    e.non_temporal.then(|| {
        format!(
            "All {} stores here are non-temporal already: they skip the cache.",
            e.stores
        )
    })
}

fn before_a_fence(
    e: &Evidence<'_>,
    usage: &Usage,
    sequential: bool,
    t: &Thresholds,
) -> Option<(Verdict, String)> {
    let soon = of(usage.rewritten_soon, usage.lines);
    if !sequential && soon >= t.min_rewrite_share {
        let reason = format!(
            "Small writes ({} in sequential contexts) whose line is written again after {} on \
             average ({} of the times): it stays in the core's cache in a writable state, so the \
             fence after {} does not wait for it.",
            percent(e.sequential_share),
            distance(usage.rewrite_distance().mean),
            percent(usage.rewrite_distance().share),
            distance(e.fence.median.map(|m| m as f64)),
        );
        return Some((Verdict::LeaveAlone, reason));
    }
    if !sequential && e.atomic_share >= MIN_ATOMIC_SHARE {
        let reason = format!(
            "{} of the stores here are atomics, which took the line before the others wrote it: it \
             is in the core's cache in a writable state, so the fence after {} does not wait for it.",
            percent(e.atomic_share),
            distance(e.fence.median.map(|m| m as f64)),
        );
        return Some((Verdict::LeaveAlone, reason));
    }
    let near = of(usage.rewritten_near, usage.lines);
    (near >= t.min_demote_share).then(|| {
        let reason = format!(
            "A fence follows after {} (median; at the nearest {}), and {} of the lines are written \
             again, after {} on average: demoting makes the data visible before the fence asks \
             for it and keeps it cached for the next writing. Cleaning or skipping would send it \
             to memory each time.",
            distance(e.fence.median.map(|m| m as f64)),
            distance(e.fence.min.map(|m| m as f64)),
            percent(near),
            distance(usage.rewrite_distance().mean),
        );
        (Verdict::Demote, reason)
    })
}

fn fence_words(e: &Evidence<'_>, fenced: bool) -> String {
    if fenced {
        format!(
            " A fence follows after {} (median), which will find the data on its way.",
            distance(e.fence.median.map(|m| m as f64))
        )
    } else {
        String::new()
    }
}

fn scattered_reason(e: &Evidence<'_>, t: &Thresholds) -> String {
    if of(e.whole.rewritten_soon, e.whole.lines) >= t.min_rewrite_share {
        return rewritten_reason(e, &e.whole);
    }
    let fence = match e.fence.median {
        Some(m) => format!("the next fence is {} away", distance(Some(m as f64))),
        None => "no fence follows most of them".to_owned(),
    };
    format!(
        "Not sequential and not before a fence: {} of the writes are in sequential contexts, and \
         {fence}. There is no order of write-backs to improve and nothing that waits; P0 measured \
         no effect of a pre-store in such a place.",
        percent(e.sequential_share)
    )
}

fn lone_before_fence_reason(e: &Evidence<'_>, fence: &str) -> String {
    format!(
        "Writes before a fence, {} of them in sequential contexts, and {} of the lines are \
         written again within reach: cleaning starts their way out before the fence.{fence} \
         Non-temporal stores of partial lines would cost the memory a read each.",
        percent(e.sequential_share),
        percent(of(e.whole.rewritten_near, e.whole.lines)),
    )
}

fn rewritten_reason(e: &Evidence<'_>, usage: &Usage) -> String {
    format!(
        "{} of the lines are written again after {} on average, while still cached, and no fence \
         waits for them: left alone they are overwritten in the cache, with a pre-store each \
         writing goes to memory (P0 measured 3x slower for a small buffer, 75x for one line). {}",
        percent(of(usage.rewritten_soon, usage.lines)),
        distance(usage.rewrite_distance().mean),
        context_words(e),
    )
}

fn context_words(e: &Evidence<'_>) -> String {
    if e.sequential.count == 0 {
        return "None of the writes are in sequential contexts.".to_owned();
    }
    format!(
        "{} of the writes are in contexts of {} on average.",
        percent(e.sequential_share),
        size(e.sequential.spans / e.sequential.count),
    )
}

/// Sizes whose data is re-read, and sizes whose data is not, where there are both.
fn mixed(e: &Evidence<'_>, t: &Thresholds) -> Option<String> {
    let reused = |c: &&SizeClass| of(c.reused, c.usage.lines) >= t.min_reread_share;
    let most = |c: &&SizeClass| c.covered;
    let yes = e.classes.iter().filter(reused).max_by_key(most)?;
    let no = e.classes.iter().filter(|c| !reused(c)).max_by_key(most)?;
    let part = |c: &SizeClass| of(c.covered, e.sequential.covered);
    (part(no) >= 0.05 && part(yes) >= 0.05).then(|| {
        format!(
            " The same code writes contexts of {} that are re-read ({} of the sequential writes) \
             and of {} that are not ({}).",
            size(yes.spans / yes.count.max(1)),
            percent(part(yes)),
            size(no.spans / no.count.max(1)),
            percent(part(no)),
        )
    })
}

fn clean_reason(e: &Evidence<'_>, reused: f64, fence: &str, t: &Thresholds) -> String {
    let reread = e.sequential.usage.reread_distance();
    format!(
        "{} of the writes are sequential, and {} of what they wrote is re-read, after {} on \
         average, but not written again soon: cleaning writes the lines back in order and keeps \
         them cached for the reads. Skipping the cache would make those reads go to memory (P0 \
         measured up to 2x slower).{}{fence}",
        percent(e.sequential_share),
        percent(reused),
        distance(reread.mean),
        mixed(e, t).unwrap_or_default(),
    )
}

fn skip_reason(e: &Evidence<'_>, reused: f64, fence: &str, t: &Thresholds) -> String {
    let u = e.sequential.usage;
    let soon = of(u.rewritten_soon, u.lines);
    format!(
        "{} of the writes are sequential, and within {} only {} of what they wrote is re-read and \
         {} written again: non-temporal stores write it in order and leave the cache to other \
         data. Where they are hard to write, cleaning is the next best.{}{fence}",
        percent(e.sequential_share),
        distance(Some(t.reuse_window as f64)),
        percent(reused),
        percent(soon),
        mixed(e, t).unwrap_or_default(),
    )
}
