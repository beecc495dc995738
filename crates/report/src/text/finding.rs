//! One finding, in the manner of P0, section 7.2.

use super::page::{Page, verdict_name};
use super::source;
use crate::account::{on_its_own_account, why_not_own};
use crate::annotate::Sources;
use crate::finding::{Context, LineStores, NamedFinding, Predicted};
use crate::human::{bytes, count, distance, percent, some};
use crate::place::NamedPlace;
use crate::run::{Demoting, Run};
use crate::whatif::{change, gain};
use anstyle::Style;
use prestore_dirtbuster::{CacheLimit, FenceDistance, Verdict};

/// Context sizes, callers and allocation sites shown at most.
const MOST: usize = 6;
/// A share of lines below this is said: a mean over few of them speaks for few.
const NEARLY_ALL: f64 = 0.95;
/// A share of lines, or of bytes, below this is not worth a line of its own.
const SOME: f64 = 0.01;

/// Share of a finding's stores from which on a line is told of.
const MATTERS: f64 = 0.05;

/// A place that was seen in fewer stretches of the run may be another one in those that were not looked at.
const FEW: u64 = 4;

/// `f` of `run` in full.
pub fn write(page: &mut Page, f: &NamedFinding, run: &Run, sources: Option<&dyn Sources>) {
    let vain = f.gains_on_none_of().filter(|_| f.is_advice());
    let advice = advice(page, f, vain.as_deref());
    title(page, f, &advice);
    writer(page, f);
    shares(page, f);
    sizes(page, f);
    if f.streams.share >= SOME {
        let streams = format!(
            "{} of the lines are completed in {:.1} visits, {:.0} turns to other streams between",
            percent(f.streams.share),
            f.streams.visits,
            f.streams.between
        );
        page.wrapped("   Streams: ", &streams);
    }
    page.wrapped("   Fence distance: ", &fence(f.fence_distance));
    choice(page, f, vain.as_deref(), &advice);
    page.wrapped("   Reason: ", &f.reason);
    if let Some(limit) = f.cache_limit {
        larger_caches(page, limit, run.last_level_cache, f.can_be_tried());
    }
    if let (Verdict::Demote, Some(demoting)) = (f.verdict, run.demoting) {
        demoted_here(page, demoting, f.can_be_tried());
    }
    if let Some(d) = &f.dismissed {
        let otherwise = format!("{}. {}", verdict_name(d.verdict), d.reason);
        page.wrapped("   Else it would be: ", &otherwise);
    }
    for p in most(&f.predicted) {
        let gain = gain(p.speedup());
        let predicted = format!("{} on {}: {gain}", change(&p.op, &p.way), p.machine);
        page.wrapped("   Predicted: ", &predicted);
    }
    allocations(page, f);
    callers(page, f.callers());
    if let Some(sources) = sources {
        source::write(page, &f.lines, sources);
    }
}

/// What the title says is to be done. What gains nothing on the machine that was asked about, `vain`, is no advice for it.
fn advice(page: &Page, f: &NamedFinding, vain: Option<&str>) -> String {
    let leave_alone = page.verdict(Verdict::LeaveAlone);
    match vain {
        Some(there) => format!("{leave_alone} on {there}"),
        None if f.written_once => format!("{leave_alone} in this run"),
        None => page.verdict(f.verdict),
    }
}

fn title(page: &mut Page, f: &NamedFinding, advice: &str) {
    let name = page.paint(Style::new().bold(), &page.function(&f.place.function));
    let apart = f.apart.as_ref().map(|a| format!(", {a}"));
    let title = format!("{name}{}: {advice}", apart.unwrap_or_default());
    page.wrapped(&format!("{}. ", f.number), &title);
    page.line(&format!("   Location: {}", page.location(&f.place)));
    other_lines(page, f);
    inlined(page, &f.place);
}

/// Whose code it is, where it is not the program's own, and who has it written.
fn writer(page: &mut Page, f: &NamedFinding) {
    if let Some(why) = why_not_own(f) {
        page.wrapped("   In: ", &why);
    }
    if let Some(writer) = &f.writer {
        let writer = page.function(writer);
        let library = f.library.as_deref().filter(|l| *l != f.place.module);
        let whence = library.map(on_its_own_account);
        let whence = whence.as_deref().unwrap_or("called here");
        page.wrapped("   Written by: ", &format!("{writer}, {whence}"));
    }
}

