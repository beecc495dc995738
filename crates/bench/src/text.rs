//! The table.

use std::fmt::Write;

use crate::{CaseResult, Results, VariantResult};

/// The results as text for people; warnings last.
pub fn render(results: &Results) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {} CPUs, {} runs",
        results.cpu, results.cpus, results.runs
    );
    for operation in &results.operations {
        let idle = if operation.active { "" } else { " (no effect)" };
        let _ = writeln!(
            out,
            "{:<8}{}{idle}",
            operation.variant, operation.instruction
        );
    }
    let _ = writeln!(
        out,
        "\n{:<10}{:>6}{:>9}  {:<8}{:>11}{:>13}   speedup: median (least to most)",
        "program", "bytes", "threads", "", "seconds", "M ops/s"
    );
    for case in &results.cases {
        for variant in &case.variants {
            row(&mut out, case, variant);
        }
    }
    for warning in &results.warnings {
        let _ = writeln!(out, "\nNote: {warning}.");
    }
    out
}

fn row(out: &mut String, case: &CaseResult, result: &VariantResult) {
    let rate = case.operations as f64 / result.seconds.median / 1e6;
    let mark = if result.unsteady { "~" } else { "" };
    let speedup = result.speedup.map_or_else(
        || mark.to_owned(),
        |s| format!("{:>7.2} ({:.2} to {:.2}) {mark}", s.median, s.min, s.max),
    );
    let line = format!(
        "{:<10}{:>6}{:>9}  {:<8}{:>11.4}{:>13.3}   {speedup}",
        case.program.name(),
        case.size,
        case.threads,
        result.variant,
        result.seconds.median,
        rate,
    );
    let _ = writeln!(out, "{}", line.trim_end());
}
