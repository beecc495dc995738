//! Memory of a coherent FPGA that keeps the directory of its lines (P0's machine B, Enzian).
//!
//! Reads take a fixed time, link included. Each direction of the link moves its own data. The
//! device's controllers together carry both directions at full rate; a pattern that keeps to one of
//! them gets its share only. Where the internal unit is the line there is no write amplification;
//! where it is larger, each write of part of a unit reads it first.

#[cfg(test)]
mod tests;

use prestore_machine::device::Fpga as Parameters;
use prestore_trace::Bytes;

use super::address::Interleave;
use super::calendar::Calendar;
use super::device::{Device, DeviceCounters, burst};
use super::pipe::Pipe;
use super::units::{Units, covers};
use crate::Time;

/// FPGA memory behind one link.
#[derive(Clone, Debug)]
pub(crate) struct Fpga {
    read: Time,
    upgrade: Time,
    to_host: Pipe,
    to_device: Pipe,
    map: Interleave,
    controllers: Vec<Controller>,
    units: Units,
    counters: DeviceCounters,
}

#[derive(Clone, Debug)]
struct Controller {
    busy: Calendar<16>,
    gb_per_s: f64,
}

impl Controller {
    fn take(&mut self, at: Time, bytes: u64) -> Time {
        self.busy.reserve(at, Time::transfer(bytes, self.gb_per_s))
    }
}

impl Fpga {
    /// `upgrade`: round trip of a change of state; `None`: as long as a read.
    pub(crate) fn new(parameters: &Parameters, upgrade: Option<Time>) -> Self {
        let p = parameters;
        let read = Time::nanos(p.read);
        let controllers = p.controllers.max(1);
        Self {
            read,
            upgrade: upgrade.unwrap_or(read),
            to_host: Pipe::new(p.bandwidth),
            to_device: Pipe::new(p.bandwidth),
            map: Interleave::new(p.interleave.0, controllers),
            controllers: vec![
                Controller {
                    busy: Calendar::new(),
                    gb_per_s: 2.0 * p.bandwidth.0 / f64::from(controllers),
                };
                controllers as usize
            ],
            units: Units::new(p.unit.0),
            counters: DeviceCounters::default(),
        }
    }

    fn media(&mut self, at: Time, addr: u64, bytes: u64) -> Time {
        let (controller, _) = self.map.locate(addr);
        self.controllers[controller].take(at, bytes)
    }
}

impl Device for Fpga {
    #[inline]
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        self.counters.read_bytes += bytes.0;
        let mut ready = at;
        for unit in self.units.of(addr, bytes.0) {
            self.counters.media_read_bytes += self.units.bytes();
            ready = ready.max(self.media(at, unit, self.units.bytes()));
        }
        self.to_host.send(ready, bytes.0) + self.read
    }

    #[inline]
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.counters.write_bytes += u64::from(mask.count_ones());
        // Half of the round trip; the device takes the line when it is there.
        let there = self.to_device.send(at, burst(mask)) + Time(self.read.0 / 2);
        let mut done = there;
        for unit in self.units.of(addr, burst(mask)) {
            let Some(whole) = covers(addr, mask, unit, self.units.bytes()) else {
                continue;
            };
            let mut moved = self.units.bytes();
            if !whole {
                self.counters.read_modify_writes += 1;
                self.counters.media_read_bytes += self.units.bytes();
                moved += self.units.bytes();
            }
            self.counters.media_write_bytes += self.units.bytes();
            self.counters.row_writes += 1;
            done = done.max(self.media(there, unit, moved));
        }
        done
    }

    #[inline]
    fn upgrade(&mut self, at: Time, _addr: u64) -> Time {
        // Messages without data have virtual channels of their own (Enzian's ECI; recalled, not
        // re-read): as a read's request, they do not stand behind the data of writes.
        at + self.upgrade
    }

    fn drain(&mut self, at: Time) -> Time {
        at
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}
