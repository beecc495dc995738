//! What was run, above everything else.

use super::page::Page;
use crate::human::{count, percent, some};
use crate::report::Report;
use crate::run::{ExactnessKind, Run};
use anstyle::AnsiColor;

/// Program, totals, and how far the figures can be trusted.
pub fn write(page: &mut Page, report: &Report) {
    let run = &report.run;
    program(page, run);
    let t = &report.totals;
    let totals = format!(
        "{} instructions, {} stores ({}), {} loads, {} fences and atomics{}",
        count(t.instructions),
        count(t.stores),
        percent(t.store_fraction),
        count(t.loads),
        count(t.fences),
        who(run)
    );
    page.wrapped("  ", &totals);
    observed(page, run);
    threads(page, run);
}

/// The command line as a heading.
pub fn program(page: &mut Page, run: &Run) {
    let words = if run.command.is_empty() {
        run.program.clone()
    } else {
        run.command.join(" ")
    };
    page.heading(&words);
}

/// `, 2 threads in 1 process`, or nothing where it is not known.
pub fn who(run: &Run) -> String {
    let threads = run.threads.len() as u64;
    match (threads, run.processes) {
        (0, 0) => String::new(),
        (0, p) => format!(", {}", some(p, "process", "processes")),
        (t, 0) => format!(", {}", some(t, "thread", "threads")),
        (t, p) => format!(
            ", {} in {}",
            some(t, "thread", "threads"),
            some(p, "process", "processes")
        ),
    }
}

/// Engine, scope, exactness, losses.
pub fn observed(page: &mut Page, run: &Run) {
    let mut parts = Vec::new();
    if !run.engine.is_empty() {
        parts.push(run.engine.clone());
    }
    if !run.scope.is_empty() {
        parts.push(format!("scope {}", run.scope));
    }
    let kind = match run.exactness.kind {
        ExactnessKind::Exact => "exact",
        ExactnessKind::Windowed => "exact inside the windows",
        ExactnessKind::Sampled => "sampled: figures are estimates",
    };
    if run.exactness.detail.is_empty() {
        parts.push(kind.to_owned());
    } else {
        parts.push(format!("{kind} ({})", run.exactness.detail));
    }
    if run.dropped_events == 0 {
        parts.push("0 events dropped".to_owned());
    }
    page.wrapped("  ", &parts.join(", "));
    if run.dropped_events > 0 {
        let lost = format!(
            "{} events were dropped: figures are lower bounds",
            count(run.dropped_events)
        );
        warning(page, &lost);
    }
    if let Some(why) = &run.partial {
        warning(page, &format!("partial: {why}"));
    }
    for note in &run.notes {
        page.wrapped("  note: ", note);
    }
}

fn threads(page: &mut Page, run: &Run) {
    // One line a thread is a table worth reading only while it fits on a screen.
    const MOST: usize = 8;
    if run.threads.len() < 2 {
        return;
    }
    let mut by_stores: Vec<_> = run.threads.iter().collect();
    by_stores.sort_by_key(|t| std::cmp::Reverse(t.stores));
    for t in by_stores.iter().take(MOST) {
        let line = format!(
            "thread {}.{}: {} instructions, {} stores, {} fences and atomics",
            t.process,
            t.thread,
            count(t.instructions),
            count(t.stores),
            count(t.fences)
        );
        page.wrapped("  ", &line);
    }
    if by_stores.len() > MOST {
        let more = some((by_stores.len() - MOST) as u64, "thread", "threads");
        page.line(&format!("  and {more} with fewer stores"));
    }
}

fn warning(page: &mut Page, text: &str) {
    let label = page.paint(AnsiColor::Red.on_default().bold(), "warning:");
    page.wrapped(&format!("  {label} "), text);
}
