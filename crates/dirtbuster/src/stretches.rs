//! Long runs, of which stretches are looked at.
//!
//! A run is divided into stretches of so many instructions. How long it will be nobody knows, so it is recorded in
//! full at first, then one stretch of four, one of sixteen, and so on. Each such *part* of the run is analysed by itself, and its
//! sums count as often as stretches of it were left out, and once more: so no part weighs more than another, nothing that was
//! recorded is lost, and a short run is analysed whole.
//!
//! What is written at the end of a stretch and read again behind it is not seen to be read. Such lines are left open (`memory/left_out.rs`): they
//! count as neither used again nor not, and what lies before a gap is far behind it. Where more than half of a place's lines in a part are
//! left open, what is known of the others, which is what happened soon, counts once and not for what was left out. The buffer in which
//! a part begins counts to the one before.

/// By how much each part is thinner than the one before, in stretches and in length.
const STEP: u64 = 4;

/// How a run was recorded, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// In its last part one of so many stretches; 1: all.
    pub every: u64,
    /// Stretches that were looked at, of the process with most of them.
    pub stretches: u64,
}

/// Where a process is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretches {
    /// One of so many is recorded in this part of the run.
    every: u64,
    /// In the thinnest.
    thinnest: u64,
    /// Instructions of a stretch; 0: there are none.
    length: u64,
    /// Stretch that the next part begins with.
    next: u64,
    newest: Option<u64>,
    taken: u64,
}

impl Stretches {
    /// Stretches of `length` instructions. All before the stretch `dense` (a multiple of 4) are recorded, one of four before
    /// `4 * dense`, and so on down to one of `thinnest` (a power of four).
    pub(crate) fn new(length: u64, dense: u64, thinnest: u64) -> Self {
        Self {
            every: 1,
            thinnest,
            length,
            next: dense,
            newest: None,
            taken: 0,
        }
    }

    /// Everything is recorded.
    pub(crate) fn none() -> Self {
        Self::new(0, u64::MAX, 1)
    }

    /// The stretch that a process is in which has executed so much and of which nothing was left out yet; `None`: there are none.
    pub(crate) fn whole(&self, executed: u64) -> Option<u64> {
        let number = executed.checked_div(self.length)?;
        Some(number.min(self.next - 1))
    }

    /// A process of which nothing was left out yet is in the stretch `number`.
    pub(crate) fn passes(&mut self, number: u64) {
        let seen = self.newest.map_or(0, |newest| newest + 1);
        self.taken += (number + 1).saturating_sub(seen);
        self.newest = self.newest.max(Some(number));
    }

    /// A thread goes on in the stretch `number`, it says.
    pub(crate) fn enters(&mut self, number: u64) {
        let begins = self.newest.is_none();
        // Threads that are behind tell of older ones.
        if self.newest.is_none_or(|newest| number > newest) {
            self.newest = Some(number);
            self.taken += 1;
        }
        if begins {
            // A forked process goes on where its parent is.
            self.turn();
        }
    }

    /// If another part has begun: by how much the sums of the one that has ended count.
    pub(crate) fn turn(&mut self) -> Option<u64> {
        let ended = self.every;
        while self.every < self.thinnest && self.newest.is_some_and(|newest| newest >= self.next) {
            self.every = self.every.saturating_mul(STEP);
            self.next = self.next.saturating_mul(STEP);
        }
        (self.every != ended).then_some(ended)
    }

    /// By how much the sums of the part that it is in count.
    pub(crate) fn weight(&self) -> u64 {
        self.every
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen {
            every: self.every,
            stretches: self.taken,
        }
    }
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            every: 1,
            stretches: 0,
        }
    }
}

impl Seen {
    /// Of this process and others.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            every: self.every.max(other.every),
            stretches: self.stretches.max(other.stretches),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_begin_where_the_recorder_leaves_out_more() {
        let mut s = Stretches::new(1, 4, 16);
        let mut turns = Vec::new();
        for number in [0, 1, 2, 3, 4, 8, 12, 16, 32, 64, 256] {
            s.enters(number);
            turns.extend(s.turn().map(|weight| (number, weight)));
        }
        assert_eq!(turns, [(4, 1), (16, 4)]);
        assert_eq!((s.weight(), s.seen().stretches), (16, 11));
    }

    #[test]
    fn a_forked_process_begins_in_its_parents_part() {
        let mut s = Stretches::new(1, 4, 16);
        s.enters(32);
        assert_eq!((s.turn(), s.weight()), (None, 16));
    }

    #[test]
    fn a_process_is_whole_until_it_says_where_it_is() {
        let mut s = Stretches::new(100, 4, 16);
        let at = [0, 99, 350, 1000].map(|executed| s.whole(executed));
        assert_eq!(at, [Some(0), Some(0), Some(3), Some(3)]);
        // A buffer may tell of several.
        for number in [0, 0, 2, 3] {
            s.passes(number);
            assert_eq!(s.turn(), None);
        }
        assert_eq!((s.weight(), s.seen().stretches), (1, 4));
        s.enters(3);
        s.enters(4);
        assert_eq!((s.turn(), s.seen().stretches), (Some(1), 5));
        assert_eq!(Stretches::none().whole(1000), None);
    }

    #[test]
    fn a_run_without_stretches_counts_once() {
        let mut s = Stretches::none();
        assert_eq!((s.turn(), s.weight(), s.seen()), (None, 1, Seen::default()));
    }
}
