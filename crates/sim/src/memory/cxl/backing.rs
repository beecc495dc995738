//! The memory behind a CXL link: units spread over backing devices.

use prestore_machine::device::Cxl as Parameters;
use prestore_trace::Bytes;

use crate::Time;
use crate::memory::address::Interleave;
use crate::memory::any::AnyDevice;
use crate::memory::device::{Device, DeviceCounters};
use crate::memory::units::Units;

/// Backing devices, each with every n-th unit.
#[derive(Debug)]
pub(super) struct Backing {
    units: Units,
    map: Interleave,
    devices: Vec<AnyDevice>,
}

impl Backing {
    pub(super) fn new(p: &Parameters, seed: u64) -> Self {
        let channels = p.channels.max(1);
        Self {
            units: Units::new(p.unit.0),
            map: Interleave::new(p.unit.0, channels),
            devices: (0..u64::from(channels))
                .map(|i| AnyDevice::new(&p.backing, None, seed.wrapping_add(i)))
                .collect(),
        }
    }

    #[inline]
    pub(super) fn units(&self) -> Units {
        self.units
    }

    /// Reads the unit at `unit`; answers when all of it is there.
    #[inline]
    pub(super) fn read(&mut self, at: Time, unit: u64) -> Time {
        let (device, addr) = self.map.locate(unit);
        self.devices[device].read(at, addr, Bytes(self.units.bytes()))
    }

    /// Writes all of the unit at `unit`; answers when the backing device has it.
    pub(super) fn write(&mut self, at: Time, unit: u64) -> Time {
        let (device, addr) = self.map.locate(unit);
        let mut done = at;
        for offset in (0..self.units.bytes()).step_by(64) {
            let mask = u128::MAX >> (128 - (self.units.bytes() - offset).min(64));
            done = done.max(self.devices[device].write(at, addr + offset, mask));
        }
        done
    }

    pub(super) fn drain(&mut self, at: Time) -> Time {
        let drained = self.devices.iter_mut().map(|device| device.drain(at));
        drained.max().unwrap_or(at)
    }

    pub(super) fn counters(&self) -> DeviceCounters {
        let mut sum = DeviceCounters::default();
        for device in &self.devices {
            sum.add(&device.counters());
        }
        sum
    }
}
