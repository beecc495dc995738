//! All devices, told apart by a match instead of a pointer.

use prestore_machine::device as described;
use prestore_trace::Bytes;

use super::cxl::Cxl;
use super::device::{Device, DeviceCounters};
use super::dram::Dram;
use super::fpga::Fpga;
use super::optane::OptaneDimm;
use super::pcm::Pcm;
use crate::Time;

/// A device of any kind.
#[derive(Debug)]
pub(crate) enum AnyDevice {
    Dram(Box<Dram>),
    Pcm(Box<Pcm>),
    Optane(Box<OptaneDimm>),
    Cxl(Box<Cxl>),
    Fpga(Box<Fpga>),
}

impl AnyDevice {
    /// `upgrade`: round trip of a change of state in a directory on the device, where there is one
    /// and the machine gives its time.
    pub(crate) fn new(device: &described::Device, upgrade: Option<Time>, seed: u64) -> Self {
        match device {
            described::Device::Dram(p) => Self::Dram(Box::new(Dram::new(p))),
            described::Device::Pcm(p) => Self::Pcm(Box::new(Pcm::new(p))),
            described::Device::Optane(p) => Self::Optane(Box::new(OptaneDimm::new(p, seed))),
            described::Device::Cxl(p) => Self::Cxl(Box::new(Cxl::new(p, seed))),
            described::Device::Fpga(p) => Self::Fpga(Box::new(Fpga::new(p, upgrade))),
        }
    }
}

/// Calls the same method of whichever device it is.
macro_rules! each {
    ($any:expr, $device:ident => $call:expr) => {
        match $any {
            AnyDevice::Dram($device) => $call,
            AnyDevice::Pcm($device) => $call,
            AnyDevice::Optane($device) => $call,
            AnyDevice::Cxl($device) => $call,
            AnyDevice::Fpga($device) => $call,
        }
    };
}

impl Device for AnyDevice {
    #[inline]
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        each!(self, device => device.read(at, addr, bytes))
    }

    #[inline]
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        each!(self, device => device.write(at, addr, mask))
    }

    #[inline]
    fn upgrade(&mut self, at: Time, addr: u64) -> Time {
        each!(self, device => device.upgrade(at, addr))
    }

    #[inline]
    fn row(&self, addr: u64) -> u64 {
        each!(self, device => device.row(addr))
    }

    #[inline]
    fn readiness(&self, at: Time, addr: u64) -> (bool, Time) {
        each!(self, device => device.readiness(at, addr))
    }

    fn drain(&mut self, at: Time) -> Time {
        each!(self, device => device.drain(at))
    }

    fn counters(&self) -> DeviceCounters {
        each!(self, device => device.counters())
    }
}
