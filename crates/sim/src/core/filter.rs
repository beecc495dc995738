//! Which lines a buffer may hold: a quick no for most loads.

use prestore_trace::LineAddr;

const BUCKETS: usize = 256;

/// Counts of buffered lines by the low bits of their number.
#[derive(Clone, Debug)]
pub(super) struct Filter([u16; BUCKETS]);

impl Filter {
    pub fn new() -> Self {
        Self([0; BUCKETS])
    }

    #[inline(always)]
    fn bucket(line: LineAddr) -> usize {
        line.0 as usize % BUCKETS
    }

    #[inline(always)]
    pub fn add(&mut self, line: LineAddr) {
        self.0[Self::bucket(line)] += 1;
    }

    #[inline(always)]
    pub fn remove(&mut self, line: LineAddr) {
        self.0[Self::bucket(line)] -= 1;
    }

    /// False: the line is not buffered.
    #[inline(always)]
    pub fn may_hold(&self, line: LineAddr) -> bool {
        self.0[Self::bucket(line)] != 0
    }
}