/// How much of the program's writing it is.
fn shares(page: &mut Page, f: &NamedFinding) {
    page.wrapped(
        "   Perc. of all stores: ",
        &format!(
            "{} ({}, {})",
            percent(f.store_share),
            some(f.stores, "store", "stores"),
            bytes(f.store_bytes)
        ),
    );
    page.wrapped(
        "   Perc. of the writing: ",
        &format!(
            "{}, {} of the time ({} for memory)",
            percent(f.write_share),
            percent(f.time_share),
            some(f.lines_to_memory, "line leaves", "lines leave")
        ),
    );
    if f.stretches > 0 {
        let sure = if f.stretches < FEW {
            ", too few to be sure"
        } else {
            ""
        };
        page.line(&format!(
            "   Seen in: {}{sure}",
            some(f.stretches, "stretch", "stretches")
        ));
    }
}

/// How large what it writes in sequence is; of other lines, how soon they are used again.
fn sizes(page: &mut Page, f: &NamedFinding) {
    page.line(&format!(
        "   Perc. seq. writes: {}",
        percent(f.sequential_share)
    ));
    for c in f.contexts.iter().take(MOST) {
        page.wrapped("   Size: ", &context(c));
    }
    if f.contexts.len() > MOST {
        let rest: f64 = f.contexts[MOST..].iter().map(|c| c.share).sum();
        let more = f.contexts.len() - MOST;
        page.line(&format!("   Size: {more} more - {}", percent(rest)));
    }
    if f.contexts.is_empty() {
        let lines = reuse(
            f.reread_near,
            f.reread_near_share,
            f.rewrite_near,
            f.rewrite_near_share,
        );
        page.wrapped("   All lines: ", &lines);
    }
}

fn choice(page: &mut Page, f: &NamedFinding, vain: Option<&str>, advice: &str) {
    match vain {
        Some(there) => page.wrapped(
            "   Pre-store choice: ",
            &format!(
                "leave alone on {there}, where nothing that was tried gains; for memory that is slower, farther or \
                 written in larger units: {}",
                verdict_name(f.verdict)
            ),
        ),
        None if f.written_once => page.wrapped(
            "   Pre-store choice: ",
            &format!(
                "leave alone in this run, which writes it once; for memory that is written over and over, or that a file \
                 lies in: {}",
                verdict_name(f.verdict)
            ),
        ),
        None => page.line(&format!("   Pre-store choice: {advice}")),
    }
}

/// With which the verdict would be another one, and that the machine with `cache` bytes of it is among them; `tried`: the stores
/// are such as `prestore try` changes.
fn larger_caches(page: &mut Page, limit: CacheLimit, cache: Option<u64>, tried: bool) {
    let mb = |bytes: u64| bytes >> 20;
    let (share, used, here) = match limit.verdict {
        Verdict::Clean => (
            limit.reread,
            "read",
            "what is skipped is read again from memory",
        ),
        _ => (
            limit.rewritten,
            "written again",
            "this advice may cost more than it gains (0.6 to 1.4 times the speed were measured)",
        ),
    };
    let there = format!(
        "where the last-level cache has {} MB or more for this program, {} of the lines are still in it when they are {used}: \
         {} there.",
        mb(limit.bytes),
        percent(share),
        verdict_name(limit.verdict),
    );
    page.wrapped("   Larger caches: ", &there);
    if let Some(cache) = cache.filter(|&cache| cache >= limit.bytes) {
        let here = format!("has {} MB: {here}{}.", mb(cache), measured_by(tried));
        page.wrapped("   This machine: ", &here);
    }
}

fn measured_by(tried: bool) -> &'static str {
    match tried {
        true => "; `prestore try` measures it",
        false => "",
    }
}

/// P0's machine B has far memory, and its stores leave in any order.
fn demoted_here(page: &mut Page, demoting: Demoting, tried: bool) {
    let here = match demoting {
        Demoting::Nothing => {
            "has no instruction that demotes: prestore(…, demote) does nothing here.".to_owned()
        }
        Demoting::InOrder => format!(
            "its stores leave in order, and it demotes by cldemote: this advice may cost more than it gains (0.46 times the speed was \
             measured on an Emerald Rapids with DRAM, of messages from thread to thread){}.",
            measured_by(tried)
        ),
    };
    page.wrapped("   This machine: ", &here);
}

