use rustc_hash::FxHashMap;

use crate::address_space::Place;
use crate::samples::{Sample, Samples};

/// Stores of one instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct InstructionStores {
    /// The instruction.
    pub place: Place,
    /// Samples that hit it.
    pub samples: u64,
    /// Stores they stand for.
    pub stores: u64,
    /// Share of all sampled stores, 0 to 1.
    pub share: f64,
}

/// Stores reached by one call path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathStores {
    /// The storing instruction, then a byte of each call instruction that led to it, innermost
    /// first (return addresses less one, so that they symbolise to the calling line).
    pub path: Vec<Place>,
    /// Samples that came along it.
    pub samples: u64,
    /// Stores they stand for.
    pub stores: u64,
    /// Share of all sampled stores, 0 to 1.
    pub share: f64,
}

impl Samples {
    /// Stores by instruction, most first; P0 (section 6.2.1) groups them further by function.
    pub fn by_instruction(&self) -> Vec<InstructionStores> {
        let groups = self.group(|sample| self.spaces.locate(sample.pid, sample.time, sample.ip));
        groups
            .into_iter()
            .map(|(place, count, share)| InstructionStores {
                place,
                samples: count.samples,
                stores: count.stores,
                share,
            })
            .collect()
    }

    /// Stores by call path, most first: where the writing function is generic, as `memcpy` is, the
    /// path tells whose writes they are.
    pub fn by_path(&self) -> Vec<PathStores> {
        let groups = self.group(|sample| self.path(sample));
        groups
            .into_iter()
            .map(|(path, count, share)| PathStores {
                path,
                samples: count.samples,
                stores: count.stores,
                share,
            })
            .collect()
    }

    fn path(&self, sample: &Sample) -> Vec<Place> {
        let locate = |address| self.spaces.locate(sample.pid, sample.time, address);
        let callers = self.chain(sample.chain).iter().skip(1);
        std::iter::once(locate(sample.ip))
            .chain(callers.map(|address| locate(address.saturating_sub(1))))
            .collect()
    }

    fn group<K: std::hash::Hash + Eq + Ord>(
        &self,
        key: impl Fn(&Sample) -> K,
    ) -> Vec<(K, Count, f64)> {
        let mut groups: FxHashMap<K, Count> = FxHashMap::default();
        let mut all = 0u64;
        for sample in self.events.iter().filter(|sample| sample.is_store()) {
            let count = groups.entry(key(sample)).or_default();
            count.samples += 1;
            count.stores += sample.period;
            all += sample.period;
        }
        let mut sorted: Vec<_> = groups
            .into_iter()
            .map(|(key, count)| {
                let share = count.stores as f64 / all.max(1) as f64;
                (key, count, share)
            })
            .collect();
        // Ties are broken by place, so that equal samples give equal reports.
        sorted.sort_by(|a, b| b.1.stores.cmp(&a.1.stores).then_with(|| a.0.cmp(&b.0)));
        sorted
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    samples: u64,
    stores: u64,
}
