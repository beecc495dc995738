//! A CXL device's counts against a plain model: a map from unit to what of it is there.

use std::collections::{BTreeSet, HashMap};

use prestore_machine::device::DeviceCache;
use prestore_machine::quantity::{Nanos, Size};
use prestore_trace::Bytes;
use proptest::prelude::*;

use super::Cxl;
use crate::memory::device::{Device, DeviceCounters};
use crate::memory::fixtures::{cxl, ns};

/// Lines of 128 bytes, so that units are larger, as large, and smaller.
const LINE: u64 = 128;
const SECTOR: u64 = 64;

#[derive(Default)]
struct Unit {
    used: usize,
    complete: bool,
    dirty: BTreeSet<u64>,
}

struct Plain {
    unit: u64,
    /// Sets and ways; `None`: no cache.
    shape: Option<(u64, usize)>,
    units: HashMap<u64, Unit>,
    clock: usize,
    counts: DeviceCounters,
}

impl Plain {
    fn read_unit(&mut self) {
        self.counts.media_read_bytes += self.unit;
    }

    fn write_back(&mut self, unit: u64) {
        let Some(gone) = self.units.remove(&unit).filter(|u| !u.dirty.is_empty()) else {
            return;
        };
        if !gone.complete && (gone.dirty.len() as u64) < self.unit / SECTOR {
            self.counts.read_modify_writes += 1;
            self.read_unit();
        }
        self.counts.media_write_bytes += self.unit;
    }

    /// Makes room for `unit` in its set and finds it.
    fn cached(&mut self, unit: u64, (sets, ways): (u64, usize)) -> &mut Unit {
        self.clock += 1;
        let set = |u: u64| u % sets;
        let peers = self.units.iter().filter(|(u, _)| set(**u) == set(unit));
        if !self.units.contains_key(&unit) && peers.clone().count() == ways {
            let oldest = *peers.min_by_key(|(_, u)| u.used).unwrap().0;
            self.write_back(oldest);
        }
        let found = self.units.entry(unit).or_default();
        found.used = self.clock;
        found
    }

    /// `sectors` (addresses) of `unit` are read, or written as a whole or in part.
    fn access(&mut self, unit: u64, sectors: &[(u64, u64)], write: bool) {
        let Some(shape) = self.shape else {
            let whole = sectors.len() as u64 == self.unit / SECTOR
                && sectors.iter().all(|(_, mask)| *mask == u64::MAX);
            if write {
                if !whole {
                    self.counts.read_modify_writes += 1;
                    self.read_unit();
                }
                self.counts.media_write_bytes += self.unit;
            } else {
                self.read_unit();
            }
            return;
        };
        let found = self.cached(unit, shape);
        let mut fetch = false;
        let mut modify = false;
        for (sector, mask) in sectors {
            let here = found.complete || found.dirty.contains(sector);
            if !here && (!write || *mask != u64::MAX) {
                (fetch, modify, found.complete) = (true, write, true);
            }
            if write {
                found.dirty.insert(*sector);
            }
        }
        if fetch {
            self.counts.read_modify_writes += u64::from(modify);
            self.read_unit();
        }
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_the_plain_model(
        unit in prop_oneof![Just(64u64), Just(128), Just(256), Just(8192)],
        shape in prop::option::of((1u64..4, 1usize..4)),
        accesses in prop::collection::vec(
            (0u64..150, prop::option::of((part(), part()))), 0..200
        ),
    ) {
        let mut parameters = cxl();
        parameters.unit = Size(unit);
        parameters.cache = shape.map(|(sets, ways)| DeviceCache {
            size: Size(sets * ways as u64 * unit),
            ways: ways as u32,
            hit: Nanos(1.0),
        });
        let mut device = Cxl::new(&parameters, 0);
        let mut plain = Plain {
            unit,
            shape,
            units: HashMap::new(),
            clock: 0,
            counts: DeviceCounters::default(),
        };
        for (n, (line, write)) in accesses.into_iter().enumerate() {
            let addr = line * LINE;
            let at = ns(n as u64 * 100);
            let (low, high) = write.unwrap_or((u64::MAX, u64::MAX));
            let mut of_unit: Vec<(u64, Vec<(u64, u64)>)> = Vec::new();
            for (sector, mask) in [(addr, low), (addr + SECTOR, high)] {
                match of_unit.last_mut().filter(|(u, _)| *u == sector / unit) {
                    _ if mask == 0 => {}
                    Some((_, sectors)) => sectors.push((sector, mask)),
                    None => of_unit.push((sector / unit, vec![(sector, mask)])),
                }
            }
            for (unit, sectors) in of_unit {
                plain.access(unit, &sectors, write.is_some());
            }
            if write.is_some() {
                plain.counts.write_bytes += u64::from(low.count_ones() + high.count_ones());
                device.write(at, addr, u128::from(low) | u128::from(high) << 64);
            } else {
                plain.counts.read_bytes += LINE;
                device.read(at, addr, Bytes(LINE));
            }
            prop_assert_eq!(without_rows(device.counters()), plain.counts);
        }
        device.drain(ns(1_000_000));
        let left: Vec<_> = plain.units.keys().copied().collect();
        for unit in left {
            plain.write_back(unit);
        }
        prop_assert_eq!(without_rows(device.counters()), plain.counts);
    }
}

/// Half a line: written as a whole, in part, or not.
fn part() -> impl Strategy<Value = u64> {
    prop_oneof![Just(u64::MAX), Just(0), any::<u64>()]
}

/// Rows are the backing DRAM's, which has its own model.
fn without_rows(counts: DeviceCounters) -> DeviceCounters {
    DeviceCounters {
        row_hits: 0,
        row_misses: 0,
        row_conflicts: 0,
        ..counts
    }
}
