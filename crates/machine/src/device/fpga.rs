//! Memory of a coherent FPGA that keeps the directory of its lines (P0's machine B).

use serde::Deserialize;

use crate::quantity::{Nanos, Rate, Size};

/// FPGA memory.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Fpga {
    /// Latency of a read, link included.
    pub read: Nanos,
    /// Bandwidth of each direction.
    pub bandwidth: Rate,
    /// Controllers that the device interleaves over.
    pub controllers: u32,
    /// Consecutive bytes on one of them.
    pub interleave: Size,
    /// Bytes of its internal unit.
    pub unit: Size,
}
