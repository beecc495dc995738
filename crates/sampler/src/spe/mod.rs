//! Arm Statistical Profiling Extension: the packet stream of the AUX area.
//!
//! Format: Arm Architecture Reference Manual (DDI 0487), chapter "Statistical Profiling Extension
//! Sample Record Specification". A record is a run of packets ended by an END or TIMESTAMP packet.

mod packet;
mod record;

pub use packet::{Packet, Packets};
pub use record::{SpeRecord, SpeStream, decode_spe};
