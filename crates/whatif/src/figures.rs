//! What of a run is set side by side.

use std::collections::BTreeMap;

use prestore_sim::Results;
use serde::Serialize;

/// The evidence: where time and bytes of a run went. Definitions: `docs/metrics.md`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Measured time, cycles.
    pub cycles: u64,
    /// Measured time, seconds.
    pub seconds: f64,
    /// Stall cycles by cause, all threads together.
    pub stalls: BTreeMap<String, u64>,
    /// Bytes over each boundary.
    pub bytes: BTreeMap<String, u64>,
    /// Bytes written to media.
    pub media_write_bytes: u64,
    /// Media bytes written for each byte sent to memory; `None`: none were sent.
    pub write_amplification: Option<f64>,
    /// Mean time from a message's begin to its arrival at the other thread, ns; `None`: no
    /// messages in a region were handed over.
    pub message_ns: Option<f64>,
    /// Of a sample: half of the time's 95 % interval, in percent of the time. `None`, and no key: all was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within_percent: Option<f64>,
}

impl From<&Results> for Figures {
    fn from(results: &Results) -> Self {
        Self {
            cycles: results.cycles,
            seconds: results.seconds,
            stalls: results.stalls.clone(),
            bytes: results.bytes.clone(),
            media_write_bytes: results.media_write_bytes,
            write_amplification: results.write_amplification,
            message_ns: (results.messages.count > 0).then_some(results.messages.mean_ns),
            within_percent: results.sampled.as_ref().and_then(|s| s.within_percent),
        }
    }
}
