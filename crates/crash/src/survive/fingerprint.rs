//! What tells images apart without comparing them.

/// A sum over an image's words, so that it is mended where a word changes: 128 bits, so that two of
/// 10^9 different images have the same one with a probability below 10^-20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint(u64, u64);

impl Fingerprint {
    /// The word at `place` was `old` and is `new`.
    pub(super) fn change(&mut self, place: u64, old: u64, new: u64) {
        let ((a, b), (c, d)) = (of(place, old), of(place, new));
        self.0 = self.0.wrapping_sub(a).wrapping_add(c);
        self.1 = self.1.wrapping_sub(b).wrapping_add(d);
    }
}

fn of(place: u64, value: u64) -> (u64, u64) {
    let seed = mix(place.wrapping_add(0x9e37_79b9_7f4a_7c15));
    let first = mix(value ^ seed);
    (first, mix(first.rotate_left(32) ^ value ^ !seed))
}

/// The finaliser of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
pub(super) fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    #[test]
    fn the_way_to_an_image_does_not_matter() {
        let (mut one, mut two) = (Fingerprint::default(), Fingerprint::default());
        one.change(3, 0, 7);
        one.change(4, 0, 9);
        two.change(4, 0, 1);
        two.change(3, 0, 7);
        assert_ne!(one, two);
        two.change(4, 1, 9);
        assert_eq!(one, two);
    }
}
