//! Traces that others recorded: samples of `perf`.
//!
//! Samples are not a stream: they say which code stores how much and from where it was called,
//! but nothing of order, and so of sequentiality and distances.

mod dir;
mod functions;
mod perf_script;
mod sample;

pub use dir::{SAMPLES, SampleDirError, read_samples, write_samples};
pub use functions::{Context, FunctionStores, StoreProfile};
pub use perf_script::{ImportError, SkippedLine, parse_perf_script};
pub use sample::{Frame, Sample, Samples};
