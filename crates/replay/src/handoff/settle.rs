//! Hand-offs that do not contradict each other.

use super::HandOffCounts;
use crate::marks::{Mark, Marks};

/// Sorts each thread's marks, gives up waits that could never end, and packs the rest.
///
/// Atomics that hand over to atomics cannot contradict: each wait is for what was stamped before
/// the waiting thread's next stamp. Plain stores are matched by their number and can.
pub(super) fn settle(
    mut threads: Vec<Vec<(u64, Mark)>>,
    numbers: u32,
    counts: &mut HandOffCounts,
) -> Vec<Marks> {
    threads.iter_mut().for_each(|marks| marks.sort_unstable());
    let mut run = Run {
        at: vec![0; threads.len()],
        published: vec![false; numbers as usize],
    };
    let mut given_up = vec![Vec::new(); threads.len()];
    loop {
        while (0..threads.len()).any(|t| run.go(t, &threads[t])) {}
        // All are at their ends or wait; the lowest number is the earliest in the recording.
        let stuck = (0..threads.len()).filter_map(|t| match threads[t].get(run.at[t])?.1 {
            Mark::Await(number) => Some((number, t)),
            _ => None,
        });
        let Some((_, thread)) = stuck.min() else {
            break;
        };
        given_up[thread].push(run.at[thread]);
        run.at[thread] += 1;
        counts.contradicting += 1;
        counts.enforced = counts.enforced.saturating_sub(1);
    }
    let all = threads.into_iter().zip(given_up);
    all.map(|(marks, given_up)| {
        let mut given_up = given_up.into_iter().peekable();
        let kept = marks.into_iter().enumerate();
        Marks::pack(kept.filter_map(|(i, mark)| given_up.next_if_eq(&i).is_none().then_some(mark)))
    })
    .collect()
}

/// A run of nothing but marks.
struct Run {
    at: Vec<usize>,
    published: Vec<bool>,
}

impl Run {
    /// Goes on with `thread` as far as it can; did it go anywhere?
    fn go(&mut self, thread: usize, marks: &[(u64, Mark)]) -> bool {
        let start = self.at[thread];
        while let Some((_, mark)) = marks.get(self.at[thread]) {
            match *mark {
                Mark::HandOff(number) => self.published[number as usize] = true,
                Mark::Await(number) if !self.published[number as usize] => break,
                Mark::Await(_)
                | Mark::Acquire(_)
                | Mark::Share(_)
                | Mark::Release(_)
                | Mark::Leave
                | Mark::Resume => {}
            }
            self.at[thread] += 1;
        }
        self.at[thread] > start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_of_waits_is_broken_once() {
        let threads = vec![
            vec![(1, Mark::Await(1)), (2, Mark::HandOff(0))],
            vec![(1, Mark::Await(0)), (2, Mark::HandOff(1))],
        ];
        let mut counts = HandOffCounts {
            enforced: 2,
            ..HandOffCounts::default()
        };
        let settled = settle(threads, 2, &mut counts);
        assert_eq!((counts.contradicting, counts.enforced), (1, 1));
        let kept: Vec<usize> = settled.iter().map(|m| m.iter().count()).collect();
        assert_eq!(kept, [2, 1]);
    }

    #[test]
    fn what_can_end_is_kept() {
        let threads = vec![
            vec![(9, Mark::HandOff(0)), (9, Mark::Await(1))],
            vec![(4, Mark::Await(0)), (5, Mark::HandOff(1))],
        ];
        let mut counts = HandOffCounts::default();
        let settled = settle(threads.clone(), 2, &mut counts);
        let kept: Vec<Vec<_>> = settled.iter().map(|m| m.iter().collect()).collect();
        assert_eq!((kept, counts.contradicting), (threads, 0));
    }
}
