//! Who goes: a policy's state of one set.

use prestore_machine::Replacement;
use prestore_sim::Random;

/// What a policy knows of the ways of a set.
#[derive(Clone)]
pub struct Policy {
    kind: Replacement,
    /// LRU: when each way was used last.
    used: Vec<u64>,
    clock: u64,
    /// Tree-PLRU: does the node that halves ways `.0` to `.1` point to its upper half? QLRU: ages. NRU: bits.
    upper: std::collections::BTreeMap<(usize, usize), bool>,
    ages: Vec<u8>,
    bits: Vec<bool>,
}

impl Policy {
    pub fn new(kind: Replacement, ways: usize) -> Self {
        Self {
            kind,
            used: vec![0; ways],
            clock: 0,
            upper: std::collections::BTreeMap::new(),
            ages: vec![0; ways],
            bits: vec![false; ways],
        }
    }

    /// A fill begins: is it a distant one?
    pub fn is_distant(&self, random: &mut Random) -> bool {
        match self.kind {
            Replacement::Qlru { distant, .. } if distant.0 > 0.0 => {
                ((random.bits() >> 11) as f64) < distant.0 * (1u64 << 53) as f64
            }
            _ => false,
        }
    }

    pub fn filled(&mut self, way: usize, is_distant: bool) {
        self.used(way);
        if let Replacement::Qlru { insert, .. } = self.kind {
            self.ages[way] = if is_distant { 3 } else { insert };
        }
    }

    pub fn used(&mut self, way: usize) {
        self.clock += 1;
        self.used[way] = self.clock;
        if let Replacement::Qlru { hit, .. } = self.kind {
            self.ages[way] = hit;
        }
        self.bits[way] = true;
        if self.bits.iter().all(|&bit| bit) {
            self.bits.fill(false);
            self.bits[way] = true;
        }
        let (mut low, mut high) = (0, self.used.len());
        while high - low > 1 {
            let middle = low.midpoint(high);
            let is_upper = way >= middle;
            self.upper.insert((low, high), !is_upper);
            if is_upper {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /// The way that goes from a full set.
    pub fn victim(&mut self, random: &mut Random) -> usize {
        let ways = self.used.len();
        match self.kind {
            Replacement::Lru => (0..ways).min_by_key(|&way| self.used[way]).unwrap(),
            Replacement::TreePlru => {
                let (mut low, mut high) = (0, ways);
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if self.upper.get(&(low, high)).copied().unwrap_or(false) {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                low
            }
            Replacement::Qlru { .. } => loop {
                if let Some(way) = self.ages.iter().position(|&age| age == 3) {
                    break way;
                }
                for age in &mut self.ages {
                    *age += 1;
                }
            },
            Replacement::Random => ((u128::from(random.bits()) * ways as u128) >> 64) as usize,
            Replacement::Nru => self.bits.iter().position(|bit| !bit).unwrap_or(0),
        }
    }
}
