//! The host's side of the shared files (layout: `client/wire.h`).

mod counts;
mod futex;
mod log;
mod notes;
mod protocol;
mod ring;
mod session;
mod swept;
mod tally;

pub(crate) use counts::CountReader;
pub(crate) use log::LogReader;
pub(crate) use ring::RingReader;
pub(crate) use session::{FileName, Session};
pub use swept::{PREFIX, in_use, sweep};
pub(crate) use tally::Tally;

/// Version of the layout; the client refuses another.
const WIRE_VERSION: u32 = 1;
