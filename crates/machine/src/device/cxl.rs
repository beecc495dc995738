//! Memory behind a CXL link.

use serde::Deserialize;

use super::Device;
use crate::quantity::{Nanos, Rate, Size};

/// A CXL memory device.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Cxl {
    /// Round trip of link, ports and device controller, without the backing memory.
    pub link: Nanos,
    /// Link bandwidth from device to host.
    pub to_host: Rate,
    /// Link bandwidth from host to device.
    pub to_device: Rate,
    /// Unit that the backing memory reads and writes (64 B to 16 KB).
    pub unit: Size,
    /// A cache on the device (`None`: none).
    pub cache: Option<DeviceCache>,
    /// What is behind it, one device a backing channel.
    pub backing: Device,
    /// Backing channels.
    pub channels: u32,
}

/// A cache on a device, of the device's units.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub struct DeviceCache {
    /// Bytes.
    pub size: Size,
    /// Associativity.
    pub ways: u32,
    /// Latency of a hit on top of the link.
    pub hit: Nanos,
}
