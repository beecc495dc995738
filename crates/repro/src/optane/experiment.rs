//! The experiment `optane`.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use prestore_machine::Machine;
use serde::Serialize;

use super::curves::{Half, Pairs, throughputs, write_ratios};
use super::point::{Point, Work, read_points};
use super::simulate::{Simulated, machine, simulate};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::report::{Report, Row};

/// The mean deviation that a curve may have (the best published simulator has about 14 % over all).
const CURVE: f64 = 0.25;
/// The median deviation that all points may have.
const MEDIAN: f64 = 0.10;

/// OptaneStudy and the model of an Optane DIMM.
#[derive(Clone, Copy, Debug)]
pub struct OptaneStudy;

/// A point, measured and simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// What was run.
    #[serde(flatten)]
    pub point: Point,
    /// Which half of the points it belongs to.
    pub half: Half,
    /// What was measured.
    pub measured: Measured,
    /// What the simulation gives.
    pub simulated: Simulated,
}

/// What was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Bytes accessed, 10^6 a second.
    pub throughput_mb_s: Option<f64>,
    /// Effective write ratio.
    pub ewr: Option<f64>,
}

impl Experiment for OptaneStudy {
    fn name(&self) -> &'static str {
        "optane"
    }

    fn about(&self) -> &'static str {
        "Bandwidth and effective write ratio of real Optane DIMMs (FAST'20); --points FILE.csv"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let Some(path) = &options.points else {
            return Err(ReproError::NoPoints);
        };
        let points = read_points(path)?;
        let machine = machine(options.dimms.unwrap_or(1), &[])?;
        let compared = compare(&machine, points, options.seed)?;
        let mut report = Report::new(self.name(), format!("{}", path.display()));
        for half in [Half::Calibrate, Half::Check] {
            report.rows.extend(rows(&compared, half));
        }
        if let Ok(points) = serde_json::to_value(&compared) {
            report.more.insert("points".to_owned(), points);
        }
        Ok(report)
    }
}

/// Simulates all points, on all processors.
///
/// # Errors
/// The first that could not be simulated.
pub fn compare(
    machine: &Machine,
    points: Vec<Point>,
    seed: u64,
) -> Result<Vec<Compared>, ReproError> {
    let works: Vec<Work> = points.iter().map(|p| p.work).collect();
    let simulated = simulate_all(machine, &works, seed)?;
    let compared = points.into_iter().zip(simulated);
    Ok(compared
        .map(|(point, simulated)| Compared {
            half: Half::of(&point.work),
            measured: Measured {
                throughput_mb_s: point.throughput_mb_s,
                ewr: point.ewr,
            },
            simulated,
            point,
        })
        .collect())
}

fn simulate_all(
    machine: &Machine,
    works: &[Work],
    seed: u64,
) -> Result<Vec<Simulated>, ReproError> {
    let next = AtomicUsize::new(0);
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done: Vec<(usize, Result<Simulated, ReproError>)> = thread::scope(|scope| {
        let worker = || {
            let mut done = Vec::new();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(work) = works.get(i) else {
                    return done;
                };
                done.push((i, simulate(machine, work, seed)));
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.flatten().collect()
    });
    done.sort_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

/// A row a curve, then the median over all points of the half.
pub fn rows(compared: &[Compared], half: Half) -> Vec<Row> {
    let of_half = || compared.iter().filter(|c| c.half == half);
    let name = match half {
        Half::Calibrate => "calibrated on",
        Half::Check => "check",
    };
    let mut rows = Vec::new();
    let metrics: [(&str, Pairs); 2] = [
        (
            "MB/s",
            throughputs(of_half().map(|c| (&c.point, c.simulated.throughput_mb_s))),
        ),
        (
            "EWR",
            write_ratios(of_half().map(|c| (&c.point, c.simulated.ewr))),
        ),
    ];
    for (unit, curves) in metrics {
        let all: Vec<(f64, f64)> = curves.values().flatten().copied().collect();
        if all.is_empty() {
            continue;
        }
        for (curve, pairs) in &curves {
            rows.push(Row::mean(format!("{curve} ({name})"), unit, pairs, CURVE));
        }
        rows.push(Row::median(
            format!("all points ({name})"),
            unit,
            &all,
            MEDIAN,
        ));
    }
    rows
}
