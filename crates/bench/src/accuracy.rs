//! What predictions for this host are worth, in short, to be kept.

use prestore_measure::Summary;
use serde::{Deserialize, Serialize};

use crate::{Results, Variant};

/// Errors of predictions for the host that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostAccuracy {
    /// The CPU's name: of another one this says nothing.
    pub cpu: String,
    /// Those that were compared.
    pub operations: Vec<OperationAccuracy>,
}

/// Errors of predictions of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationAccuracy {
    /// Its name.
    pub operation: String,
    /// Ratios compared.
    pub cases: usize,
    /// Median of the errors' magnitudes.
    pub median_error: f64,
    /// The greatest of them.
    pub worst_error: f64,
}

impl HostAccuracy {
    /// What `results` found; `None` where too much of it was too noisy, or nothing was predicted.
    pub fn of(results: &Results) -> Option<Self> {
        results.prediction.as_ref()?.median_error?;
        let variants = results.cases.iter().flat_map(|case| &case.variants);
        let errors = |variant: Variant| -> Vec<f64> {
            let of_this = variants.clone().filter(|v| v.variant == variant);
            of_this
                .filter_map(|v| Some(v.predicted?.error?.abs()))
                .collect()
        };
        let active = results.operations.iter().filter(|o| o.active);
        let operations = active.filter_map(|o| {
            let errors = Summary::of(&errors(o.variant))?;
            Some(OperationAccuracy {
                operation: o.variant.name().to_owned(),
                cases: errors.count,
                median_error: errors.median,
                worst_error: errors.max,
            })
        });
        Some(Self {
            cpu: results.cpu.clone(),
            operations: operations.collect(),
        })
    }
}
