//! Why a verdict is what it is, in words, with the figures that decided.

use crate::Thresholds;
use crate::findings::{Streams, can_be_tried};
use crate::reread::Reread;
use crate::usage::Usage;
use crate::verdict::{Again, Evidence};
use crate::words::{count, distance, of, percent, percent_first, size};
use crate::written::SizeClass;

/// Objects of which more of the lines are not re-read themselves are said to be re-read in part.
const PARTLY: f64 = 0.05;

fn median(e: &Evidence<'_>) -> String {
    distance(e.fence.median.map(|m| m as f64))
}

pub(crate) fn non_temporal(e: &Evidence<'_>) -> String {
    let which = match e.non_temporal_share {
        all if all >= 1.0 => "All".to_owned(),
        most => format!("{} of the", percent(most)),
    };
    format!(
        "{which} {} stores here are non-temporal already: they skip the cache.",
        count(e.stores)
    )
}

/// A small line that its core writes again and again.
pub(crate) fn own_line_again(e: &Evidence<'_>, usage: &Usage) -> String {
    format!(
        "Small writes ({} in sequential contexts) whose line is written again after {} on average \
         ({} of the times): it stays in the core's cache in a writable state, so the fence after \
         {} does not wait for it.",
        percent(e.sequential_share),
        distance(usage.rewritten_near.mean()),
        percent(usage.rewritten_near_share()),
        median(e),
    )
}

pub(crate) fn taken_by_atomic(e: &Evidence<'_>) -> String {
    format!(
        "{} of the stores here are atomics, or write a line that the thread's own atomic has just taken: it is \
         in the core's cache in a writable state, so the fence after {} does not wait for it.",
        percent(e.atomic_share),
        median(e),
    )
}

pub(crate) fn demote(
    e: &Evidence<'_>,
    usage: &Usage,
    within_reach: f64,
    nobody_elses: bool,
) -> String {
    // P0 (7.3.2) advises it of X9's messages, which only their writer uses, on a weakly ordered machine.
    let caution = match nobody_elses {
        true => {
            " No other thread was seen to use these lines: where stores leave in order (x86), the fence does not wait \
             for what the core holds writable, and each next writing fetches it anew; `prestore whatif` prices it."
        }
        false => "",
    };
    format!(
        "A fence follows after {} (median; at the nearest {}), and {} of the lines are written \
         again while cached, after {} on average: demoting makes the data visible before the \
         fence asks for it and keeps it cached for the next writing. Cleaning or skipping would \
         send it to memory each time.{caution}",
        median(e),
        distance(e.fence.min.map(|m| m as f64)),
        percent(within_reach),
        distance(usage.rewritten_reach.mean()),
    )
}

/// What is demoted is written again before the fence, or right behind it.
pub(crate) fn demoted_in_vain(e: &Evidence<'_>, within_reach: f64, returned: f64) -> String {
    format!(
        "A fence follows after {} (median), and {} of the lines are written again while cached, which speaks for demoting them. But {} of \
         them are written by other code of the same thread at once, as where a flag lies in a message's first line or the next \
         message's in its last: demoted, they have to come back, and the fence waits for each (simulated on machine B, \
         messages of 512 B took up to twice as long). Give the flag a line of its own; then there is something for demoting to gain.",
        median(e),
        percent(within_reach),
        percent(returned),
    )
}

/// To be added to advice to demote where fences come amid the lines.
pub(crate) fn demoted_amid(cut: f64) -> String {
    format!(
        " Beware: in {} of the lines a fence or an atomic (a lock, a counter) comes between two stores, so that a line which is demoted has to \
         come back for the next one. Where stores leave in any order (Arm) that gains all the same (simulated on machine B, 1.1 times as fast); where they \
         leave in order (x86) it costs (0.32 of the speed on a Sapphire Rapids with memory behind CXL): there, take the fence out of the loop.",
        percent(cut),
    )
}

/// To be added to advice where fences come every few lines.
pub(crate) fn far_fences(lines: f64) -> String {
    format!(
        " Only {lines:.0} lines lie between two fences: in memory that is far (behind CXL) each fence waits for their way there, which costs \
         more than it saves (simulated, 0.47 of the speed with 8 lines and 0.73 with 16); `prestore whatif` prices it."
    )
}

/// To be added where a fence follows.
pub(crate) fn fence(e: &Evidence<'_>, fenced: bool) -> String {
    if fenced {
        format!(
            " A fence follows after {} (median), which will find the data on its way.",
            median(e)
        )
    } else {
        String::new()
    }
}

pub(crate) fn scattered(e: &Evidence<'_>, t: &Thresholds) -> String {
    let again = Again::near(&e.whole, t);
    if again.share() >= t.min_rewrite_share {
        return rewritten(e, &again);
    }
    let fence = match e.fence.median {
        Some(_) => format!("the next fence is {} away", median(e)),
        None => "no fence follows most of them".to_owned(),
    };
    format!(
        "Not sequential and not before a fence: {} of the writes are in sequential contexts, and \
         {fence}. There is no order of write-backs to improve and nothing that waits; P0 measured \
         no effect of a pre-store in such a place.",
        percent(e.sequential_share)
    )
}

