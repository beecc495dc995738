//! What a fence that follows decides by itself: whether data is demoted that lives in the cache.

use crate::findings::Verdict;
use crate::usage::Usage;
use crate::verdict::{Evidence, MIN_CUT_SHARE};
use crate::words::of;
use crate::{Thresholds, reasons};

/// From this share of [`Evidence::atomic_share`] on, a place writes lines that atomics of its thread have just taken: a
/// lock and what it guards, of which a third are the taking, a third the giving back; or the giving back alone.
const MIN_ATOMIC_SHARE: f64 = 0.25;

/// From this share of its lines on that other code of the thread writes again at once (a flag of the message in its first line, the next one's
/// in its last), demoting them costs more than it gains: a line that was demoted has to come back, and the atomic or fence then waits
/// for each of these in turn, where it waited for all at a time. Simulated on machine B, fast and slow, messages that X9 copies into
/// slots whose flags share their lines: of 504 bytes and 512 (13% and 22% of the lines come back) demote runs at 0.98 and 0.85 of the speed, and
/// 0.88 and 0.50; of 1 KB (12%) at 1.11 and 0.97, of 2 KB (6%) at 1.12 and 1.05, of 4 KB (3%) at 1.08 and 1.07.
const MIN_RETURNED_SHARE: f64 = 0.10;

/// The verdict before a fence, if the data is written again where it is; `None`: what else speaks decides.
pub(crate) fn before_a_fence(
    e: &Evidence<'_>,
    usage: &Usage,
    sequential: bool,
    t: &Thresholds,
) -> Option<(Verdict, String)> {
    let near = usage.rewritten_near_share();
    if !sequential && near >= t.min_rewrite_share {
        return Some((Verdict::LeaveAlone, reasons::own_line_again(e, usage)));
    }
    if !sequential && e.atomic_share >= MIN_ATOMIC_SHARE {
        return Some((Verdict::LeaveAlone, reasons::taken_by_atomic(e)));
    }
    // Within a buffer the order of threads is not known: of many writings that another one reads, few may be seen to be.
    let nobody_elses = near >= t.min_demote_share && e.whole.taken == 0;
    let within_reach = usage.rewritten_reach_share();
    let returned = of(e.returned, e.whole.lines);
    if within_reach >= t.min_demote_share && returned >= MIN_RETURNED_SHARE {
        let reason = reasons::demoted_in_vain(e, within_reach, returned);
        return Some((Verdict::LeaveAlone, reason));
    }
    (within_reach >= t.min_demote_share).then(|| {
        let mut reason = reasons::demote(e, usage, within_reach, nobody_elses);
        let cut = usage.cut_share();
        if sequential && cut >= MIN_CUT_SHARE {
            reason.push_str(&reasons::demoted_amid(cut));
        }
        (Verdict::Demote, reason)
    })
}
