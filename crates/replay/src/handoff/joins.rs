//! Threads that wait for another one's end.
//!
//! Who joins a thread claims it by an atomic in that thread's descriptor, which the C library keeps above its stack,
//! waits until the kernel has cleared a word there, which is no event, and gives the descriptor back with another
//! atomic, elsewhere in it: one that is stamped later than the other thread's end. The wait lies behind the first of the two.

use prestore_trace::ProcessId;
use rustc_hash::FxHashMap;

use super::LOOP;
use crate::{Space, StackGuess};

/// Descriptors and thread-local data lie within so many bytes above the first address that a thread pushes to.
pub(super) const DESCRIPTOR: u64 = 64 << 10;

/// Nor are its claim and its return farther apart, with as many events between: other atomics that lie above a stack by
/// chance, of data in the next mapping, are.
const APART: u64 = 4 << 10;

/// What is known of one thread.
#[derive(Debug, Default)]
struct Joinable {
    process: Option<ProcessId>,
    /// Where its descriptor may begin.
    above: Option<u64>,
    /// Ticks at its end, as the recording has them.
    ends: Option<u64>,
    ended: bool,
    joined: bool,
}

/// All threads.
#[derive(Debug, Default)]
pub(super) struct Joins {
    threads: Vec<Joinable>,
    /// Of a thread and another one: events of the first up to its last atomic in the other one's descriptor, and the
    /// address of that.
    claims: FxHashMap<(usize, usize), (u64, u64)>,
}

/// A thread that waited for the end of another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Join {
    pub(super) ended: usize,
    /// Events of the thread that joins, before it waits.
    pub(super) event: u64,
}

impl Joins {
    /// The next thread, of `process`, whose own memory is at `space`.
    pub(super) fn thread(
        &mut self,
        (process, space): (ProcessId, Space),
        stack: Option<&StackGuess>,
        ends: Option<u64>,
    ) {
        let there = |s: &StackGuess| space.place(s.end - DESCRIPTOR - Space::of(process).place(0));
        let above = stack.map(there);
        self.threads.push(Joinable {
            process: Some(process),
            above,
            ends,
            ended: false,
            joined: false,
        });
    }

    /// `thread` executes an atomic at `addr`, behind `event` events, in a stretch that began at `ticks`. Answers
    /// whom it has joined.
    pub(super) fn atomic(
        &mut self,
        thread: usize,
        addr: u64,
        event: u64,
        ticks: u64,
    ) -> Option<Join> {
        let process = self.threads[thread].process;
        let others = self.threads.iter().enumerate().filter_map(|(i, t)| {
            let above = addr.checked_sub(t.above?)?;
            let its = i != thread && !t.joined && t.process == process && above < DESCRIPTOR;
            its.then_some((above, i))
        });
        let (_, ended) = others.min()?;
        let claimed = self.claims.insert((thread, ended), (event + 1, addr));
        let other = &mut self.threads[ended];
        if !other.ended || other.ends.is_some_and(|ends| ends > ticks) {
            return None;
        }
        let (claim, at) = claimed?;
        let returned = at != addr && at.abs_diff(addr) < APART && event - claim < LOOP;
        returned.then(|| {
            other.joined = true;
            Join {
                ended,
                event: claim,
            }
        })
    }

    /// `thread` has ended.
    pub(super) fn end(&mut self, thread: usize) {
        self.threads[thread].ended = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prestore_trace::ThreadId;

    const TOP: u64 = 0x7000_0000;

    fn threads() -> Joins {
        let mut joins = Joins::default();
        joins.thread((ProcessId(0), Space::of(ProcessId(0))), None, Some(1000));
        let stack = StackGuess {
            thread: ThreadId(1),
            start: TOP,
            end: TOP + DESCRIPTOR,
        };
        joins.thread(
            (ProcessId(0), Space::of(ProcessId(0))),
            Some(&stack),
            Some(500),
        );
        joins
    }

    #[test]
    fn who_claims_a_thread_and_gives_it_back_has_waited_for_its_end() {
        let mut joins = threads();
        assert_eq!(joins.atomic(0, TOP + 0x900, 7, 100), None);
        assert_eq!(joins.atomic(0, TOP + 0x900, 70, 200), None);
        joins.end(1);
        assert_eq!(joins.atomic(0, TOP + 0x900, 70, 550), None, "the same word");
        let join = joins.atomic(0, TOP + 0x600, 90, 600);
        assert_eq!(
            join,
            Some(Join {
                ended: 1,
                event: 71
            })
        );
        assert_eq!(joins.atomic(0, TOP + 0x600, 95, 700), None, "once");
    }

    #[test]
    fn what_lies_above_a_stack_by_chance_joins_nobody() {
        let mut joins = threads();
        joins.atomic(0, TOP + 0x900, 7, 100);
        joins.end(1);
        assert_eq!(joins.atomic(0, TOP + 0x600, 8 + LOOP, 600), None, "later");
        assert_eq!(joins.atomic(0, TOP + 0x2000, 9 + LOOP, 610), None, "far");
        assert_eq!(joins.atomic(0, TOP + 0x900, 90 + LOOP, 650), None);
        assert!(joins.atomic(0, TOP + 0x600, 95 + LOOP, 700).is_some());
    }

    #[test]
    fn who_has_not_seen_its_end_has_not_joined_it() {
        let mut joins = threads();
        joins.atomic(0, TOP + 0x900, 7, 100);
        joins.end(1);
        assert_eq!(joins.atomic(0, TOP + 0x600, 8, 400), None);
        assert_eq!(joins.atomic(0, TOP - 0x600, 9, 600), None, "elsewhere");
    }
}
