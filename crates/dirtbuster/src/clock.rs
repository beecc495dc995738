//! One time for the threads of a process.
//!
//! Within a thread, time is its own count of executed instructions. Between threads it is a
//! *virtual* count: each thread advances by one an instruction, and a thread whose buffer arrives
//! after buffers of others that are further on is moved up to them, for it has waited or run
//! slower meanwhile. Threads that run side by side thus share one time and are not added up.
//! What happened within one buffer is not ordered against the other threads' buffers: distances
//! between threads are exact to within one buffer.

use std::cell::Cell;

/// Moves of a thread that are remembered; older ones are forgotten, oldest first.
const REMEMBERED: usize = 64;

/// The virtual time of a process: the furthest of its threads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessClock {
    furthest: u64,
}

impl ProcessClock {
    /// The time of the thread that is furthest.
    pub(crate) fn furthest(&self) -> u64 {
        self.furthest
    }
}

/// How far a thread's virtual time is ahead of its own instruction count.
#[derive(Clone, Debug)]
pub(crate) struct ThreadClock {
    /// From which own count on, which lead. Never empty.
    moves: Vec<(u64, u64)>,
    /// The move that was asked for last: the lines of an object were written together.
    last: Cell<usize>,
}

impl ThreadClock {
    /// The clock of a thread that begins now.
    pub(crate) fn starting(process: &ProcessClock) -> Self {
        Self {
            moves: vec![(0, process.furthest)],
            last: Cell::new(0),
        }
    }

    /// The present lead over the own count.
    #[inline]
    pub(crate) fn lead(&self) -> u64 {
        self.moves.last().map_or(0, |m| m.1)
    }

    /// Virtual time at the own count `own`, which may be past.
    pub(crate) fn virtual_at(&self, own: u64) -> u64 {
        let last = self.last.get();
        if let Some(&(from, lead)) = self.moves.get(last)
            && from <= own
            && self.moves.get(last + 1).is_none_or(|m| own < m.0)
        {
            return own + lead;
        }
        let later = self.moves.partition_point(|m| m.0 <= own);
        self.last.set(later.saturating_sub(1));
        own + self.moves[later.saturating_sub(1)].1
    }

    /// A buffer ended with the thread at `own`.
    pub(crate) fn buffer_ended(&mut self, own: u64, process: &mut ProcessClock) {
        let now = own + self.lead();
        if now >= process.furthest {
            process.furthest = now;
            return;
        }
        if self.moves.len() == REMEMBERED {
            self.moves.remove(0);
        }
        self.moves.push((own, process.furthest - own));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_side_by_side_share_one_time() {
        let mut p = ProcessClock::default();
        let (mut a, mut b) = (ThreadClock::starting(&p), ThreadClock::starting(&p));
        for end in [100, 200, 300] {
            a.buffer_ended(end, &mut p);
            b.buffer_ended(end, &mut p);
        }
        assert_eq!((a.lead(), b.lead()), (0, 0));
    }

    #[test]
    fn a_thread_that_waited_is_moved_up() {
        let mut p = ProcessClock::default();
        let (mut a, mut b) = (ThreadClock::starting(&p), ThreadClock::starting(&p));
        a.buffer_ended(1000, &mut p);
        b.buffer_ended(10, &mut p);
        assert_eq!(b.virtual_at(5), 5);
        assert_eq!(b.virtual_at(10), 1000);
        assert_eq!(b.virtual_at(15), 1005);
    }
}
