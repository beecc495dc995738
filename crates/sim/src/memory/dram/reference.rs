//! DRAM's counts against a plain model: a map from bank to open row.

use std::collections::HashMap;

use prestore_machine::device::PagePolicy;
use prestore_trace::Bytes;
use proptest::prelude::*;

use super::Dram;
use crate::memory::device::{Device, DeviceCounters};
use crate::memory::fixtures::{self, ns};

proptest! {
    #[test]
    fn counts_are_those_of_the_plain_model(
        closed: bool,
        accesses in prop::collection::vec((0u64..500, 0u64..4000, any::<Option<u64>>()), 0..300),
    ) {
        let mut parameters = fixtures::dram();
        if closed {
            parameters.policy = PagePolicy::Closed;
        }
        let mut device = Dram::new(&parameters);
        let mut open = HashMap::new();
        let mut expected = DeviceCounters::default();
        for (line, at, write) in accesses {
            let addr = line * 64;
            let place = device.rows.locate(addr);
            match open.insert(place.bank, place.row) {
                _ if closed => expected.row_misses += 1,
                None => expected.row_misses += 1,
                Some(row) if row == place.row => expected.row_hits += 1,
                Some(_) => expected.row_conflicts += 1,
            }
            let done = match write {
                Some(mask) => {
                    let bytes = u64::from(mask.count_ones());
                    expected.write_bytes += bytes;
                    expected.media_write_bytes += bytes;
                    device.write(ns(at), addr, mask.into())
                }
                None => {
                    expected.read_bytes += 64;
                    expected.media_read_bytes += 64;
                    device.read(ns(at), addr, Bytes(64))
                }
            };
            prop_assert!(done >= ns(at + 24), "nothing is faster than a row hit");
        }
        prop_assert_eq!(device.counters(), expected);
    }
}
