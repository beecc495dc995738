//! How many different lines a thread has touched since when.
//!
//! A cache loses a line when as many others as it holds were touched since, however often they were: sweeping five
//! times over 3 MB drives out no more than sweeping once. So what was touched last in each epoch is counted, and a line that
//! is touched again moves from its epoch's count to the present one's.

use std::collections::VecDeque;

/// Lines that were touched last in it.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    number: u32,
    /// The thread's own time.
    began: u64,
    lines: u64,
}

/// The epochs in which lines were touched last that may still be in a cache, oldest first; the last one is now.
#[derive(Clone, Debug)]
pub(crate) struct Recency {
    epochs: VecDeque<Epoch>,
    /// Of all of them.
    lines: u64,
}

impl Recency {
    pub(crate) fn new() -> Self {
        Self::since_epoch(0, 0)
    }

    /// From epoch `number` on, which begins at the thread's time `began`.
    pub(crate) fn since_epoch(number: u32, began: u64) -> Self {
        Self {
            epochs: [Epoch {
                number,
                began,
                lines: 0,
            }]
            .into(),
            lines: 0,
        }
    }

    /// A line is touched.
    pub(crate) fn touch(&mut self) {
        if let Some(now) = self.epochs.back_mut() {
            now.lines += 1;
            self.lines += 1;
        }
    }

    /// A line that was touched last in epoch `number` is touched again, or another core has taken it.
    pub(crate) fn forget(&mut self, number: u32) {
        let Ok(at) = self.epochs.binary_search_by_key(&number, |e| e.number) else {
            return;
        };
        let epoch = &mut self.epochs[at];
        if epoch.lines > 0 {
            epoch.lines -= 1;
            self.lines -= 1;
        }
        let Epoch { began, lines, .. } = *epoch;
        if lines == 0 && at + 1 < self.epochs.len() {
            self.epochs.remove(at);
            self.epochs[at].began = began;
        }
    }

    /// An epoch begins at the thread's time `now`; what was touched before `reach` other lines is of no interest any more.
    pub(crate) fn begin(&mut self, number: u32, now: u64, reach: u64) {
        while let Some(oldest) = self.epochs.front()
            && self.lines - oldest.lines > reach
        {
            self.lines -= oldest.lines;
            self.epochs.pop_front();
        }
        self.epochs.push_back(Epoch {
            number,
            began: now,
            lines: 0,
        });
    }

    /// The earliest time since which no more than so many lines were touched.
    pub(crate) fn since(&self, lines: u64) -> u64 {
        self.since_each([lines])[0]
    }

    /// The same for each of these numbers of lines, the least first.
    pub(crate) fn since_each<const N: usize>(&self, lines: [u64; N]) -> [u64; N] {
        let mut last = self.epochs.back().map_or(0, |e| e.began);
        let mut since = [last; N];
        let (mut touched, mut at) = (0, 0);
        for epoch in self.epochs.iter().rev() {
            touched += epoch.lines;
            while lines.get(at).is_some_and(|&most| touched > most) {
                since[at] = last;
                at += 1;
            }
            if at == N {
                return since;
            }
            last = epoch.began;
        }
        since[at..].fill(last);
        since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_touched_again_count_once() {
        let mut r = Recency::new();
        (0..4).for_each(|_| r.touch());
        r.begin(1, 100, 50);
        for epoch in 2..1000 {
            // The same three, in each epoch.
            if epoch > 2 {
                (0..3).for_each(|_| r.forget(epoch - 2));
            }
            (0..3).for_each(|_| r.touch());
            r.begin(epoch, u64::from(epoch) * 100, 50);
        }
        assert_eq!((r.since(7), r.since(6)), (0, 100));
        assert!(r.epochs.len() < 4, "{r:?}");
        assert_eq!(r.since(2), 99_900);
    }

    #[test]
    fn what_is_beyond_reach_is_forgotten() {
        let mut r = Recency::new();
        for epoch in 1..1000 {
            (0..5).for_each(|_| r.touch());
            r.begin(epoch, u64::from(epoch), 20);
        }
        assert!(r.epochs.len() < 8, "{r:?}");
        assert_eq!((r.since(20), r.since(19)), (995, 996));
        // Of an epoch that nobody knows any more.
        r.forget(3);
        assert_eq!(r.since(20), 995);
    }
}
