//! Real Optane DIMMs: OptaneStudy (the measurements published with FAST'20) and the simulator's
//! model beside them.

mod curves;
mod experiment;
mod figure;
mod files;
mod point;
mod simulate;
mod stimulus;
mod timed;

pub use curves::{Curve, Half, Sample, rows};
pub use experiment::{Compared, Measured, OptaneStudy, compare, figure_sample, sweep_samples};
pub use figure::{FigurePoint, Quantity};
pub use files::{Measurements, bundled_measurements, read_measurements};
pub use point::{Operation, Point, Task, Work};
pub use simulate::{Simulated, machine, simulate, simulate_figure};
pub use stimulus::Stimulus;
pub use timed::Timed;
