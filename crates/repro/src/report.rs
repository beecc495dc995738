//! What an experiment says.

use serde::Serialize;

/// Version of the JSON form. It rises when a key goes away or changes its meaning, not when one is
/// added.
const SCHEMA_VERSION: u32 = 1;

/// A published figure and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema_version: u32,
    /// Name of the experiment.
    pub name: &'static str,
    /// Where the published numbers stand.
    pub source: String,
    /// Published and ours.
    pub rows: Vec<Row>,
    /// What a reader must know: one sentence each.
    pub notes: Vec<String>,
    /// What only this experiment has.
    #[serde(flatten)]
    pub more: serde_json::Map<String, serde_json::Value>,
}

impl Report {
    /// An empty report.
    pub fn new(name: &'static str, source: impl Into<String>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            name,
            source: source.into(),
            rows: Vec::new(),
            notes: Vec::new(),
            more: serde_json::Map::new(),
        }
    }

    /// Are all rows within their tolerance?
    pub fn within(&self) -> bool {
        self.rows.iter().all(|row| row.within)
    }
}

/// How a row's deviation comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// Ours by the published number, less 1.
    Relative,
    /// The mean of the absolute relative deviations of several numbers; published and ours are their
    /// means.
    Mean,
    /// The median of the same.
    Median,
    /// Published is a lower bound: what is missing to it.
    AtLeast,
    /// Published is an upper bound: what is beyond it.
    AtMost,
    /// Published is a range: what is missing to its lower end, or beyond its upper one.
    Between,
}

/// One number, or several that belong together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Which one.
    pub label: String,
    /// What was measured, with its unit.
    pub metric: String,
    /// As published; of a range its lower end.
    pub published: f64,
    /// Of a range its upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_to: Option<f64>,
    /// As simulated.
    pub ours: f64,
    /// The deviation.
    pub deviation: f64,
    /// What the deviation is.
    pub kind: Deviation,
    /// How much may be, in absolute terms.
    pub tolerance: f64,
    /// Is it?
    pub within: bool,
}

impl Row {
    /// A single number.
    pub fn relative(
        label: impl Into<String>,
        metric: impl Into<String>,
        published: f64,
        ours: f64,
        tolerance: f64,
    ) -> Self {
        let deviation = ours / published - 1.0;
        Self::new(
            label,
            metric,
            (published, ours),
            deviation,
            Deviation::Relative,
            tolerance,
        )
    }

    /// An order: `ours` is to be `least` or more.
    pub fn at_least(
        label: impl Into<String>,
        metric: impl Into<String>,
        least: f64,
        ours: f64,
    ) -> Self {
        let missing = (ours / least - 1.0).min(0.0);
        Self::new(
            label,
            metric,
            (least, ours),
            missing,
            Deviation::AtLeast,
            0.0,
        )
    }

    /// An order: `ours` is to be `most` or less.
    pub fn at_most(
        label: impl Into<String>,
        metric: impl Into<String>,
        most: f64,
        ours: f64,
    ) -> Self {
        let beyond = (ours / most - 1.0).max(0.0);
        Self::new(label, metric, (most, ours), beyond, Deviation::AtMost, 0.0)
    }

    /// A range: `ours` is to be neither below nor above it.
    pub fn between(
        label: impl Into<String>,
        metric: impl Into<String>,
        (least, most): (f64, f64),
        ours: f64,
    ) -> Self {
        let deviation = ours / ours.clamp(least, most) - 1.0;
        let row = Self::new(
            label,
            metric,
            (least, ours),
            deviation,
            Deviation::Between,
            0.0,
        );
        Self {
            published_to: Some(most),
            ..row
        }
    }

    /// The mean over (published, ours) pairs.
    pub fn mean(
        label: impl Into<String>,
        metric: impl Into<String>,
        pairs: &[(f64, f64)],
        tolerance: f64,
    ) -> Self {
        let deviation = mean(pairs.iter().map(|(p, o)| (o / p - 1.0).abs()));
        Self::new(
            label,
            metric,
            means(pairs),
            deviation,
            Deviation::Mean,
            tolerance,
        )
    }

    /// The median over (published, ours) pairs.
    pub fn median(
        label: impl Into<String>,
        metric: impl Into<String>,
        pairs: &[(f64, f64)],
        tolerance: f64,
    ) -> Self {
        let mut all: Vec<f64> = pairs.iter().map(|(p, o)| (o / p - 1.0).abs()).collect();
        all.sort_by(f64::total_cmp);
        let deviation = match all.len() {
            0 => 0.0,
            n if n % 2 == 1 => all[n / 2],
            n => f64::midpoint(all[n / 2 - 1], all[n / 2]),
        };
        Self::new(
            label,
            metric,
            means(pairs),
            deviation,
            Deviation::Median,
            tolerance,
        )
    }

    fn new(
        label: impl Into<String>,
        metric: impl Into<String>,
        (published, ours): (f64, f64),
        deviation: f64,
        kind: Deviation,
        tolerance: f64,
    ) -> Self {
        Self {
            label: label.into(),
            metric: metric.into(),
            published,
            published_to: None,
            ours,
            deviation,
            kind,
            tolerance,
            within: deviation.abs() <= tolerance,
        }
    }
}

fn means(pairs: &[(f64, f64)]) -> (f64, f64) {
    (
        mean(pairs.iter().map(|p| p.0)),
        mean(pairs.iter().map(|p| p.1)),
    )
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn a_deviation_beyond_the_tolerance_is_not_within() {
        assert!(Row::relative("a", "ns", 100.0, 109.0, 0.1).within);
        assert!(!Row::relative("a", "ns", 100.0, 89.0, 0.1).within);
    }

    #[test]
    fn bounds_are_broken_on_one_side_only() {
        assert!(Row::at_least("a", "x", 1.0, 1.5).within);
        assert!(!Row::at_least("a", "x", 1.0, 0.99).within);
        assert!(Row::at_most("a", "x", 1.0, 0.5).within);
        assert!(!Row::at_most("a", "x", 1.0, 1.01).within);
    }

    #[test]
    fn a_range_is_left_on_either_side() {
        let row = |ours| Row::between("a", "x", (1.0, 2.0), ours);
        assert!(row(1.0).within && row(1.5).within && row(2.0).within);
        assert_eq!((row(0.5).deviation, row(0.5).within), (-0.5, false));
        assert_eq!((row(3.0).deviation, row(3.0).within), (0.5, false));
    }

    #[test]
    fn deviations_to_both_sides_do_not_cancel() {
        let row = Row::mean("a", "ns", &[(100.0, 150.0), (100.0, 50.0)], 0.25);
        assert_eq!((row.deviation, row.within), (0.5, false));
        assert_eq!((row.published, row.ours), (100.0, 100.0));
    }

    #[test]
    fn the_median_is_the_middle_one_or_between_the_middle_two() {
        let three = [(1.0, 1.1), (1.0, 1.3), (1.0, 9.0)];
        assert!((Row::median("a", "ns", &three, 1.0).deviation - 0.3).abs() < 1e-9);
        assert!((Row::median("a", "ns", &three[..2], 1.0).deviation - 0.2).abs() < 1e-9);
    }

    #[test]
    fn no_number_makes_a_row_out_of_tolerance_not_within() {
        assert!(!Row::relative("a", "ns", 0.0, 0.0, 0.1).within);
    }
}
