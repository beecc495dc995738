//! How near predictions came to what was measured.

use serde::Serialize;

/// Predictions of one operation for a machine that programs were measured on, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    /// Operation.
    pub op: String,
    /// Ratios compared.
    pub cases: usize,
    /// Median of how far predictions were off, as a share of what was measured.
    pub median_error: f64,
    /// The farthest off.
    pub worst_error: f64,
}

impl Accuracy {
    /// `skip: off by 9% at the median, 31% at most (8 cases)`.
    pub fn told(&self) -> String {
        format!(
            "{}: off by {:.0}% at the median, {:.0}% at most ({} case{})",
            self.op,
            self.median_error * 100.0,
            self.worst_error * 100.0,
            self.cases,
            if self.cases == 1 { "" } else { "s" }
        )
    }
}
