//! Waiting that nothing was found for: loops in which a thread looks at what others write.

use rustc_hash::{FxHashMap, FxHashSet};

use super::watcher::Poll;
use crate::marks::Mark;

/// Looks in vain that are a wait.
const LOOKS: u64 = 8;

/// Events between what was recognised and the first look of a wait.
const BEFORE: u64 = 32;

/// Events behind the last look of a wait that never ends.
const BEHIND: u64 = 32;

/// An address that is spun at.
#[derive(Debug, Default)]
struct Spun {
    /// Who has written to it last, and the number of that write; and the same of the last one by somebody else.
    last: Option<(usize, u64)>,
    other: Option<(usize, u64)>,
    /// The wait that each thread was last seen in: its first look.
    waits: FxHashMap<usize, u64>,
}

impl Spun {
    /// The last write of a thread that is not `thread`.
    fn by_others(&self, thread: usize) -> Option<u64> {
        let both = [self.last, self.other].into_iter().flatten();
        both.into_iter()
            .find(|(writer, _)| *writer != thread)
            .map(|(_, write)| write)
    }
}

/// Loops that wait, by where they look.
#[derive(Debug, Default)]
pub(super) struct Spins {
    at: FxHashMap<u64, Spun>,
    /// Writes so far, and when each thread began.
    writes: u64,
    begun: Vec<u64>,
    /// A thread each: address, first and last look of its waits, in order.
    waits: Vec<Vec<(u64, u64, u64)>>,
}

impl Spins {
    /// At the addresses that some thread spins at.
    pub(super) fn new(addrs: &FxHashSet<u64>, threads: usize) -> Self {
        Self {
            at: addrs.iter().map(|a| (*a, Spun::default())).collect(),
            writes: 0,
            begun: vec![0; threads],
            waits: vec![Vec::new(); threads],
        }
    }

    /// `thread` looks at `addr`: its look of `poll`.
    pub(super) fn load(&mut self, addr: u64, thread: usize, poll: Option<Poll>) {
        let Some(poll) = poll.filter(|p| p.last - p.first >= LOOKS) else {
            return;
        };
        let Some(spun) = self.at.get_mut(&addr) else {
            return;
        };
        let waits = &mut self.waits[thread];
        if spun.waits.insert(thread, poll.first) == Some(poll.first)
            && let Some(last) = waits.iter_mut().rfind(|w| w.0 == addr)
        {
            last.2 = poll.last;
        } else {
            waits.push((addr, poll.first, poll.last));
        }
    }

    /// `thread` writes to `addr`.
    pub(super) fn written(&mut self, addr: u64, thread: usize) {
        if let Some(spun) = self.at.get_mut(&addr) {
            self.writes += 1;
            let before = spun.last.replace((thread, self.writes));
            if before.is_some_and(|(writer, _)| writer != thread) {
                spun.other = before;
            }
        }
    }

    /// `thread` begins: what was written before it finds there, and does not wait for.
    pub(super) fn begins(&mut self, thread: usize) {
        self.begun[thread] = self.writes;
    }

    /// Waits for others in which no thread waits by its `marks`, which are in order, and of which it comes to an end: each has had so many
    /// `events`.
    pub(super) fn unresolved(
        &self,
        marks: &[Vec<(u64, Mark)>],
        events: impl Fn(usize) -> u64,
    ) -> u64 {
        let mut all = 0;
        for (thread, (waits, marks)) in self.waits.iter().zip(marks).enumerate() {
            // Behind the last look it may still go to sleep.
            let goes_on = |last| events(thread) > last + BEHIND;
            for &(addr, first, last) in waits.iter().filter(|wait| goes_on(wait.2)) {
                let others = self.at.get(&addr).and_then(|spun| spun.by_others(thread));
                let others = others.is_some_and(|write| write > self.begun[thread]);
                let from = marks.partition_point(|(at, _)| *at + BEFORE < first);
                let near = marks[from..]
                    .iter()
                    .take_while(|(at, _)| *at <= last + super::LOOP);
                // Behind a look, an attempt may fail, or a thread is away, and the wait goes on.
                let mut near = near.map(|(_, mark)| mark);
                let known = near
                    .any(|mark| matches!(mark, Mark::Await(_) | Mark::Acquire(_) | Mark::Share(_)));
                all += u64::from(others && !known);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAG: u64 = 0x1000;

    #[test]
    fn what_it_still_waits_for_at_its_end_is_nothing_that_is_not_known() {
        let mut spins = Spins::new(&[FLAG].into_iter().collect(), 2);
        spins.written(FLAG, 0);
        for last in 10..30 {
            spins.load(FLAG, 1, Some(Poll::at(FLAG, 10, last)));
        }
        let marks = [Vec::new(), Vec::new()];
        assert_eq!(spins.unresolved(&marks, |_| 29 + BEHIND), 0);
        assert_eq!(spins.unresolved(&marks, |_| 30 + BEHIND), 1);
    }

    #[test]
    fn what_was_written_before_it_began_is_waited_for_by_nobody() {
        let spins = |writes: &[usize]| {
            let mut spins = Spins::new(&[FLAG].into_iter().collect(), 2);
            spins.written(FLAG, 0);
            spins.begins(1);
            writes.iter().for_each(|&by| spins.written(FLAG, by));
            for last in 10..30 {
                spins.load(FLAG, 1, Some(Poll::at(FLAG, 10, last)));
            }
            spins.unresolved(&[Vec::new(), Vec::new()], |_| 100)
        };
        assert_eq!(spins(&[]), 0);
        assert_eq!(spins(&[1]), 0, "by itself");
        assert_eq!(spins(&[0]), 1);
        assert_eq!(spins(&[0, 1, 1]), 1);
    }
}
