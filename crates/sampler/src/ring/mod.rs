//! The ring buffer that the kernel fills: which bytes are unread, and where one record ends.
//!
//! Splitting the bytes from the mapping keeps both functions testable without a kernel.

mod mapping;

pub use mapping::{AuxMapping, ClockConversion, RingMapping};

use std::ops::Range;

use thiserror::Error;

/// Bytes of the header every record starts with: u32 type, u16 misc, u16 size (all of the record).
pub const HEADER_BYTES: usize = 8;

/// The buffer's positions or a record's length contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RingError {
    /// `head` and `tail` are further apart than the buffer is long.
    #[error("the perf ring buffer says {unread} unread bytes but holds {size}")]
    Overrun {
        /// Bytes between tail and head.
        unread: u64,
        /// Bytes of the buffer.
        size: u64,
    },
    /// A record claims fewer bytes than its header or more than there are.
    #[error("a perf record at byte {at} claims {claimed} bytes, {left} are left")]
    Record {
        /// Offset of the record in the bytes given.
        at: usize,
        /// What its header says.
        claimed: usize,
        /// What is left of the bytes given.
        left: usize,
    },
}

/// The unread bytes of a buffer of `size` bytes (a power of two) between the free-running positions
/// `tail` and `head`: one range, and a second one if the data wraps (else it is empty).
pub fn unread(size: u64, tail: u64, head: u64) -> Result<[Range<usize>; 2], RingError> {
    let unread = head.wrapping_sub(tail);
    if unread > size {
        return Err(RingError::Overrun { unread, size });
    }
    if unread == 0 {
        return Ok([0..0, 0..0]);
    }
    let start = tail % size;
    let first = unread.min(size - start);
    Ok([
        start as usize..(start + first) as usize,
        0..(unread - first) as usize,
    ])
}

/// Splits whole bytes into records. Stops at the first one whose length cannot be.
pub fn records(bytes: &[u8]) -> impl Iterator<Item = Result<&[u8], RingError>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let claimed = rest.get(6..HEADER_BYTES).map_or(0, |size| {
            usize::from(u16::from_ne_bytes([size[0], size[1]]))
        });
        if claimed < HEADER_BYTES || claimed > rest.len() {
            let error = RingError::Record {
                at,
                claimed,
                left: rest.len(),
            };
            at = bytes.len();
            return Some(Err(error));
        }
        at += claimed;
        Some(Ok(&rest[..claimed]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(size: u16, fill: u8) -> Vec<u8> {
        let mut bytes = vec![fill; usize::from(size)];
        bytes[6..8].copy_from_slice(&size.to_ne_bytes());
        bytes
    }

    #[test]
    fn an_empty_ring_has_nothing_unread() {
        assert_eq!(unread(4096, 8192, 8192), Ok([0..0, 0..0]));
    }

    #[test]
    fn data_that_wraps_comes_as_two_ranges() {
        assert_eq!(unread(64, 120, 136), Ok([56..64, 0..8]));
    }

    #[test]
    fn a_full_ring_is_all_of_it() {
        assert_eq!(unread(64, 64, 128), Ok([0..64, 0..0]));
    }

    #[test]
    fn positions_too_far_apart_are_refused() {
        assert_eq!(
            unread(64, 0, 65),
            Err(RingError::Overrun {
                unread: 65,
                size: 64
            })
        );
    }

    #[test]
    fn records_follow_each_other_by_their_sizes() {
        let bytes = [record(16, 1), record(24, 2)].concat();
        let sizes: Vec<_> = records(&bytes).map(|r| r.unwrap().len()).collect();
        assert_eq!(sizes, [16, 24]);
    }

    #[test]
    fn a_record_longer_than_the_data_or_shorter_than_its_header_ends_the_walk() {
        for bad in [record(16, 1)[..12].to_vec(), vec![0; 8], vec![1; 3]] {
            let bytes = [record(8, 0), bad].concat();
            let walked: Vec<_> = records(&bytes).collect();
            assert_eq!(walked.len(), 2);
            assert!(matches!(walked[1], Err(RingError::Record { at: 8, .. })));
        }
    }

    proptest! {
        #[test]
        fn copying_both_ranges_gives_the_bytes_written(tail in 0u64..1000, length in 0u64..=64) {
            let size = 64u64;
            let mut ring = [0u8; 64];
            let written: Vec<u8> = (0..length).map(|i| (i * 7 + 3) as u8).collect();
            for (i, byte) in written.iter().enumerate() {
                ring[((tail + i as u64) % size) as usize] = *byte;
            }
            let ranges = unread(size, tail, tail + length).unwrap();
            let read: Vec<u8> = ranges.into_iter().flat_map(|range| ring[range].to_vec()).collect();
            prop_assert_eq!(read, written);
        }
    }
}
