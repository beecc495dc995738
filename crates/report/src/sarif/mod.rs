//! SARIF 2.1.0: findings as an editor or a code-review service shows them.
//!
//! Only advice with a source line is a result: a viewer cannot show anything else. What is left
//! out is said in the run's notes and by [`crate::Report::advice_without_line`].

mod crash;
mod log;
mod model;
mod pitfalls;
mod result;
mod rules;
mod uri;

pub use crash::crash_to_sarif;
pub use log::to_sarif;
pub use model::SarifLog;
