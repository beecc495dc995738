//! Results of a simulation as text: how long it took, where the time went, what crossed the
//! boundaries.

mod latencies;
mod sample;
mod traffic;

use std::collections::BTreeMap;

use anstyle::Style;
use prestore_sim::Results;

use super::TextOptions;
use super::page::Page;
use crate::human::{count, percent, seconds, share, some, within};
use crate::stalls::in_words;

/// Threads shown, the slowest first; the rest is summed up in one line.
const MOST_THREADS: usize = 16;

/// `results` as text; `program`: what was recorded, as a heading.
pub fn simulation_text(results: &Results, program: &str, options: TextOptions) -> String {
    let mut page = Page::new(options, None);
    page.heading(program);
    summary(&mut page, results);
    page.blank();
    page.heading("Where the time went");
    time(&mut page, results);
    page.blank();
    page.heading("Bytes");
    traffic::bytes(&mut page, results);
    traffic::memories(&mut page, results);
    page.blank();
    page.heading("Caches");
    traffic::levels(&mut page, results);
    if latencies::any(results) {
        page.blank();
        page.heading("Latencies");
        latencies::write(&mut page, results);
    }
    page.blank();
    page.heading("Threads");
    threads(&mut page, results);
    page.into_text()
}

fn summary(page: &mut Page<'_>, results: &Results) {
    let on = match results.mechanism.as_str() {
        "none" => format!("on {}", results.machine),
        mechanism => format!("on {} with {mechanism}", results.machine),
    };
    let what = match results.measured.as_str() {
        "all" => String::new(),
        part => format!(" in {part}"),
    };
    let warmup = match results.warmup {
        0 => String::new(),
        n => format!(", behind {} operations of warm-up", count(n)),
    };
    let line = format!(
        "{on}: {}{} ({} cycles){what}{warmup}, {}, {}, {}, seed {}",
        seconds(results.seconds),
        within(results.sampled.as_ref().and_then(|s| s.within_percent)),
        count(results.cycles),
        some(results.instructions, "instruction", "instructions"),
        some(results.accesses, "access", "accesses"),
        some(results.threads.len() as u64, "thread", "threads"),
        results.seed
    );
    page.wrapped("  ", &line);
    if let Some(sampled) = &results.sampled {
        sample::write(page, sampled);
    }
    for note in &results.notes {
        page.wrapped("  note: ", note);
    }
}

/// Shares of the time of all threads.
fn time(page: &mut Page<'_>, results: &Results) {
    let all: u64 = results.threads.iter().map(|t| t.cycles).sum();
    if all == 0 {
        page.line("   no time passed");
        return;
    }
    let stalled: u64 = results.stalls.values().sum();
    let working = all.saturating_sub(stalled);
    table_line(page, working, all, "instructions issued");
    for (cause, cycles) in largest_first(&results.stalls) {
        table_line(page, cycles, all, &in_words(cause));
    }
}

fn table_line(page: &mut Page<'_>, cycles: u64, all: u64, what: &str) {
    let first = format!(
        "   {:>6}  {:>8} cycles  ",
        percent(share(cycles, all)),
        count(cycles)
    );
    page.wrapped(&first, what);
}

fn largest_first(stalls: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut causes: Vec<(&str, u64)> = (stalls.iter())
        .filter(|(_, cycles)| **cycles > 0)
        .map(|(cause, cycles)| (cause.as_str(), *cycles))
        .collect();
    causes.sort_by_key(|(_, cycles)| std::cmp::Reverse(*cycles));
    causes
}

fn threads(page: &mut Page<'_>, results: &Results) {
    let mut slowest: Vec<_> = results.threads.iter().collect();
    slowest.sort_by_key(|t| (std::cmp::Reverse(t.cycles), t.thread));
    for t in slowest.iter().take(MOST_THREADS) {
        let stalled: u64 = t.stalls.values().sum();
        let name = page.paint(Style::new().bold(), &format!("{:>4}", t.thread));
        let first = format!(
            "{name}  {:>8} cycles  {:>6} stalled  ",
            count(t.cycles),
            percent(share(stalled, t.cycles)),
        );
        let mut line = format!(
            "{} instructions, {} loads, {} stores",
            count(t.instructions),
            count(t.ops.loads),
            count(t.ops.stores)
        );
        for (n, what) in [
            (t.ops.nt_stores, "non-temporal"),
            (t.ops.atomics, "atomics"),
            (t.ops.fences, "fences"),
            (t.ops.flushes, "flushes"),
            (t.ops.demotes, "demotes"),
        ] {
            if n > 0 {
                line += &format!(", {} {what}", count(n));
            }
        }
        if let Some((cause, _)) = largest_first(&t.stalls).first() {
            line += &format!("; mostly {}", in_words(cause));
        }
        page.wrapped(&first, &line);
    }
    if slowest.len() > MOST_THREADS {
        let more = slowest.len() - MOST_THREADS;
        page.line(&format!("      and {more} faster ones"));
    }
}
