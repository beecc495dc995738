//! One sampling run: start the program held, open the events, let it go, collect, finish.

mod collect;
mod finish;
mod held;
mod open;
mod run;

pub use collect::{Collected, Collector};
pub use finish::finish;
pub use open::{CpuEvent, open_plan, probe_plan};
pub use run::{SampleError, sample};
