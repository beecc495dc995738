//! The line behind one that no private level had.

use super::{Prefetcher, Request, Wanted};

/// Fetches the neighbour of what came from beyond the private levels.
#[derive(Clone, Debug)]
pub(super) struct NextLine {
    /// The first level that is beyond.
    pub beyond: usize,
}

impl Prefetcher for NextLine {
    #[inline]
    fn requested(&mut self, request: &Request) -> Option<Wanted> {
        (request.level >= self.beyond).then(|| Wanted {
            behind: request.line,
            stride: 1,
            last: request.line.wrapping_add(1),
            most: 1,
        })
    }
}
