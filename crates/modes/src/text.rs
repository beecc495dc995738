//! The comparison for people.

use std::fmt::Write;

use crate::report::{MachineModes, ModeCost, ModesReport, RangeModes};

/// The report as text.
pub fn render(report: &ModesReport) -> String {
    let mut out = String::new();
    for (number, machine) in report.machines.iter().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        of_machine(&mut out, machine);
    }
    out
}

fn of_machine(out: &mut String, machine: &MachineModes) {
    let recorded = &machine.recorded;
    let _ = writeln!(
        out,
        "On {}: as recorded, {}",
        machine.machine,
        time(recorded.seconds)
    );
    for range in &machine.ranges {
        of_range(out, range);
    }
    let together = &machine.together;
    if machine.ranges.len() > 1 {
        let modes = machine.ranges.iter().zip(&together.modes);
        let modes: Vec<String> = modes
            .map(|(r, m)| format!("{} {}", r.name, m.word()))
            .collect();
        let _ = writeln!(
            out,
            "  together ({}): {}, speed-up {:.2}",
            modes.join(", "),
            time(together.seconds),
            together.speedup
        );
    }
    for note in &machine.notes {
        let _ = writeln!(out, "  note: {note}");
    }
}

fn of_range(out: &mut String, range: &RangeModes) {
    let _ = writeln!(
        out,
        "  {} ({} bytes): best is {}",
        range.name,
        range.bytes,
        range.best.word()
    );
    for cost in &range.modes {
        of_mode(out, cost, "");
    }
    of_mode(
        out,
        &range.persistent_caches,
        ", if the caches were persistent",
    );
}

fn of_mode(out: &mut String, cost: &ModeCost, more: &str) {
    let slower = match cost.slower {
        0.0 => "the fastest".to_owned(),
        by if by < 0.0 => format!("{:.0}% faster", -by * 100.0),
        by => format!("{:.0}% slower", by * 100.0),
    };
    let _ = writeln!(
        out,
        "    {:<4} {:>10}  {slower}{more}",
        cost.mode.word(),
        time(cost.seconds)
    );
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} us", s * 1e6),
    }
}
