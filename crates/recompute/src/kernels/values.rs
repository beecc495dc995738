//! What kernels begin with: numbers that are the same in every run.

/// A number from -0.5 to 0.5 for a place of an array.
pub(crate) fn value(seed: u64, at: usize) -> f64 {
    // The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
    let mut z = (seed << 32 ^ at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
}