pub(crate) fn whole_lines(e: &Evidence<'_>, t: &Thresholds) -> String {
    format!(
        "{} of the lines are written whole and at once, though in no sequence, only {} is re-read before {} more have come to the \
         core and only {} is written again before {}: a non-temporal store of a whole line saves its fetch (such programs ran 1.5 \
         to 3.7 times as fast). Skipping is right only where all bytes of a line are stored one after the other.",
        percent(of(e.lone.whole, e.whole.lines)),
        percent(e.whole.reread_near_share(e.whole.reread_near.n)),
        size(t.kept_bytes),
        percent(Again::of(&e.whole, false, t).share()),
        Again::of(&e.whole, false, t).before(),
    )
}

pub(crate) fn lone_before_fence(e: &Evidence<'_>, fence: &str) -> String {
    format!(
        "Writes before a fence, {} of them in sequential contexts, and {} of the lines are written \
         again while cached: cleaning starts their way out before the fence.{fence} Non-temporal \
         stores of partial lines would cost the memory a read each.",
        percent(e.sequential_share),
        percent(e.whole.rewritten_reach_share()),
    )
}

pub(crate) fn rewritten(e: &Evidence<'_>, again: &Again) -> String {
    let fence = match again.fenced {
        true => "",
        false => ", and no fence waits for them",
    };
    format!(
        "{} of the lines are written again after {} on average, while still cached{fence}: left alone they are \
         overwritten in the cache, with a pre-store each writing goes to memory (P0 measured 3x slower for a small \
         buffer, 75x for one line). {}",
        percent(again.share()),
        distance(again.events.mean()),
        contexts(e),
    )
}

/// What is sequential is not, but what the same stores write beside it.
pub(crate) fn rest_rewritten(e: &Evidence<'_>, all: f64, again: &Again, rest: &Again) -> String {
    format!(
        "{} of what is written here is written again while still cached: {} of the writes are sequential, and {} of their lines \
         are; but of the lines that the others write {} are, after {} on average, and a pre-store here would send these to memory each \
         time, too. Where the two are apart in the source, look at them one by one.",
        percent(all),
        percent(e.sequential_share),
        percent(again.share()),
        percent(rest.share()),
        distance(rest.events.mean()),
    )
}

/// The kernel makes the pages each time.
pub(crate) fn anew(e: &Evidence<'_>) -> String {
    format!(
        "{} of the lines are in memory that the program gave back to the kernel and got anew, as `free` and `malloc` do with large \
         blocks: the kernel zeroes each page when it is first written, and so puts it into the cache, where a store around it saves \
         nothing (a buffer filled that way took 1.04 to 2 times as long, cleaned as well). Keep the memory (a buffer for all rounds; \
         with glibc, mallopt and M_MMAP_THRESHOLD): that saves the page faults, and only then is there something for a pre-store \
         to gain. {}",
        percent(e.anew_share),
        contexts(e),
    )
}

/// To be added to advice about memory that was written for the first time, see [`crate::fresh`].
pub(crate) fn fresh(e: &Evidence<'_>) -> String {
    let cost = "pre-stores only cost: such buffers took 1.04 to 2 times as long to fill";
    let here = match (
        e.is_written_once(),
        can_be_tried(e.stores, e.bytes, e.generic_writer),
    ) {
        (true, _) => format!("In this run each was written here once, for which {cost}."),
        (false, true) => {
            format!("Where this is done once, {cost}; `prestore try` measures it.")
        }
        (false, false) => format!("Where this is done once, {cost}."),
    };
    format!(
        " Beware: {} of these lines are written for the first time, in pages that the kernel has just zeroed and so put into \
         the cache: the advice is for memory that is written over and over, or that a file lies in. {here}",
        percent(e.fresh_share),
    )
}

/// To be added to advice that sends lines to memory, of a run of which stretches were looked at.
pub(crate) fn open(share: f64) -> String {
    format!(
        " Beware: stretches of this run were looked at, and of {} of these lines they ended before it was seen whether these are written again while \
         cached, which would speak against it; the shares above are of the others. `--budget all` looks at everything.",
        percent(share),
    )
}

fn contexts(e: &Evidence<'_>) -> String {
    if e.sequential.count == 0 {
        return "None of the writes are in sequential contexts.".to_owned();
    }
    format!(
        "{} of the writes are in contexts of {} on average.",
        percent_first(e.sequential_share),
        size(e.sequential.spans / e.sequential.count),
    )
}

pub(crate) fn many_streams(e: &Evidence<'_>, late: Streams, t: &Thresholds) -> String {
    format!(
        "{} of the writes are sequential, but to many places by turns: {} of the lines take {:.1} \
         visits, with {:.0} turns to other streams between two of them, and no more than {} lines \
         at a time are sure to be gathered in a core's buffers. Non-temporal stores would send \
         each line out in parts, and cleaning would move it alone. What helps is to fill a line of \
         each stream in a small buffer and to copy it out whole.",
        percent(e.sequential_share),
        percent(late.share),
        late.visits,
        late.between,
        t.max_streams,
    )
}

