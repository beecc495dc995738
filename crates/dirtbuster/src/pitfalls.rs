//! Existing flushes, fences and non-temporal stores: which cost for nothing (P0, section 5).

use prestore_trace::replay::CallTree;
use prestore_trace::{EventKind, FenceKind};

use crate::Thresholds;
use crate::clusters::Cluster;
use crate::cost;
use crate::executed::{Place, chain};
use crate::existing::Counts;
use crate::findings::{Pitfall, PitfallKind};
use crate::groups::{Group, Groups};
use crate::ledger::Ledger;
use crate::reread;
use crate::summary::share;
use crate::usage::Usage;
use crate::words::{count, distance, percent};

/// An instruction and what it did in all threads.
struct Judged {
    place: Place,
    kind: EventKind,
    counts: Counts,
}

/// What is wrong with one of them.
struct Fault {
    kind: PitfallKind,
    affected: u64,
    cost: u64,
    reason: String,
}

pub(crate) fn find<O>(
    ledger: &Ledger,
    clusters: &[Cluster],
    groups: &Groups<O>,
    tree: &CallTree,
    time: f64,
    t: &Thresholds,
) -> Vec<Pitfall> {
    let all = judged(ledger);
    let fences_flushes = all
        .iter()
        .any(|j| is_flush(j.kind) && share(j.counts.fenced_explicitly, j.counts.executed) >= 0.5);
    // Of what a scope leaves out, it is not known whether it waits for a full fence.
    let known = |j: &&Judged| {
        groups.has_everything() || !matches!(j.kind, EventKind::Fence(FenceKind::Full))
    };
    let mut found: Vec<(Place, u64, Fault)> = Vec::new();
    for j in all.iter().filter(known) {
        let faults = faults(j, fences_flushes, t);
        found.extend(faults.into_iter().map(|f| (j.place, j.counts.executed, f)));
    }
    for (place, usage) in clusters.iter().filter_map(Cluster::around_the_cache) {
        found.extend(used_again(&usage, t).map(|f| (place, usage.lines, f)));
    }
    let mut pitfalls: Vec<Pitfall> = Vec::new();
    for (place, executed, fault) in found {
        let cost = fault.cost as f64;
        let cost_share = if cost > 0.0 {
            cost / (time + cost)
        } else {
            0.0
        };
        // What may lose data matters however seldom it is.
        if cost_share < t.min_cost_share && fault.kind != PitfallKind::FlushWithoutFence {
            continue;
        }
        let chain = chain(place, groups, tree, &ledger.executed);
        pitfalls.push(Pitfall {
            kind: fault.kind,
            site: place.0,
            call_chain: chain.calls,
            entered: chain.entered,
            generic_writer: !matches!(groups.get(place.1), Group::Function(_)),
            executed,
            affected: fault.affected,
            cost_share,
            reason: fault.reason,
        });
    }
    pitfalls.sort_by(|a, b| {
        b.cost_share
            .total_cmp(&a.cost_share)
            .then(a.site.cmp(&b.site))
    });
    pitfalls
}

/// Lines written around the cache that were then looked for in it.
fn used_again(usage: &Usage, t: &Thresholds) -> Option<Fault> {
    let (read, written) = (usage.reread_near, usage.rewritten_cached);
    let read_share = usage.reread_near_share(read.n);
    let written_share = usage.rewritten_cached_share(written.n);
    let waits = read_share >= t.min_reread_share || reread::is_awaited(usage, t);
    let (what, events, share, becomes) = if read.n > 0 && waits {
        ("read", read, read_share, "each such read waits for memory")
    } else if written.n > 0 && written_share >= t.min_rewrite_share {
        (
            "written",
            written,
            written_share,
            "each writing goes to memory",
        )
    } else {
        return None;
    };
    let reason = format!(
        "{} of {} ({}) lines written with non-temporal stores are {what} again after {} on \
         average, when ordinary stores would have left them near the core: {becomes} (P0, section \
         5: up to 2x slower). Write with ordinary stores what is used again soon.",
        count(events.n),
        count(usage.lines),
        percent(share),
        distance(events.mean()),
    );
    Some(Fault {
        kind: PitfallKind::NonTemporalOfNearData,
        affected: events.n,
        cost: cost::lines(events.n, t),
        reason,
    })
}

fn judged(ledger: &Ledger) -> Vec<Judged> {
    let all = ledger.judged.iter();
    let mut all: Vec<Judged> = all
        .map(|(&place, &(kind, counts))| Judged {
            place,
            kind,
            counts,
        })
        .collect();
    all.sort_by_key(|j| j.place);
    all
}

fn is_flush(kind: EventKind) -> bool {
    matches!(kind, EventKind::Flush(_))
}

