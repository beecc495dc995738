//! A figure that depends on something.

use prestore_measure::Summary;
use serde::Serialize;

use crate::figure::Figure;

/// Measured at several points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// What is measured.
    pub name: String,
    /// What differs from point to point.
    pub over: &'static str,
    /// Unit of the figures.
    pub unit: &'static str,
    /// What was done.
    pub how: String,
    /// In ascending order.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Where.
    pub at: u64,
    /// The figure's runs.
    pub summary: Summary,
}

impl Point {
    /// A figure (without unit) that follows from this point's runs one by one.
    pub(crate) fn figure(&self, of: impl Fn(f64) -> f64, how: String) -> Option<Figure> {
        let s = self.summary;
        let runs = [s.min, s.lower_quartile, s.median, s.upper_quartile, s.max];
        let mut figure = Figure::of(&runs.map(of), "", how)?;
        figure.summary.count = s.count;
        Some(figure)
    }
}

impl Curve {
    /// The median at a point, where it was measured.
    pub fn median(&self, at: u64) -> Option<f64> {
        let point = self.points.iter().find(|point| point.at == at)?;
        Some(point.summary.median)
    }

    /// Adds a point; one without runs is left out.
    pub(crate) fn push(&mut self, at: u64, runs: &[f64]) {
        if let Some(summary) = Summary::of(runs) {
            self.points.push(Point { at, summary });
        }
    }
}
