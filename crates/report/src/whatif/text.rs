//! What following the advice would gain, as text.

use prestore_whatif::Figures;

use super::words::{change, gain};
use super::{Accuracy, Followed, NamedEffect, NamedMachine, WhatIfReport};
use crate::TextOptions;
use crate::apart::beside_line;
use crate::human::{bytes, count, percent, seconds, within};
use crate::stalls::in_words;
use crate::text::Page;

/// Causes of stalls shown at most.
const CAUSES: usize = 3;

/// Share of a run's cycles from which a change of a cause is told.
const WORTH_SAYING: f64 = 0.001;

/// `report` as text.
pub fn whatif_text(report: &WhatIfReport, options: TextOptions, cwd: Option<&str>) -> String {
    let mut page = Page::new(options, cwd);
    page.heading(&format!("What if: {}", report.command.join(" ")));
    if report.simulations > 1 {
        page.wrapped(
            "",
            &format!(
                "Medians of {} simulations, with other seeds and places of pages; in brackets the least and the most.",
                report.simulations
            ),
        );
    }
    if let Some(units) = report.sampled_units {
        page.wrapped(
            "",
            &format!(
                "Estimated from {units} units of each simulation: ± and brackets are 95 % intervals, those of gains from \
                 the same units with and without (docs/sampling.md)."
            ),
        );
    }
    for machine in &report.machines {
        page.blank();
        write(&mut page, machine);
    }
    for note in &report.notes {
        page.blank();
        page.wrapped("Note: ", note);
    }
    page.into_text()
}

fn write(page: &mut Page, m: &NamedMachine) {
    page.heading(&headline(m));
    page.wrapped("   now:     ", &summary(&m.baseline));
    if !m.followed.is_empty() {
        page.wrapped("   then:    ", &summary(&m.advised));
    }
    // Findings by their best, the ways of each together.
    let mut shown: Vec<usize> = Vec::new();
    for effect in &m.findings {
        if shown.contains(&effect.finding) {
            continue;
        }
        shown.push(effect.finding);
        place(page, effect);
        for way in m.findings.iter().filter(|e| e.finding == effect.finding) {
            let best = if way.best { "best here: " } else { "" };
            let said = match way.idle {
                Some(why) => format!("does nothing: {why}"),
                None => format!(
                    "{}; {}",
                    gain(way.speedup),
                    evidence(&m.baseline, &way.figures)
                ),
            };
            page.wrapped(&format!("      {best}{}: ", change(way.op, way.way)), &said);
        }
    }
    if !m.accuracy.is_empty() {
        let told: Vec<String> = m.accuracy.iter().map(Accuracy::told).collect();
        page.wrapped(
            "   Measured on this host, `prestore bench --predict`: ",
            &told.join("; "),
        );
    }
    for note in &m.notes {
        page.wrapped("   Note: ", note);
    }
}

/// Names what is followed: a gain is never mixed with what does not gain.
fn headline(m: &NamedMachine) -> String {
    let one = |f: &Followed| format!("finding {} ({})", f.finding, change(f.op, f.way));
    match &m.followed[..] {
        [] if m.findings.is_empty() => {
            format!(
                "On {}: there is no advice to follow in this recording",
                m.machine
            )
        }
        [] => format!("On {}: nothing gains, leave everything as it is", m.machine),
        [only] => format!("On {}, with {}: {}", m.machine, one(only), gain(m.speedup)),
        [most @ .., last] => {
            let most: Vec<String> = most.iter().map(one).collect();
            format!(
                "On {}, with {} and {} together: {}",
                m.machine,
                most.join(", "),
                one(last),
                gain(m.speedup)
            )
        }
    }
}

fn place(page: &mut Page, e: &NamedEffect) {
    let function = page.function(&e.function);
    let apart = beside_line(e.apart.as_deref());
    let at = match (&e.file, e.line) {
        (Some(file), Some(line)) => format!(" ({}:{line})", page.file(file)),
        _ => String::new(),
    };
    page.wrapped(
        &format!("   finding {}: ", e.finding),
        &format!("{function}{at}{apart}"),
    );
}

/// `12.1 ms; 4.10 MB written to media, amplification 3.81; stalls: …`.
fn summary(f: &Figures) -> String {
    let mut text = format!(
        "{}{}; {} written to media, amplification {}",
        seconds(f.seconds),
        within(f.within_percent),
        bytes(f.media_write_bytes),
        amplification(f)
    );
    let stalled: u64 = f.stalls.values().sum();
    let mut causes: Vec<_> = f.stalls.iter().filter(|c| *c.1 > 0).collect();
    causes.sort_by_key(|&(cause, &cycles)| (std::cmp::Reverse(cycles), cause));
    if !causes.is_empty() {
        let shown = causes.iter().take(CAUSES).map(|&(cause, &cycles)| {
            let share = percent(cycles as f64 / stalled as f64);
            format!("{} {share}", in_words(cause))
        });
        text += &format!("; stalls: {}", shown.collect::<Vec<_>>().join(", "));
    }
    if let Some(ns) = f.message_ns {
        text += &format!("; messages take {ns:.0} ns");
    }
    text
}

/// What changed between two runs.
fn evidence(before: &Figures, after: &Figures) -> String {
    let mut text = format!(
        "media writes {} to {}, amplification {} to {}",
        bytes(before.media_write_bytes),
        bytes(after.media_write_bytes),
        amplification(before),
        amplification(after)
    );
    let delta = |cause: &str| {
        let at = |f: &Figures| f.stalls.get(cause).copied().unwrap_or(0) as i128;
        at(after) - at(before)
    };
    let causes = before.stalls.keys().chain(after.stalls.keys());
    if let Some(cause) = causes.max_by_key(|c| delta(c).abs()) {
        let change = delta(cause);
        if change.unsigned_abs() as f64 >= WORTH_SAYING * before.cycles as f64 && change != 0 {
            let sign = if change < 0 { "fewer" } else { "more" };
            text += &format!(
                "; most change: {} cycles {sign} of \"{}\"",
                count(u64::try_from(change.unsigned_abs()).unwrap_or(u64::MAX)),
                in_words(cause)
            );
        }
    }
    if let (Some(was), Some(is)) = (before.message_ns, after.message_ns) {
        text += &format!("; messages {was:.0} to {is:.0} ns");
    }
    text
}

fn amplification(f: &Figures) -> String {
    f.write_amplification
        .map_or_else(|| "none".into(), |a| format!("{a:.2}"))
}
