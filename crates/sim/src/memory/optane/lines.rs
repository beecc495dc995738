//! Which lines of a unit were written.

/// Bytes the bus between controller and DIMM transfers at once.
pub(super) const LINE: u64 = 64;

/// Lines of one unit, bit 0 its first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    /// Written as a whole.
    whole: u64,
    /// Only some bytes of them written.
    partial: u64,
}

impl Lines {
    /// Bytes `bytes` (bit 0 the first) of line `index`.
    pub(super) fn of(index: u32, bytes: u64) -> Self {
        let bit = 1 << index;
        if bytes == u64::MAX {
            Self {
                whole: bit,
                partial: 0,
            }
        } else {
            Self {
                whole: 0,
                partial: bit,
            }
        }
    }

    /// Takes `newer` in.
    pub(super) fn merge(&mut self, newer: Self) {
        self.whole |= newer.whole;
        self.partial = (self.partial | newer.partial) & !self.whole;
    }

    /// Has line `index` been written as a whole?
    pub(super) fn has(self, index: u32) -> bool {
        self.whole >> index & 1 == 1
    }

    /// Are all `lines` lines of the unit written as a whole?
    pub(super) fn complete(self, lines: u32) -> bool {
        self.whole == u64::MAX >> (u64::BITS - lines)
    }
}
