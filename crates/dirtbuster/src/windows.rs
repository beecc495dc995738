//! Which windows of a run are looked at, where it was recorded in bursts.

/// Of so many windows the one whose number the count divides is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Windows {
    every: u64,
    /// The furthest that began.
    pub(crate) furthest: u64,
    /// The furthest that was taken, and how many were.
    newest: Option<u64>,
    pub(crate) taken: u64,
}

impl Windows {
    /// `every` > 0.
    pub(crate) fn new(every: u64) -> Self {
        Self {
            every: every.max(1),
            furthest: 0,
            newest: None,
            taken: 0,
        }
    }

    pub(crate) fn every(&self) -> u64 {
        self.every
    }

    /// A thread goes on in the window `number`: is it taken?
    pub(crate) fn takes(&mut self, number: u64) -> bool {
        let takes = number.is_multiple_of(self.every);
        // Other threads, and processes that began later, are behind.
        if takes && self.newest.is_none_or(|newest| number > newest) {
            self.newest = Some(number);
            self.taken += 1;
        }
        self.furthest = self.furthest.max(number);
        takes
    }
}
