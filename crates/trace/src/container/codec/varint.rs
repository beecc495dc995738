//! LEB128 and zigzag.

/// Reads a varint at `*at` and moves past it; `None` at the end or beyond 64 bits.
pub(super) fn get(from: &[u8], at: &mut usize) -> Option<u64> {
    let mut v = 0;
    for shift in (0..64).step_by(7) {
        let byte = *from.get(*at)?;
        *at += 1;
        let bits = u64::from(byte & 0x7f);
        if shift == 63 && bits > 1 {
            return None;
        }
        v |= bits << shift;
        if byte < 0x80 {
            return Some(v);
        }
    }
    None
}

/// Small for small differences of either sign.
pub(super) fn zigzag(d: u64) -> u64 {
    (d << 1) ^ (((d as i64) >> 63) as u64)
}

/// Inverse of [`zigzag`].
pub(super) fn unzigzag(z: u64) -> u64 {
    (z >> 1) ^ (z & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::super::bytes::Bytes;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_invert(v: u64) {
            let mut bytes = Bytes::default();
            bytes.varint(v);
            let mut at = 0;
            prop_assert_eq!(get(bytes.written(), &mut at), Some(v));
            prop_assert_eq!(at, bytes.written().len());
            prop_assert_eq!(unzigzag(zigzag(v)), v);
        }
    }

    #[test]
    fn refuses_too_long_and_cut_ones() {
        assert_eq!(get(&[0xff; 10], &mut 0), None);
        assert_eq!(get(&[0x80, 0x80], &mut 0), None);
    }

    #[test]
    fn zigzag_of_small_steps_is_small() {
        assert_eq!(zigzag(1u64.wrapping_neg()), 1);
        assert_eq!(zigzag(1), 2);
    }
}
