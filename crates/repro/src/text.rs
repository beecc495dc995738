//! Reports for people.

use std::fmt::Write;

use crate::report::{Deviation, Report, Row};

/// A report as a table.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}: {}\n", report.name, report.source);
    let width = |of: fn(&Row) -> &str, name: &str| {
        let longest = report.rows.iter().map(|row| of(row).chars().count()).max();
        longest.unwrap_or(0).max(name.len())
    };
    let label = width(|row| &row.label, "what");
    let metric = width(|row| &row.metric, "metric");
    let ranges = report.rows.iter().map(|row| published(row).chars().count());
    let width = ranges.max().unwrap_or(0).max(9);
    let _ = writeln!(
        out,
        "{:label$}  {:metric$}  {:>width$}  {:>9}  {:>10}  {:>9}",
        "what", "metric", "published", "ours", "deviation", "tolerance"
    );
    for row in &report.rows {
        let deviation = match row.kind {
            Deviation::Relative => format!("{:+.1} %", 100.0 * row.deviation),
            Deviation::AtLeast => format!("≥ {:+.1} %", 100.0 * row.deviation),
            Deviation::AtMost => format!("≤ {:+.1} %", 100.0 * row.deviation),
            Deviation::Between => format!("↔ {:+.1} %", 100.0 * row.deviation),
            Deviation::Mean => format!("ø {:.1} %", 100.0 * row.deviation),
            Deviation::Median => format!("~ {:.1} %", 100.0 * row.deviation),
        };
        let _ = writeln!(
            out,
            "{:label$}  {:metric$}  {:>width$}  {:>9}  {:>10}  {:>7.0} %{}",
            row.label,
            row.metric,
            published(row),
            number(row.ours),
            deviation,
            100.0 * row.tolerance,
            if row.within { "" } else { "  OUT" }
        );
    }
    let out_of = report.rows.iter().filter(|row| !row.within).count();
    let _ = writeln!(
        out,
        "\n{} of {} rows within tolerance (ø mean, ~ median of absolute deviations; ≥, ≤, ↔ bounds)",
        report.rows.len() - out_of,
        report.rows.len()
    );
    for note in &report.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

/// The number or the range.
fn published(row: &Row) -> String {
    match row.published_to {
        None => number(row.published),
        Some(most) => format!("{} to {}", number(row.published), number(most)),
    }
}

/// Four digits that matter.
fn number(value: f64) -> String {
    match value.abs() {
        v if v >= 1000.0 => format!("{value:.0}"),
        v if v >= 100.0 => format!("{value:.1}"),
        v if v >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::report::{Report, Row};

    #[test]
    fn a_row_out_of_tolerance_is_marked() {
        let mut report = Report::new("optane", "a data set");
        report
            .rows
            .push(Row::relative("read", "ns", 100.0, 101.0, 0.1));
        report
            .rows
            .push(Row::relative("write", "ns", 100.0, 150.0, 0.1));
        let text = render(&report);
        let line = |label: &str| {
            text.lines()
                .find(|l| l.starts_with(label))
                .map(str::to_owned)
        };
        assert!(line("read").is_some_and(|l| !l.contains("OUT")), "{text}");
        assert!(line("write").is_some_and(|l| l.ends_with("OUT") && l.contains("+50.0 %")));
        assert!(text.contains("1 of 2 rows within tolerance"));
    }
}
