//! Seeded random numbers, small and fast, alike on every platform.

/// A generator (SplitMix64: Steele, Lea, Flood, OOPSLA'14).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator that gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// True with probability `share`.
    #[inline]
    pub fn chance(&mut self, share: f64) -> bool {
        ((self.bits() >> 11) as f64) < share * (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        assert!((0..100).all(|_| a.bits() == b.bits()));
        assert_ne!(Random::new(7).bits(), Random::new(8).bits());
    }

    #[test]
    fn numbers_stay_below_the_bound_and_reach_all_of_it() {
        let mut random = Random::new(1);
        let mut seen = [false; 11];
        for _ in 0..1000 {
            seen[random.below(11) as usize] = true;
        }
        assert!(seen.iter().all(|&s| s));
    }

    #[test]
    fn chances_come_out_as_asked() {
        let mut random = Random::new(3);
        let hits = (0..100_000).filter(|_| random.chance(0.25)).count();
        assert!((24_000..26_000).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| random.chance(1.0) && !random.chance(0.0)));
    }
}
