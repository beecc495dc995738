//! The experiment `optane`.

use prestore_machine::Machine;
use prestore_replay::at_once;
use serde::Serialize;

use super::curves::{Curve, Half, Sample, rows};
use super::figure::{FigurePoint, Quantity};
use super::files::{Measurements, bundled_measurements, read_measurements};
use super::point::Point;
use super::simulate::{Simulated, machine, simulate, simulate_figure};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::report::Report;

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
        "Real Optane DIMMs (FAST'20): bandwidth, write ratio, latency; --points FILE.csv or DIR: others"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let (measurements, title) = match &options.points {
            Some(path) => (read_measurements(path)?, path.display().to_string()),
            None => (
                bundled_measurements()?,
                "the measurements of FAST'20".to_owned(),
            ),
        };
        let machine = machine(options.dimms.unwrap_or(1), &[])?;
        let (mut samples, mut points) = (Vec::new(), Vec::new());
        for measured in measurements {
            match measured {
                Measurements::Sweep(sweep) => {
                    let compared = compare(&machine, sweep, options.seed)?;
                    samples.extend(compared.iter().flat_map(sweep_samples));
                    points.extend(compared);
                }
                Measurements::Figure(figure) => {
                    samples.extend(figure_samples(&machine, &figure, options.seed)?);
                }
            }
        }
        let mut report = Report::new(self.name(), title);
        for half in [Half::Calibrate, Half::Check] {
            report.rows.extend(rows(&samples, half));
        }
        if let Ok(points) = serde_json::to_value(&points) {
            report.more.insert("points".to_owned(), points);
        }
        Ok(report)
    }
}

/// Simulates all points of a sweep, on all processors.
///
/// # Errors
/// The first that could not be simulated.
pub fn compare(
    machine: &Machine,
    points: Vec<Point>,
    seed: u64,
) -> Result<Vec<Compared>, ReproError> {
    let simulated = at_once(&points, |point| simulate(machine, point, seed), &|_| ());
    let simulated: Result<Vec<_>, _> = simulated.into_iter().collect();
    let compared = points.into_iter().zip(simulated?);
    Ok(compared
        .map(|(point, simulated)| Compared::new(point, simulated))
        .collect())
}

impl Compared {
    /// A point beside what its simulation gave.
    pub fn new(point: Point, simulated: Simulated) -> Self {
        Self {
            half: Half::of(&point.work),
            measured: Measured {
                throughput_mb_s: point.throughput_mb_s,
                ewr: point.ewr,
            },
            simulated,
            point,
        }
    }
}

/// What a point has to compare: throughput, and the write ratio where there was something to write.
pub fn sweep_samples(compared: &Compared) -> Vec<Sample> {
    let sample = |metric, published: Option<f64>, ours: Option<f64>| {
        Some(Sample {
            curve: Curve::of(&compared.point.work).to_string(),
            metric,
            half: compared.half,
            published: published.filter(|p| *p > 0.0)?,
            ours: ours?,
        })
    };
    let (measured, simulated) = (compared.measured, compared.simulated);
    let throughput = Some(simulated.throughput_mb_s);
    let both = [
        sample("MB/s", measured.throughput_mb_s, throughput),
        sample("EWR", measured.ewr, simulated.ewr),
    ];
    both.into_iter().flatten().collect()
}

/// Simulates all points of a figure, on all processors.
fn figure_samples(
    machine: &Machine,
    points: &[FigurePoint],
    seed: u64,
) -> Result<Vec<Sample>, ReproError> {
    let run = |point: &FigurePoint| simulate_figure(machine, &point.quantity, seed);
    let ours: Result<Vec<_>, _> = at_once(points, run, &|_| ()).into_iter().collect();
    let both = points.iter().zip(ours?);
    Ok(both
        .map(|(point, ours)| figure_sample(point, ours))
        .collect())
}

/// What a point of a figure has to compare with `ours`, what its simulation gave.
pub fn figure_sample(point: &FigurePoint, ours: f64) -> Sample {
    Sample {
        curve: point.curve.to_owned(),
        metric: match point.quantity {
            Quantity::Bandwidth(_) => "GB/s",
            Quantity::Latency(_) => "ns",
            Quantity::Amplification { .. } => "amplification",
        },
        half: point.half,
        published: point.published,
        ours,
    }
}
