//! Real Optane DIMMs: OptaneStudy (the measurements published with FAST'20) and the simulator's
//! model beside them.

mod curves;
mod experiment;
mod point;
mod simulate;
mod stimulus;

pub use curves::{Curve, Half, Pairs, throughputs, write_ratios};
pub use experiment::{Compared, OptaneStudy, compare};
pub use point::{Operation, Point, Task, Work, read_points};
pub use simulate::{Simulated, machine, simulate};
pub use stimulus::Stimulus;
