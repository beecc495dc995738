//! Why a host cannot be calibrated.

use std::io;

use thiserror::Error;

/// Why a host cannot be calibrated.
#[derive(Debug, Error)]
pub enum CalibrateError {
    /// The system does not say what caches there are.
    #[error(
        "the caches of this host are not described in {path}: a machine description cannot be made without their \
         sizes; take one of `prestore machine list` and set its values with --set instead"
    )]
    NoCaches {
        /// Where they were looked for.
        path: String,
    },
    /// No measurement gave a number.
    #[error("the clock of this host does not advance: nothing can be measured")]
    NoClock,
    /// No memory for a measurement.
    #[error(
        "{bytes} bytes of memory for a measurement cannot be had: {source}; free some, or use --quick"
    )]
    Memory {
        /// How much.
        bytes: usize,
        /// What the system says.
        source: io::Error,
    },
}
