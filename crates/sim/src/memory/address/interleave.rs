//! Spreading a memory's addresses over its channels.

use crate::divide::Divisor;

/// Consecutive blocks of a memory lie on consecutive channels; the addresses within a channel are
/// dense, so that neighbouring blocks of one channel share a row or a device's unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interleave {
    block: Divisor,
    channels: Divisor,
}

impl Interleave {
    /// `block` bytes on each of `channels` in turn.
    pub(crate) fn new(block: u64, channels: u32) -> Self {
        Self {
            block: Divisor::new(block),
            channels: Divisor::new(u64::from(channels)),
        }
    }

    /// Channel of `addr`, and the address there.
    #[inline]
    pub(crate) fn locate(self, addr: u64) -> (usize, u64) {
        let (block, offset) = self.block.split(addr);
        let (row, channel) = self.channels.split(block);
        (channel as usize, row * self.block.by() + offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_go_round_the_channels() {
        let map = Interleave::new(4096, 6);
        assert_eq!(map.locate(0), (0, 0));
        assert_eq!(map.locate(4095), (0, 4095));
        assert_eq!(map.locate(4096), (1, 0));
        assert_eq!(map.locate(6 * 4096 + 7), (0, 4096 + 7));
    }

    proptest! {
        #[test]
        fn every_address_has_a_place_of_its_own(
            block in prop_oneof![Just(64u64), Just(256), Just(384), Just(4096)],
            channels in 1u32..13,
            addr in 0u64..1 << 47,
        ) {
            let (channel, local) = Interleave::new(block, channels).locate(addr);
            prop_assert!(channel < channels as usize);
            let back = (local / block * u64::from(channels) + channel as u64) * block + local % block;
            prop_assert_eq!(back, addr);
        }

        #[test]
        fn addresses_of_a_channel_are_dense(channels in 1u32..13, blocks in 1u64..200) {
            let map = Interleave::new(256, channels);
            let n = blocks * u64::from(channels);
            let highest = (0..n).map(|b| map.locate(b * 256 + 255).1).max();
            prop_assert_eq!(highest, Some(blocks * 256 - 1));
        }
    }
}
