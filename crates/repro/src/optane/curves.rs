//! Curves: points that differ in one thing, and which half of them the model was fitted to.

use std::collections::BTreeMap;

use super::point::{Operation, Task, Work};
use crate::report::Row;

/// The mean deviation that a curve may have (the best published simulator has about 14 % over all).
const CURVE: f64 = 0.25;
/// The median deviation that all points may have.
const MEDIAN: f64 = 0.10;

/// A curve of the sweep: throughput (or effective write ratio) by access size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Curve {
    operation: Operation,
    kind: Kind,
    threads: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Random,
    Sequential,
    Strided,
    SamePlace,
}

impl Curve {
    /// The curve that `work` lies on.
    pub fn of(work: &Work) -> Self {
        let kind = match work.task_type {
            Task::Random => Kind::Random,
            Task::Stride if work.stride_size == 0 => Kind::SamePlace,
            Task::Stride if work.stride_size == work.access_size => Kind::Sequential,
            Task::Stride => Kind::Strided,
        };
        Self {
            operation: work.operation,
            kind,
            threads: work.threads,
        }
    }
}

impl std::fmt::Display for Curve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.kind {
            Kind::Random => "random",
            Kind::Sequential => "sequential",
            Kind::Strided => "strided",
            Kind::SamePlace => "same place",
        };
        write!(f, "{} {kind}, {} threads", self.operation, self.threads)
    }
}

/// Half of all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    /// The model's numbers were fitted to these.
    Calibrate,
    /// The model is judged by these.
    Check,
}

impl Half {
    /// Which half a point belongs to: decided by what was run alone, whatever file it stands in.
    pub fn of(work: &Work) -> Self {
        Self::of_text(&format!("{work:?}"))
    }

    /// The same of what is no [`Work`], by its name.
    pub fn of_text(text: &str) -> Self {
        // FNV-1a over the text, then its top bit.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mixed = (hash ^ (hash >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if mixed >> 63 == 0 {
            Self::Calibrate
        } else {
            Self::Check
        }
    }
}

/// A measured number and ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The curve it belongs to.
    pub curve: String,
    /// What it is, with its unit.
    pub metric: &'static str,
    /// Which half of all points it belongs to.
    pub half: Half,
    /// As measured.
    pub published: f64,
    /// As simulated.
    pub ours: f64,
}

/// A row a curve, then the median over all points of the half, whatever their metric.
pub fn rows(samples: &[Sample], half: Half) -> Vec<Row> {
    let name = match half {
        Half::Calibrate => "calibrated on",
        Half::Check => "check",
    };
    let mut curves: BTreeMap<(&str, &str), Vec<(f64, f64)>> = BTreeMap::new();
    for sample in samples.iter().filter(|s| s.half == half) {
        let pairs = curves.entry((sample.metric, &sample.curve)).or_default();
        pairs.push((sample.published, sample.ours));
    }
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    for ((metric, curve), pairs) in curves {
        let label = format!("{curve} ({name})");
        rows.push(Row::mean(label, metric, &pairs, CURVE));
        all.extend(
            pairs
                .iter()
                .map(|(published, ours)| (1.0, ours / published)),
        );
    }
    if !all.is_empty() {
        let label = format!("all points ({name})");
        rows.push(Row::median(label, "ours by published", &all, MEDIAN));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{Half, Sample, rows};
    use crate::optane::point::{Operation, Task, Work};

    #[test]
    fn the_halves_are_halves() {
        let mut check = 0;
        for threads in 1..=24 {
            for size in 0..16 {
                let work = Work {
                    operation: Operation::NtStore,
                    task_type: Task::Random,
                    access_size: 64 << size,
                    stride_size: 0,
                    threads,
                };
                check += u32::from(Half::of(&work) == Half::Check);
            }
        }
        assert!((150..234).contains(&check), "{check} of 384");
    }

    #[test]
    fn a_row_holds_the_points_of_one_curve_and_half() {
        let sample = |curve: &str, half, ours| Sample {
            curve: curve.to_owned(),
            metric: "ns",
            half,
            published: 100.0,
            ours,
        };
        let samples = [
            sample("a", Half::Check, 110.0),
            sample("a", Half::Check, 130.0),
            sample("a", Half::Calibrate, 500.0),
            sample("b", Half::Check, 160.0),
        ];
        let rows = rows(&samples, Half::Check);
        let found: Vec<(&str, bool)> = rows.iter().map(|r| (&*r.label, r.within)).collect();
        let expected = [
            ("a (check)", true),
            ("b (check)", false),
            ("all points (check)", false),
        ];
        assert_eq!(found, expected);
        assert!(
            (rows[2].deviation - 0.3).abs() < 1e-9,
            "{}",
            rows[2].deviation
        );
    }
}