pub(crate) fn fence_every_few_lines(e: &Evidence<'_>, lines: f64) -> String {
    format!(
        "A fence or atomic follows after {} (median), and {lines:.1} lines lie between two of them: it would wait for the way of just these \
         lines to memory, each time, for which an ordinary store leaves it nothing to wait but the line's coming to the core. \
         Where the fence may come later (one for many such pieces), or several threads write so at a time, there is something for a \
         pre-store to gain. Where \
         stores may leave in any order (Arm) and each fence waits long, demoting the lines can gain: `prestore whatif` prices it. {}",
        median(e),
        contexts(e),
    )
}

pub(crate) fn cut_by_fences(e: &Evidence<'_>, cut: f64) -> String {
    format!(
        "{} of the writes are sequential, but in {} of the lines a fence or an atomic (a lock, a counter) comes between two \
         stores: it sends out what non-temporal stores have gathered by then, in parts, and waits for each line that is \
         cleaned. What helps is to take the fence out of the loop, or to fill a small buffer and to copy it out whole.",
        percent(e.sequential_share),
        percent(cut),
    )
}

pub(crate) fn flushed(e: &Evidence<'_>) -> String {
    format!(
        "The program flushes {} of the lines written here itself, so there is nothing to add.",
        percent(of(e.whole.flushed, e.whole.lines).min(1.0))
    )
}

/// Sizes whose data is re-read, and sizes whose data is not, where there are both.
fn mixed(e: &Evidence<'_>, t: &Thresholds) -> Option<String> {
    let reused = |c: &&SizeClass| c.reused_share() >= t.min_reread_share;
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

/// How much is written again, where that is little.
pub(crate) fn written_again(again: &Again) -> String {
    match again.share() {
        none if none < 0.0005 => "none".to_owned(),
        some => format!("only {}", percent(some)),
    }
}

pub(crate) fn clean(
    e: &Evidence<'_>,
    reread: &Reread,
    again: &Again,
    fence: &str,
    t: &Thresholds,
) -> String {
    let u = e.sequential.usage;
    let read = if reread.objects > reread.lines + PARTLY {
        format!(
            "is in objects of up to {} that are re-read in part while cached ({} of the lines)",
            size(t.object_bytes),
            percent(reread.lines)
        )
    } else {
        "is re-read while cached".to_owned()
    };
    format!(
        "{} of the writes are sequential, and {} of what they wrote {read}, after {} on average, \
         but {} of it is written again before {} more have come to the core: cleaning writes \
         the lines back in order and keeps them cached for the reads. Skipping the cache would \
         make those reads go to memory (P0 measured up to 2x slower).{}{fence}",
        percent(e.sequential_share),
        percent(reread.objects),
        distance(u.reread_near.mean()),
        written_again(again),
        again.before(),
        mixed(e, t).unwrap_or_default(),
    )
}

/// Neither read nor written again, but read just before.
pub(crate) fn clean_in_place(e: &Evidence<'_>, again: &Again, fence: &str) -> String {
    format!(
        "{} of the writes are sequential, and of what they wrote only {} is written again before {} more have come to \
         the core: it need not stay dirty. But {} of the lines are read just before they are written: they are changed \
         in place. Non-temporal stores would save no fetch of them, and narrow ones throw each line out of the cache while \
         the rest of it is still to be read; cleaning writes it back behind its last change.{fence}",
        percent(e.sequential_share),
        percent(again.share()),
        again.before(),
        percent(e.in_place_share),
    )
}

/// Neither read nor written again, but in pieces that begin and end within lines.
pub(crate) fn clean_parts(e: &Evidence<'_>, in_part: f64, again: &Again, fence: &str) -> String {
    format!(
        "{} of the writes are sequential, and of what they wrote only {} is written again before {} more have come to \
         the core: it need not stay dirty. But {} of the lines are written in part, as the pieces begin and end within \
         lines, leave gaps in them, or other code writes the rest: non-temporal stores would send each out incomplete, at the cost of a read in memory; cleaning writes \
         whole lines back.{fence}",
        percent(e.sequential_share),
        percent(again.share()),
        again.before(),
        percent(in_part),
    )
}

pub(crate) fn skip(
    e: &Evidence<'_>,
    reread: &Reread,
    again: &Again,
    fence: &str,
    t: &Thresholds,
) -> String {
    format!(
        "{} of the writes are sequential, and of what they wrote only {} is re-read before {} more \
         have come to the core, and {} written again before {} have: non-temporal stores write it \
         in order and leave the cache to other data. Where they are hard to write, cleaning is the \
         next best.{}{fence}{}",
        percent(e.sequential_share),
        percent(reread.lines),
        size(t.kept_bytes),
        percent(again.share()),
        again.before(),
        mixed(e, t).unwrap_or_default(),
        reread.waits_for_memory(),
    )
}