fn faults(j: &Judged, fences_flushes: bool, t: &Thresholds) -> Vec<Fault> {
    let all = match j.kind {
        EventKind::Flush(_) => of_flushes(&j.counts, fences_flushes, t),
        EventKind::NtStore => vec![(t.min_partial_share, of_partial_lines(&j.counts, t))],
        EventKind::Fence(kind) => vec![(t.min_useless_share, of_idle_fences(kind, &j.counts, t))],
        _ => Vec::new(),
    };
    let tells = |least: f64, affected| affected > 0 && share(affected, j.counts.executed) >= least;
    let told = all
        .into_iter()
        .filter(|(least, f)| tells(*least, f.affected));
    told.map(|(_, fault)| fault).collect()
}

/// So many of how many were executed.
fn of(affected: u64, c: &Counts) -> String {
    format!(
        "{} of {} ({})",
        count(affected),
        count(c.executed),
        percent(share(affected, c.executed))
    )
}

/// What is wrong with flushes, each with the share of them from which on it is told.
fn of_flushes(c: &Counts, fences_flushes: bool, t: &Thresholds) -> Vec<(f64, Fault)> {
    let clean = Fault {
        kind: PitfallKind::FlushOfCleanLine,
        affected: c.clean,
        cost: c.clean * t.line_cost,
        reason: format!(
            "{} flushes find a clean line: nobody wrote it, or not since it was flushed last. They \
             write nothing back; flush each line once, after its last write.",
            of(c.clean, c)
        ),
    };
    let mut all = vec![clean, of_rewritten_lines(c, t)];
    if fences_flushes {
        let unfenced = c.executed - c.fenced;
        all.push(Fault {
            kind: PitfallKind::FlushWithoutFence,
            affected: unfenced,
            cost: 0,
            reason: format!(
                "{} flushes are followed by no fence, though the program fences others: when they \
                 are done, nobody knows. Where the data must be in memory before something else, \
                 a store fence belongs behind the last flush; where the flush is to save time, \
                 none is needed.",
                of(unfenced, c)
            ),
        });
    }
    (all.into_iter())
        .map(|fault| (t.min_useless_share, fault))
        .collect()
}

fn of_rewritten_lines(c: &Counts, t: &Thresholds) -> Fault {
    let mean = c.rewrite_sum as f64 / c.rewritten.max(1) as f64;
    // A fence behind most flushes: the program wants the data to survive.
    let durable = share(c.fenced_explicitly, c.executed) >= 0.5;
    let advice = match durable {
        true => {
            "Where each state has to survive a power cut, these flushes are needed: then make all changes of a line \
             before it is flushed (stores to one line reach memory in their order, without a flush between), or write what changes \
             often to lines of their own, as a log does. Where it need not, flush after the last write only."
        }
        false => "Flush after the last write only, or not at all.",
    };
    Fault {
        kind: PitfallKind::FlushOfRewrittenLine,
        affected: c.rewritten,
        cost: c.rewritten * 2 * t.line_cost,
        reason: format!(
            "{} flushed lines are written again after {} on average, while still cached: each \
             flush is a write to memory that the next write makes useless (P0, section 5: 75x \
             slower for one line). {advice}",
            of(c.rewritten, c),
            distance(Some(mean))
        ),
    }
}

fn of_partial_lines(c: &Counts, t: &Thresholds) -> Fault {
    Fault {
        kind: PitfallKind::PartialNonTemporalLine,
        affected: c.partial,
        cost: c.partial * 2 * t.line_cost,
        reason: format!(
            "{} lines written with non-temporal stores leave before they are complete: each part \
             is a write of its own, and devices with larger units read the rest first. Write whole \
             lines, few at a time, before anything else is written; a word alone that has to reach memory is better stored as others \
             and its line flushed (clwb), which writes the line whole.",
            of(c.partial, c)
        ),
    }
}

fn of_idle_fences(kind: FenceKind, c: &Counts, t: &Thresholds) -> Fault {
    let idle = of(c.idle, c);
    let reason = match kind {
        FenceKind::Store => format!(
            "{idle} fences have nothing to order: neither a flush nor a non-temporal store has come \
             since the fence before, and x86 keeps ordinary stores in order by itself."
        ),
        _ => format!(
            "{idle} full fences have nothing to order: the thread has stored nothing since its \
             fence or atomic before (stores to a function's own frame are not looked at), and \
             x86 keeps loads in order by itself. Between loads an acquire fence does the same \
             and costs nothing there; leave the fence where it is to time instructions."
        ),
    };
    Fault {
        kind: PitfallKind::IdleFence,
        affected: c.idle,
        cost: c.idle * t.fence_cost,
        reason,
    }
}
