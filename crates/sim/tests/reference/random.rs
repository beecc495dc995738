//! The generator of the rules: SplitMix64.

#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64, level: usize, instance: usize) -> Self {
        let number = level as u64 * 65536 + instance as u64 + 1;
        Self(seed.wrapping_add(number.wrapping_mul(0x6A09_E667_F3BC_C909)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let a = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let b = (a ^ (a >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        b ^ (b >> 31)
    }
}
