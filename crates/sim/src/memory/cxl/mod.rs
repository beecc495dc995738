//! Memory behind a CXL link.
//!
//! A request takes half of the link's round trip there, its data the other half back; each direction
//! moves data at its own rate. Behind the link the memory is read and written in units: a write of
//! part of a unit reads it first. A cache on the device gathers the parts of a unit, so that the
//! media see whole units, when they are evicted.

mod backing;
mod cache;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use prestore_machine::device::Cxl as Parameters;
use prestore_trace::Bytes;

use self::backing::Backing;
use self::cache::UnitCache;
use super::device::{Device, DeviceCounters, burst};
use super::pipe::Pipe;
use super::units::covers;
use crate::Time;

/// A CXL memory device.
#[derive(Debug)]
pub(crate) struct Cxl {
    there: Time,
    back: Time,
    to_host: Pipe,
    to_device: Pipe,
    cache: Option<UnitCache>,
    backing: Backing,
    counters: DeviceCounters,
}

impl Cxl {
    pub(crate) fn new(parameters: &Parameters, seed: u64) -> Self {
        let p = parameters;
        let link = Time::nanos(p.link);
        let there = Time(link.0 / 2);
        Self {
            there,
            back: link - there,
            to_host: Pipe::new(p.to_host),
            to_device: Pipe::new(p.to_device),
            cache: p.cache.map(|cache| UnitCache::new(&cache, p.unit.0)),
            backing: Backing::new(p, seed),
            counters: DeviceCounters::default(),
        }
    }

    /// Reads a unit, then writes it with what is new.
    fn modify(&mut self, at: Time, unit: u64) -> Time {
        self.counters.read_modify_writes += 1;
        let read = self.backing.read(at, unit);
        self.backing.write(read, unit)
    }
}

impl Device for Cxl {
    #[inline]
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        self.counters.read_bytes += bytes.0;
        let there = at + self.there;
        let mut ready = there;
        for unit in self.backing.units().of(addr, bytes.0) {
            ready = ready.max(match &mut self.cache {
                None => self.backing.read(there, unit),
                Some(cache) => cache.read(
                    there,
                    (addr, bytes.0),
                    unit,
                    &mut self.backing,
                    &mut self.counters,
                ),
            });
        }
        self.to_host.send(ready, bytes.0) + self.back
    }

    #[inline]
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.counters.write_bytes += u64::from(mask.count_ones());
        let there = self.to_device.send(at, burst(mask)) + self.there;
        let mut done = there;
        let units = self.backing.units();
        for unit in units.of(addr, burst(mask)) {
            let Some(whole) = covers(addr, mask, unit, units.bytes()) else {
                continue;
            };
            done = done.max(match &mut self.cache {
                None if whole => self.backing.write(there, unit),
                None => self.modify(there, unit),
                Some(cache) => cache.write(
                    there,
                    (addr, mask),
                    unit,
                    &mut self.backing,
                    &mut self.counters,
                ),
            });
        }
        done
    }

    fn drain(&mut self, at: Time) -> Time {
        let mut done = at;
        if let Some(cache) = &mut self.cache {
            done = cache.drain(at, &mut self.backing, &mut self.counters);
        }
        self.backing.drain(done)
    }

    fn counters(&self) -> DeviceCounters {
        let media = self.backing.counters();
        DeviceCounters {
            read_bytes: self.counters.read_bytes,
            write_bytes: self.counters.write_bytes,
            read_modify_writes: self.counters.read_modify_writes + media.read_modify_writes,
            ..media
        }
    }
}
