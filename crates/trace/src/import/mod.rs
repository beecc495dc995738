//! Traces that others recorded.

/// File name of the samples in a trace directory of kind samples.
pub const SAMPLES: &str = "samples.jsonl";