/// Of the ways to write an operation the one that gains most, on each machine.
fn most(predicted: &[Predicted]) -> impl Iterator<Item = &Predicted> {
    predicted
        .iter()
        .enumerate()
        .filter(|(i, p)| {
            let alike = |o: &&Predicted| o.machine == p.machine && o.op == p.op;
            let mut others = predicted.iter().enumerate();
            !others.any(|(j, o)| {
                alike(&o) && (o.speedup > p.speedup || (o.speedup == p.speedup && j < *i))
            })
        })
        .map(|(_, p)| p)
}

/// `16.2 MB - 10% - re-read inf - re-write inf`.
fn context(c: &Context) -> String {
    format!(
        "{} - {} - {}",
        bytes(c.bytes),
        percent(c.share),
        reuse(
            c.reread_near,
            c.reread_near_share,
            c.rewrite_near,
            c.rewrite_near_share
        )
    )
}

fn reuse(
    reread: Option<f64>,
    reread_share: f64,
    rewrite: Option<f64>,
    rewrite_share: f64,
) -> String {
    format!(
        "re-read {} - re-write {}",
        reach(reread, reread_share),
        reach(rewrite, rewrite_share)
    )
}

fn reach(mean: Option<f64>, share: f64) -> String {
    let far = distance(mean);
    if mean.is_some() && share < NEARLY_ALL {
        format!("{far} (in {} of lines)", percent(share))
    } else {
        far
    }
}

fn fence(d: FenceDistance) -> String {
    match (d.min, d.median) {
        (None, _) => "no fence follows".to_owned(),
        (Some(min), Some(median)) => {
            format!("min {}, median {} instructions", count(min), count(median))
        }
        (Some(min), None) => format!("min {}, median inf instructions", count(min)),
    }
}

/// The other lines that store what the advice is about: following it at one of them does half of it.
fn other_lines(page: &mut Page, f: &NamedFinding) {
    let told = |l: &&LineStores| {
        let is_place = f.place.line == Some(l.line) && f.place.file.as_ref() == Some(&l.file);
        !is_place && l.share >= MATTERS
    };
    let others: Vec<&LineStores> = f.lines.iter().filter(told).collect();
    if others.is_empty() || f.place.file.is_none() {
        return;
    }
    let mut text: Vec<String> = Vec::new();
    for l in others.iter().take(MOST) {
        text.push(format!("{}:{}", page.file(&l.file), l.line));
    }
    if others.len() > MOST {
        text.push("and more (--annotate shows them)".to_owned());
    }
    page.wrapped("   Stores too: ", &text.join(", "));
}

fn inlined(page: &mut Page, place: &NamedPlace) {
    if place.inlined.is_empty() {
        return;
    }
    let frames: Vec<String> = place
        .inlined
        .iter()
        .map(|f| {
            let name = page.function(f.function.as_deref().unwrap_or("?"));
            match (&f.file, f.line) {
                (Some(file), Some(line)) => format!("{name} ({}:{line})", page.file(file)),
                _ => name,
            }
        })
        .collect();
    page.wrapped("   Inlined: ", &frames.join(" into "));
}

fn allocations(page: &mut Page, f: &NamedFinding) {
    let worth = f.allocations.iter().filter(|a| a.share >= SOME);
    for a in worth.clone().take(MOST) {
        let share = percent(a.share);
        let what = format!("{} - {share} of the bytes", page.place(&a.place));
        page.wrapped("   Data allocated at: ", &what);
    }
    let more = worth.count().saturating_sub(MOST) as u64;
    if more > 0 {
        let more = some(more, "more place", "more places");
        page.line(&format!("   Data allocated at: {more}"));
    }
}

fn callers(page: &mut Page, callers: &[NamedPlace]) {
    for (i, c) in callers.iter().take(MOST).enumerate() {
        let label = if i == 0 {
            "Called from:"
        } else {
            "            "
        };
        page.wrapped(&format!("   {label} "), &page.place(c));
    }
    if callers.len() > MOST {
        let above = some((callers.len() - MOST) as u64, "call", "calls");
        page.line(&format!("                and {above} above"));
    }
}
