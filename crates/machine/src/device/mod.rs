//! Memory devices: one description a kind.

mod cxl;
mod dram;
mod fpga;
mod optane;
mod pcm;

pub use cxl::{Cxl, DeviceCache};
pub use dram::{Dram, PagePolicy};
pub use fpga::Fpga;
pub use optane::{Migration, Optane};
pub use pcm::{Pcm, Recovery};

use serde::Deserialize;

/// What stands behind a memory controller.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Device {
    /// DDR or LPDDR DRAM.
    Dram(Dram),
    /// Phase-change memory with row buffers.
    Pcm(Pcm),
    /// An Optane DIMM.
    Optane(Optane),
    /// A CXL link with memory behind it.
    Cxl(Box<Cxl>),
    /// Memory behind a coherent FPGA.
    Fpga(Fpga),
}
