//! Curves: points that differ in one thing, and which half of them the model was fitted to.

use std::collections::BTreeMap;

use super::point::{Operation, Point, Task, Work};

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
        // FNV-1a over the columns, then its top bit.
        let text = format!("{work:?}");
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

/// (published, ours) by curve.
pub type Pairs = BTreeMap<Curve, Vec<(f64, f64)>>;

/// Measured and simulated throughput of points, by curve.
pub fn throughputs<'a>(points: impl Iterator<Item = (&'a Point, f64)>) -> Pairs {
    let mut pairs = Pairs::new();
    for (point, ours) in points {
        if let Some(published) = point.throughput_mb_s.filter(|p| *p > 0.0) {
            let curve = pairs.entry(Curve::of(&point.work)).or_default();
            curve.push((published, ours));
        }
    }
    pairs
}

/// The same of the effective write ratio, where there was something to write.
pub fn write_ratios<'a>(points: impl Iterator<Item = (&'a Point, Option<f64>)>) -> Pairs {
    let mut pairs = Pairs::new();
    for (point, ours) in points {
        if let (Some(published), Some(ours)) = (point.ewr.filter(|p| *p > 0.0), ours) {
            let curve = pairs.entry(Curve::of(&point.work)).or_default();
            curve.push((published, ours));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::Half;
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
}
