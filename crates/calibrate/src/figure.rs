//! A measured number.

use std::time::Instant;

use prestore_measure::Summary;
use serde::Serialize;

use crate::Effort;

/// Spread from which on a figure is not stable: the quartiles lie this share of the median apart.
const UNSTABLE: f64 = 0.15;

/// A measured number with its unit, how it was measured, and how far the runs lie apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Least, quartiles and greatest of all runs, in `unit`.
    pub summary: Summary,
    /// `ns`, `GB/s`, `GHz`, `cycles`, or empty for a number of things.
    pub unit: &'static str,
    /// What was done, in a few words.
    pub how: String,
    /// The runs agree.
    pub stable: bool,
}

impl Figure {
    /// A figure of these runs; none without runs.
    pub fn of(runs: &[f64], unit: &'static str, how: impl Into<String>) -> Option<Figure> {
        let summary = Summary::of(runs)?;
        Some(Figure {
            stable: summary.spread() <= UNSTABLE,
            summary,
            unit,
            how: how.into(),
        })
    }

    /// The number.
    pub fn value(&self) -> f64 {
        self.summary.median
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64, unit: &'static str) -> Figure {
        Figure {
            summary: self.summary.scaled(factor),
            unit,
            how: self.how.clone(),
            stable: self.stable,
        }
    }

    /// The same less a known part.
    #[must_use]
    pub fn less(&self, part: f64) -> Figure {
        let rest = |value: f64| (value - part).max(0.0);
        let mut summary = self.summary;
        for value in [
            &mut summary.min,
            &mut summary.lower_quartile,
            &mut summary.median,
            &mut summary.upper_quartile,
            &mut summary.max,
        ] {
            *value = rest(*value);
        }
        Figure {
            summary,
            ..self.clone()
        }
    }

    /// How it was measured and how stable it is: the source in the machine file.
    pub fn source(&self) -> String {
        let s = &self.summary;
        let trust = if self.stable { "" } else { "NOT STABLE, " };
        format!(
            "measured: {}; {trust}median of {} runs, quartiles {} to {}{}{}",
            self.how,
            s.count,
            number(s.lower_quartile),
            number(s.upper_quartile),
            if self.unit.is_empty() { "" } else { " " },
            self.unit,
        )
    }
}

/// Three digits or so: no measurement here is better.
pub(crate) fn number(value: f64) -> String {
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Nanoseconds that `work` takes.
pub(crate) fn ns(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

/// Runs `work(times)` as often as the effort says, with as many times as make a short run, and gives nanoseconds
/// of one time. `work` does the same work for each time.
pub(crate) fn each(effort: Effort, mut work: impl FnMut(u64)) -> Vec<f64> {
    let mut times = 1;
    // Also warms up.
    while ns(|| work(times)) < effort.run_ns() / 2.0 && times < 1 << 40 {
        times *= 2;
    }
    (0..effort.runs())
        .map(|_| ns(|| work(times)) / times as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_says_when_runs_disagree() {
        let steady = Figure::of(&[10.0, 10.1, 9.9], "ns", "a loop").unwrap();
        assert!(steady.stable && !steady.source().contains("NOT STABLE"));
        let torn = Figure::of(&[5.0, 10.0, 20.0], "ns", "a loop").unwrap();
        assert!(!torn.stable && torn.source().contains("NOT STABLE"));
        assert!(torn.source().contains("a loop") && torn.source().contains("3 runs"));
    }

    #[test]
    fn numbers_have_three_digits() {
        for (value, text) in [
            (0.5, "0.5"),
            (4.0, "4"),
            (14.26, "14.3"),
            (101.53, "102"),
            (1000.0, "1000"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
