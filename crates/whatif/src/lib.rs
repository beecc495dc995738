//! What following the advice would gain (issue of P0's section 7: before anyone touches the code).
//!
//! Each finding's operation is applied to the recorded program as *virtual pre-stores*
//! ([`prestore_sim::VirtualPrestores`]): one finding alone, and the best of each together. Every
//! variant and the program as it is are simulated on each machine asked; what differs between two
//! runs of one machine is the evidence.

mod advice;
mod figures;
mod predict;
mod prediction;
mod variant;

pub use advice::Advice;
pub use figures::Figures;
pub use predict::{Study, WhatIfError};
pub use prediction::{Effect, MachinePrediction, SCHEMA_VERSION, WhatIf};
