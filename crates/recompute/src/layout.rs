//! Where everything is in the medium: header, control words, arrays, and what the scheme keeps.

use crate::header::HEADER;
use crate::{Array, Nest, Scheme};

/// Bytes a cache line; parts begin at one, so that flushing one part never touches another.
pub(crate) const LINE: usize = 64;

/// Offsets into the medium.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Of each array: where it begins and how long it is.
    pub arrays: Vec<(usize, usize)>,
    /// Of each array that is copied aside: its number and where its copies begin, one behind the other.
    copies: Vec<(usize, usize)>,
    logs: usize,
    log_bytes: usize,
    /// Bytes in all.
    pub total: usize,
}

fn line_up(at: usize) -> usize {
    at.next_multiple_of(LINE)
}

impl Layout {
    pub fn new(nest: &Nest, scheme: Scheme, workers: usize) -> Layout {
        let mut end = HEADER + 2 * LINE + workers * WORKER;
        let mut take = |bytes: usize| {
            let begin = line_up(end);
            end = begin + bytes;
            begin
        };
        let arrays: Vec<_> = nest
            .arrays
            .iter()
            .map(|array| (take(array.bytes()), array.bytes()))
            .collect();
        let (count, inputs) = match scheme {
            Scheme::Checkpoint { inputs, .. } => (2, inputs),
            Scheme::Hybrid { .. } => (1, false),
            _ => (0, false),
        };
        let copied = |array: &Array| count > 0 && (inputs || array.tiles.is_some());
        let copies = nest
            .arrays
            .iter()
            .enumerate()
            .filter(|(_, array)| copied(array))
            .map(|(number, array)| (number, take(count * line_up(array.bytes()))))
            .collect();
        let log_bytes = if scheme == Scheme::Logging {
            line_up(nest.arrays.iter().map(Array::region_bytes).sum())
        } else {
            0
        };
        let logs = take(workers * log_bytes);
        Layout {
            arrays,
            copies,
            logs,
            log_bytes,
            total: line_up(end),
        }
    }

    /// Each array that is copied aside, with where its copy of this number is.
    pub fn copies(&self, which: usize) -> impl Iterator<Item = (usize, usize)> {
        self.copies
            .iter()
            .map(move |(array, begin)| (*array, begin + which * line_up(self.arrays[*array].1)))
    }

    /// A worker's undo log.
    pub fn log(&self, worker: usize) -> usize {
        self.logs + worker * self.log_bytes
    }
}

/// 1 if the loop is finished, else 0.
pub(crate) const FINISHED: usize = HEADER;
/// Iterations that the last checkpoint holds.
pub(crate) const CHECKPOINT: usize = HEADER + LINE;

const WORKER: usize = 3 * LINE;

fn worker(number: usize) -> usize {
    HEADER + 2 * LINE + number * WORKER
}

/// A worker's progress: the number of its next step, see [`crate::progress`].
pub(crate) fn progress(number: usize) -> usize {
    worker(number)
}

/// What the progress was when the log was written.
pub(crate) fn logged_progress(number: usize) -> usize {
    worker(number) + LINE
}

/// Not 0 while a step is in its transaction: the log holds what it may have torn.
pub(crate) fn inside(number: usize) -> usize {
    worker(number) + 2 * LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dependence, Order};

    #[test]
    fn parts_do_not_overlap() {
        let nest = Nest {
            name: "n".into(),
            outer: 1,
            arrays: vec![Array::input(3, 24), Array::output(3, 24, 1, 24)],
            dependence: Dependence::Carried,
            order: Order::Apart,
        };
        for scheme in ["none", "CP", "CPall", "L", "R", "HRx2"] {
            let layout = Layout::new(&nest, scheme.parse().unwrap(), 2);
            let mut parts = vec![(0, inside(1) + LINE)];
            parts.extend(&layout.arrays);
            let kept = if scheme.starts_with("CP") { 2 } else { 1 };
            for which in 0..kept {
                parts.extend(
                    layout
                        .copies(which)
                        .map(|(array, at)| (at, layout.arrays[array].1)),
                );
            }
            if scheme == "L" {
                parts.extend([(layout.log(0), 24), (layout.log(1), 24)]);
            }
            parts.sort_unstable();
            for pair in parts.windows(2) {
                assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{scheme}: {parts:?}");
                assert!(pair[1].0.is_multiple_of(LINE));
            }
            let last = parts.last().unwrap();
            assert!(last.0 + last.1 <= layout.total);
        }
    }
}
