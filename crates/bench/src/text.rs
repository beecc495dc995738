//! The table.

use std::fmt::Write;

use crate::{BetweenCores, CaseResult, Predicted, Prediction, Results, VariantResult};

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
    if let Some(prediction) = &results.prediction {
        out.push_str(&predictions(results, prediction));
    }
    for warning in &results.warnings {
        let _ = writeln!(out, "\nNote: {warning}.");
    }
    out
}

fn predictions(results: &Results, prediction: &Prediction) -> String {
    let mut out = format!(
        "\n{:<10}{:>6}{:>9}  {:<8}{:>10}{:>11}{:>9}   speedup, measured here and simulated on {}\n",
        "program", "bytes", "threads", "", "measured", "predicted", "error", prediction.machine
    );
    for case in &results.cases {
        for variant in &case.variants {
            if let (Some(measured), Some(predicted)) = (variant.speedup, variant.predicted) {
                compared(&mut out, case, variant, measured.median, &predicted);
            }
        }
    }
    if prediction.too_noisy > 0 {
        let _ = writeln!(
            out,
            "\n{} of {} ratios are too noisy here to compare with (--runs takes more; an idle host is better).",
            prediction.too_noisy,
            prediction.too_noisy + prediction.ratios
        );
    }
    if let Some(error) = prediction.median_error {
        let _ = writeln!(
            out,
            "\nMedian error of {} ratios: {:.0}%. On the wrong side of 1: {} of {} whose effect is clear.",
            prediction.ratios,
            error * 100.0,
            prediction.wrong_side,
            prediction.clear
        );
    }
    if let Some(BetweenCores { now, described }) = prediction.between_cores {
        let _ = writeln!(
            out,
            "A line that another core wrote was read in {:.1} ns while the programs ran ({:.1} to {:.1}): simulated \
             instead of the {described:.1} ns of the machine's file.",
            now.median, now.min, now.max
        );
    }
    out
}

fn compared(
    out: &mut String,
    case: &CaseResult,
    variant: &VariantResult,
    measured: f64,
    predicted: &Predicted,
) {
    let Some(speedup) = predicted.speedup else {
        return;
    };
    let Some(error) = predicted.error else {
        let _ = writeln!(
            out,
            "{:<10}{:>6}{:>9}  {:<8}{measured:>10.3}{speedup:>11.3}   too noisy",
            case.program.name(),
            case.size,
            case.threads,
            variant.variant,
        );
        return;
    };
    let side = match predicted.right_side {
        Some(false) => "   WRONG SIDE",
        _ => "",
    };
    let _ = writeln!(
        out,
        "{:<10}{:>6}{:>9}  {:<8}{measured:>10.3}{speedup:>11.3}{:>+8.0}%{side}",
        case.program.name(),
        case.size,
        case.threads,
        variant.variant,
        error * 100.0,
    );
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
