//! Memory that several processes have in common.

use std::ops::Range;

use super::fields::Fields;

/// Bits of [`SharedMemory::place`]: those of a program's address.
const BITS: u32 = 47;

/// Odd, and its bits are like random ones: spreads identities.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

const PAGE: u64 = 4096;

const MOVED: usize = 1024;

/// Ranges of a process's addresses whose pages other processes may have as well, at the same addresses or at others.
///
/// All that the process ever had: of what lay at the same address, the latest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedMemory {
    /// In order, apart from each other.
    parts: Vec<Part>,
    /// What was moved, and to where, of a parent whose memory is not known yet, or of what is not shared: the first [`MOVED`].
    moved: Vec<(u64, Range<u64>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    range: Range<u64>,
    /// Where its first byte is among all that is shared.
    first: u64,
}

impl Part {
    fn at(&self, addr: u64) -> u64 {
        self.first.wrapping_add(addr - self.range.start) & ((1 << BITS) - 1)
    }

    /// What of it lies in `range`.
    fn within(&self, range: Range<u64>) -> Option<Self> {
        let range = self.range.start.max(range.start)..self.range.end.min(range.end);
        (!range.is_empty()).then(|| Self {
            first: self.at(range.start),
            range,
        })
    }
}

impl SharedMemory {
    /// Where the process's address `addr` is among all that processes share, in 47 bits; `None`: it is not shared. The same byte is at
    /// the same place for all processes. Places are hashed: two mappings fall together with a chance of their bytes by 128 TiB.
    #[inline]
    pub fn place(&self, addr: u64) -> Option<u64> {
        let after = self.parts.partition_point(|p| p.range.start <= addr);
        let part = self.parts[..after].last()?;
        (addr < part.range.end).then(|| part.at(addr))
    }

    /// The places of all that `range` has of it.
    pub fn places(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let met = self
            .parts
            .iter()
            .filter_map(move |p| p.within(range.clone()));
        met.map(|p| p.first..p.first + (p.range.end - p.range.start))
    }

    /// From its first byte to behind its last.
    pub fn within(&self) -> Range<u64> {
        match (self.parts.first(), self.parts.last()) {
            (Some(first), Some(last)) => first.range.start..last.range.end,
            _ => 0..0,
        }
    }

    /// Is there any?
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds what a frame tells; `None`: it is too short.
    pub(super) fn take(&mut self, mut frame: Fields<'_>) -> Option<()> {
        let (addr, bytes) = (frame.u64()?, frame.u64()?);
        let (identity, offset) = (frame.u64()?, frame.u64()?);
        self.add(addr..addr.saturating_add(bytes), identity, offset);
        Some(())
    }

    /// As [`SharedMemory::take`], of memory that was moved.
    pub(super) fn moves(&mut self, mut frame: Fields<'_>) -> Option<()> {
        let (from, _) = (frame.u64()?, frame.u64()?);
        let (to, bytes) = (frame.u64()?, frame.u64()?);
        self.moves_to(from, to..to.saturating_add(bytes));
        Some(())
    }

    fn moves_to(&mut self, from: u64, range: Range<u64>) {
        match self.place(from) {
            Some(first) => self.put(Part { range, first }),
            None if self.moved.len() < MOVED => self.moved.push((from, range)),
            None => {}
        }
    }

    /// Adds a range: bytes from `offset` of the memory called `identity`.
    fn add(&mut self, range: Range<u64>, identity: u64, offset: u64) {
        let base = identity.wrapping_mul(SPREAD) >> (64 - BITS) & !(PAGE - 1);
        let first = base.wrapping_add(offset) & ((1 << BITS) - 1);
        self.put(Part { range, first });
    }

    /// Adds another process's, where it has none itself.
    pub(super) fn join(&mut self, other: &Self) {
        let parents = Self {
            parts: other.parts.clone(),
            moved: Vec::new(),
        };
        let own = std::mem::replace(self, parents);
        own.parts.into_iter().for_each(|p| self.put(p));
        for (from, range) in own.moved {
            self.moves_to(from, range);
        }
    }

    fn put(&mut self, part: Part) {
        let Range { start, end } = part.range;
        if start >= end {
            return;
        }
        let from = self.parts.partition_point(|p| p.range.end <= start);
        let until = self.parts.partition_point(|p| p.range.start < end);
        let (mut before, mut behind) = (None, None);
        if let [first, .., last] | [first @ last] = &self.parts[from..until] {
            before = first.within(0..start);
            behind = last.within(end..u64::MAX);
        }
        let now = before.into_iter().chain([part]).chain(behind);
        self.parts.splice(from..until, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_memory_is_at_one_place_wherever_it_is_mapped() {
        let (mut one, mut other) = (SharedMemory::default(), SharedMemory::default());
        one.add(0x1000..0x3000, 7, 0);
        other.add(0x9000..0xa000, 7, 0x1000);
        other.add(0xa000..0xb000, 8, 0x1000);
        assert_eq!(one.place(0x2010), other.place(0x9010));
        assert_ne!(one.place(0x2010), other.place(0xa010));
        let none = [one.place(0xfff), one.place(0x3000), other.place(0x2010)];
        assert_eq!(none, [None; 3]);
    }

    #[test]
    fn what_is_moved_is_the_same_memory() {
        let mut all = SharedMemory::default();
        all.add(0x1000..0x3000, 7, 0);
        let moved = |from: u64, to: u64| {
            let words = [from, 0x1000, to, 0x4000].map(u64::to_le_bytes);
            words.concat()
        };
        assert_eq!(all.moves(Fields(&moved(0x2000, 0x9000))), Some(()));
        assert_eq!(all.moves(Fields(&moved(0x8000, 0x20_0000))), Some(()));
        assert_eq!(all.moves(Fields(&[0; 31])), None);
        let mut same = SharedMemory::default();
        same.add(0x10_0000..0x20_0000, 7, 0);
        assert_eq!(all.place(0x9010), same.place(0x10_1010));
        assert_eq!(all.place(0xcfff), same.place(0x10_4fff));
        assert_eq!(all.place(0x20_0000), None, "what was never shared is not");
        assert_eq!(
            all.place(0x2010),
            all.place(0x9010),
            "and where it was it has been"
        );
        let mut child = SharedMemory::default();
        assert_eq!(child.moves(Fields(&moved(0x9000, 0x5000))), Some(()));
        child.join(&all);
        assert_eq!(child.place(0x5010), all.place(0x9010), "its parent's");
    }

    #[test]
    fn the_latest_at_an_address_counts() {
        let mut all = SharedMemory::default();
        all.add(0x1000..0x9000, 1, 0);
        let first = [0x1000, 0x8fff].map(|a| all.place(a));
        all.add(0x3000..0x5000, 2, 0);
        all.add(0x4000..0x6000, 3, 0);
        assert_eq!([0x1000, 0x8fff].map(|a| all.place(a)), first);
        assert_eq!(all.parts.len(), 4);
        let mut alone = SharedMemory::default();
        alone.add(0x4000..0x6000, 3, 0);
        assert_eq!(all.place(0x5000), alone.place(0x5000));
        let whole: Vec<_> = all.places(0..u64::MAX).collect();
        assert_eq!(whole.iter().map(|r| r.end - r.start).sum::<u64>(), 0x8000);
        alone.join(&all);
        assert_eq!(alone, all, "a child has its parent's");
    }
}
