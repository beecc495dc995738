//! Addresses, and whose they are.

use std::ops::Range;

/// Disjoint ranges of simulated addresses, each of one owner (a number).
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    /// By first address.
    pieces: Vec<(Range<u64>, usize)>,
}

impl Ranges {
    /// All of `owned`, each owner's ranges; those of one owner may overlap.
    ///
    /// # Errors
    /// Two owners that share memory, and where.
    pub fn new<'r>(
        owned: impl IntoIterator<Item = &'r [Range<u64>]>,
    ) -> Result<Self, (usize, usize, u64)> {
        let mut all: Vec<(Range<u64>, usize)> = (owned.into_iter().enumerate())
            .flat_map(|(owner, ranges)| ranges.iter().map(move |r| (r.clone(), owner)))
            .filter(|(range, _)| !range.is_empty())
            .collect();
        all.sort_unstable_by_key(|(range, _)| (range.start, range.end));
        let mut pieces: Vec<(Range<u64>, usize)> = Vec::new();
        for (range, owner) in all {
            match pieces.last_mut() {
                Some((last, whose)) if range.start < last.end && *whose != owner => {
                    return Err((*whose, owner, range.start));
                }
                Some((last, whose)) if range.start <= last.end && *whose == owner => {
                    last.end = last.end.max(range.end);
                }
                _ => pieces.push((range, owner)),
            }
        }
        Ok(Self { pieces })
    }

    /// Whose `addr` is.
    #[inline]
    pub fn owner(&self, addr: u64) -> Option<usize> {
        let behind = self.pieces.partition_point(|(r, _)| r.start <= addr);
        let (range, owner) = self.pieces.get(behind.checked_sub(1)?)?;
        range.contains(&addr).then_some(*owner)
    }

    /// All pieces, by address.
    pub fn iter(&self) -> impl Iterator<Item = (&Range<u64>, usize)> {
        self.pieces.iter().map(|(range, owner)| (range, *owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_owner() {
        let one: &[Range<u64>] = &[10..20, 15..30, 40..50];
        let other: &[Range<u64>] = &[30..35, 60..60];
        let ranges = Ranges::new([one, other]).unwrap();
        let owners = [9, 10, 29, 30, 34, 35, 49, 50, 60].map(|addr| ranges.owner(addr));
        let expected = [
            None,
            Some(0),
            Some(0),
            Some(1),
            Some(1),
            None,
            Some(0),
            None,
            None,
        ];
        assert_eq!(owners, expected);
    }

    #[test]
    fn two_owners_do_not_share() {
        let one = std::slice::from_ref(&(10..20));
        let other = std::slice::from_ref(&(0..11));
        assert_eq!(Ranges::new([one, other]).unwrap_err(), (1, 0, 10));
    }
}
