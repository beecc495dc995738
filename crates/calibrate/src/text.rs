//! The summary for people.

use std::fmt::Write;

use crate::calibration::{Calibration, Stays};
use crate::figure::number;

/// The figures as text; warnings last.
pub fn render(host: &Calibration) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {} CPUs ({})\n",
        host.cpu, host.cpus, host.architecture
    );
    for (cache, latency) in host.caches.iter().zip(&host.latencies) {
        let seen = latency.seen_bytes.map_or(String::new(), |seen| {
            format!(", as fast up to {} KiB", seen >> 10)
        });
        let _ = writeln!(
            out,
            "{:<5}{} KiB, {} ways, {:?}{seen}",
            cache.name(),
            cache.size >> 10,
            cache.ways,
            cache.sharing
        );
    }
    let _ = writeln!(
        out,
        "\n{:<24}{:>10}        quartiles; ~ not stable",
        "", "median"
    );
    for (name, figure) in host.figures() {
        let s = &figure.summary;
        let _ = writeln!(
            out,
            "{name:<24}{:>10} {:<7}{} to {}{}",
            number(s.median),
            figure.unit,
            number(s.lower_quartile),
            number(s.upper_quartile),
            if figure.stable { "" } else { "  ~" }
        );
    }
    if let Some(clean) = &host.clean {
        let stays = match clean.stays {
            Some(Stays::Where) => "leaves the line in the caches",
            Some(Stays::Shared) => "leaves the line in the shared cache only",
            Some(Stays::Nowhere) => "takes the line out of the caches",
            None => "is defined to leave the line in the caches",
        };
        let _ = writeln!(out, "\n{} {stays}.", clean.instruction);
    }
    let effect = if host.demote_active {
        ""
    } else {
        ", which does nothing here"
    };
    let _ = writeln!(out, "Demote is {}{effect}.", host.demote);
    for curve in &host.curves {
        let _ = writeln!(out, "\n{}, {}, over {}", curve.name, curve.unit, curve.over);
        for point in &curve.points {
            let _ = writeln!(out, "{:>14}{:>10}", point.at, number(point.summary.median));
        }
    }
    for warning in &host.warnings {
        let _ = writeln!(out, "\nNote: {warning}.");
    }
    out
}
