//! PCM's counts against a plain model: a map from bank to open row and its dirty bytes.

use std::collections::{HashMap, HashSet};

use prestore_trace::Bytes;
use proptest::prelude::*;

use super::Pcm;
use crate::memory::device::{Device, DeviceCounters};
use crate::memory::fixtures::{self, ns};

const ROW: u64 = 1024;
const BANKS: u64 = 4;

/// Rows that are open, by bank, with their dirty bytes.
#[derive(Default)]
struct Plain {
    open: HashMap<u64, (u64, HashSet<u64>)>,
    counts: DeviceCounters,
}

impl Plain {
    fn close(&mut self, bank: u64) -> bool {
        let Some((_, dirty)) = self.open.remove(&bank) else {
            return false;
        };
        self.counts.media_write_bytes += dirty.len() as u64;
        self.counts.row_writes += u64::from(!dirty.is_empty());
        true
    }

    /// Opens the row of `addr`; answers its dirty bytes.
    fn open(&mut self, addr: u64) -> &mut HashSet<u64> {
        let (bank, row) = (addr / ROW % BANKS, addr / ROW / BANKS);
        if self.open.get(&bank).is_some_and(|open| open.0 == row) {
            self.counts.row_hits += 1;
        } else {
            if self.close(bank) {
                self.counts.row_conflicts += 1;
            } else {
                self.counts.row_misses += 1;
            }
            self.counts.media_read_bytes += ROW;
            self.open.insert(bank, (row, HashSet::new()));
        }
        &mut self.open.get_mut(&bank).unwrap().1
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_the_plain_model(
        accesses in prop::collection::vec((0u64..500, 0u64..4000, any::<Option<u64>>()), 0..300),
    ) {
        let mut device = Pcm::new(&fixtures::pcm());
        let mut plain = Plain::default();
        for (line, at, write) in accesses {
            let addr = line * 64;
            let dirty = plain.open(addr);
            match write {
                Some(mask) => {
                    dirty.extend((0..64).filter(|i| mask >> i & 1 == 1).map(|i| addr + i));
                    plain.counts.write_bytes += u64::from(mask.count_ones());
                    device.write(ns(at), addr, mask.into());
                }
                None => {
                    plain.counts.read_bytes += 64;
                    device.read(ns(at), addr, Bytes(64));
                }
            }
            prop_assert_eq!(device.counters(), plain.counts);
        }
        device.drain(ns(10_000));
        for bank in 0..BANKS {
            plain.close(bank);
        }
        prop_assert_eq!(device.counters(), plain.counts);
    }
}
