//! The published numbers of a paper, and the sheet on which ours are put beside them.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::ReproError;
use crate::report::{Report, Row};

/// A paper's data file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// From the root of the project.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// How far ours may be off where a row does not say.
const TOLERANCE: f64 = 0.25;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    source: String,
    rows: BTreeMap<String, Published>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    label: String,
    metric: String,
    is: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    between: Option<(f64, f64)>,
    tolerance: Option<f64>,
}

/// A figure being filled in.
#[derive(Debug)]
pub(crate) struct Sheet {
    file: File,
    rows: BTreeMap<String, Published>,
    report: Report,
}

impl Sheet {
    /// The figure of `from` that experiment `name` is about.
    pub(crate) fn of(from: File, name: &'static str) -> Result<Self, ReproError> {
        let wrong = |what| ReproError::Published {
            file: from.path,
            what,
        };
        let mut all: BTreeMap<String, Figure> =
            toml::from_str(from.text).map_err(|e| wrong(e.to_string()))?;
        let figure = (all.remove(name)).ok_or_else(|| wrong(format!("there is no [{name}]")))?;
        Ok(Self {
            file: from,
            rows: figure.rows,
            report: Report::new(name, figure.source),
        })
    }

    /// Ours, for row `key`.
    pub(crate) fn ours(&mut self, key: &str, ours: f64) -> Result<(), ReproError> {
        let wrong = |why: &str| ReproError::Published {
            file: self.file.path,
            what: format!("row '{key}' {why}"),
        };
        let row = self.rows.remove(key).ok_or_else(|| wrong("is missing"))?;
        let tolerance = row.tolerance.unwrap_or(TOLERANCE);
        let (label, metric) = (row.label, row.metric);
        self.report
            .rows
            .push(match (row.is, row.at_least, row.at_most, row.between) {
                (Some(is), None, None, None) => Row::relative(label, metric, is, ours, tolerance),
                (None, Some(least), None, None) => Row::at_least(label, metric, least, ours),
                (None, None, Some(most), None) => Row::at_most(label, metric, most, ours),
                (None, None, None, Some((from, to))) if from <= to => {
                    Row::between(label, metric, (from, to), ours)
                }
                _ => {
                    return Err(wrong(
                        "needs one of is, at_least, at_most and between (the lower end first)",
                    ));
                }
            });
        Ok(())
    }

    /// What a reader must know.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.report.notes.push(note.into());
    }

    /// The report; a published number without ours is an error.
    pub(crate) fn finish(self) -> Result<Report, ReproError> {
        match self.rows.keys().next() {
            None => Ok(self.report),
            Some(key) => Err(ReproError::Published {
                file: self.file.path,
                what: format!("row '{key}' has no number of ours"),
            }),
        }
    }
}
