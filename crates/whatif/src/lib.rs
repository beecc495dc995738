//! What following the advice would gain (issue of P0's section 7: before anyone touches the code).
//!
//! Each finding's operation is applied to the recorded program as *virtual pre-stores*
//! ([`prestore_sim::VirtualPrestores`]): each finding's alone, in each way in which the source
//! can be written, then the best of those that gain together. All that and the program as it is are simulated on each
//! machine asked, several times; what differs between two runs of one machine is the evidence.

mod advice;
mod effects;
mod figures;
mod fits;
mod prediction;
mod simulate;
mod speedup;
mod study;
mod variant;

pub use advice::Advice;
pub use figures::Figures;
pub use prediction::{Effect, MachinePrediction, SCHEMA_VERSION, WhatIf};
pub use prestore_replay::at_once;
pub use speedup::Speedup;
pub use study::{Study, WhatIfError, have_cores};
