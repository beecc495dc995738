//! `prestore machine calibrate`: measures this host and writes it as a machine description.
//!
//! [`calibrate`] measures, [`Calibration`] is what it found (and the JSON output), [`to_toml`] makes the machine file
//! of it, [`render`] the text.
//!
//! Nothing here needs hardware counters: everything is wall-clock time around loops of known work, so it works in a
//! VM. Each figure is the median of many short runs, most of which a neighbour's work does not hit, and carries its
//! spread; [`Figure::stable`] says whether to trust it. What cannot be measured without privileges (replacement,
//! queues of the memory controller) is written as `assumed`, with the reason.
//!
//! Design constraint: one short file a thing that is measured; `measure.rs` alone knows the order.

mod arch;
mod assumptions;
mod bandwidth;
mod buffer;
mod caches;
mod calibration;
mod chase;
mod clock;
mod curve;
mod effort;
mod error;
mod fences;
mod figure;
mod flushes;
mod forwarding;
mod latencies;
mod measure;
mod non_temporal;
mod pin;
mod quiet;
mod sharing;
mod stores;
mod strings;
mod text;
mod toml;
mod window;

pub use caches::{CacheInfo, CacheSharing, last_level_cache};
pub use calibration::{
    Calibration, Clwb, FlushCost, LevelLatency, LineState, SCHEMA_VERSION, Stays,
};
pub use curve::{Curve, Point};
pub use effort::Effort;
pub use error::CalibrateError;
pub use figure::Figure;
pub use flushes::demotes;
pub use measure::calibrate;
pub use non_temporal::Beside;
pub use quiet::{Reference, Watch};
pub use sharing::between_cores;
pub use strings::StringStores;
pub use text::render;
pub use toml::to_toml;
