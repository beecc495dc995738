//! Whose cores have a line of the sample, and since when.

use crate::loaded::ReadAt;

/// A thread whose core has the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Holder {
    /// Plus one; 0: nobody.
    thread: u32,
    /// The thread's epoch in which it touched the line last.
    epoch: u32,
    /// It has written the line since others had it.
    wrote: bool,
}

impl Holder {
    fn is(self, thread: u32) -> bool {
        self.thread == thread + 1
    }

    /// Who it is, if it is somebody other than `thread`, and in which of its epochs it touched the line.
    fn other_than(self, thread: u32) -> Option<(u32, u32)> {
        let who = self.thread.checked_sub(1)?;
        (who != thread).then_some((who, self.epoch))
    }
}

/// How a line of the sample was touched.
///
/// A thread that reads what another one wrote gets a copy, and the writer keeps its own; one that writes takes it from all others.
/// Two are known at a time: who touched it last, and of the others the one that wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touch {
    last: Holder,
    other: Holder,
    read: ReadAt,
}

impl Touch {
    /// Nobody has touched it since its memory was mapped anew, if anybody had before.
    pub(crate) fn renewed(self) -> Self {
        let epoch = u32::from(self.was_touched());
        Self {
            last: Holder {
                epoch,
                ..Holder::default()
            },
            ..Self::default()
        }
    }

    /// Has anybody touched it?
    pub(crate) fn is_touched(self) -> bool {
        self.last.thread != 0
    }

    /// Also before it was mapped anew.
    pub(crate) fn was_touched(self) -> bool {
        self.is_touched() || self.last.epoch != 0
    }

    /// When the thread read it, if that was the last touch.
    pub(crate) fn read_by(self, thread: u32) -> Option<ReadAt> {
        self.last.is(thread).then_some(self.read)
    }

    /// The thread's epoch in which it touched the line, if that was the last touch.
    pub(crate) fn last_by(self, thread: u32) -> Option<u32> {
        self.last.is(thread).then_some(self.last.epoch)
    }

    /// The same, if the thread's core still has the line, whoever touched it since.
    pub(crate) fn held_by(self, thread: u32) -> Option<u32> {
        let held = [self.last, self.other].into_iter().find(|h| h.is(thread));
        held.map(|h| h.epoch)
    }

    /// Whose cores have it no more, or are not known to, when `thread` touches it; and since which of their epochs they had it.
    pub(crate) fn leaves(self, thread: u32, read: bool) -> [Option<(u32, u32)>; 2] {
        let (last, other) = (self.last.other_than(thread), self.other.other_than(thread));
        match (last, other) {
            _ if !read => [last, other],
            (Some(_), Some(_)) if self.other.wrote => [last, None],
            (Some(_), Some(_)) => [None, other],
            _ => [None, None],
        }
    }

    /// As it is when `thread` has touched it in its `epoch`.
    pub(crate) fn by(self, thread: u32, epoch: u32, at: ReadAt, read: bool) -> Self {
        let own = |h: &Holder| h.is(thread);
        let wrote = !read || [self.last, self.other].iter().any(|h| own(h) && h.wrote);
        let other = match self.leaves(thread, read) {
            _ if !read => Holder::default(),
            [Some(_), _] => self.other,
            _ if own(&self.last) => self.other,
            _ => self.last,
        };
        Self {
            last: Holder {
                thread: thread + 1,
                epoch,
                wrote,
            },
            other,
            read: at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(touches: &[(u32, u32, bool)]) -> Touch {
        touches
            .iter()
            .fold(Touch::default(), |t, &(thread, epoch, read)| {
                t.by(thread, epoch, ReadAt::default(), read)
            })
    }

    #[test]
    fn who_reads_leaves_the_line_where_it_was_and_who_writes_takes_it() {
        let read = touched(&[(0, 7, false), (1, 3, true)]);
        assert_eq!((read.held_by(0), read.held_by(1)), (Some(7), Some(3)));
        assert_eq!(read.leaves(0, true), [None; 2]);
        assert_eq!(read.leaves(0, false), [Some((1, 3)), None]);
        let written = read.by(0, 8, ReadAt::default(), false);
        assert_eq!((written.held_by(0), written.held_by(1)), (Some(8), None));
        let taken = read.leaves(2, false);
        assert_eq!(taken, [Some((1, 3)), Some((0, 7))]);
        assert_eq!(read.last_by(0), None);
    }

    #[test]
    fn of_several_readers_the_last_is_known_beside_who_wrote() {
        let read = touched(&[(0, 7, false), (1, 3, true)]);
        assert_eq!(read.leaves(2, true), [Some((1, 3)), None]);
        let read = read.by(2, 9, ReadAt::default(), true);
        assert_eq!([0, 1, 2].map(|t| read.held_by(t)), [Some(7), None, Some(9)]);
        // The writer reads it itself, and still is its writer.
        let again = read.by(0, 10, ReadAt::default(), true);
        let third = again.by(3, 1, ReadAt::default(), true);
        assert_eq!(
            [0, 2, 3].map(|t| third.held_by(t)),
            [Some(10), None, Some(1)]
        );
    }

    #[test]
    fn among_readers_alone_the_last_two_are_known() {
        let read = touched(&[(0, 1, true), (1, 2, true)]);
        assert_eq!(read.leaves(2, true), [None, Some((0, 1))]);
        let read = read.by(2, 3, ReadAt::default(), true);
        assert_eq!(read.leaves(3, true), [None, Some((1, 2))]);
        let read = read.by(3, 4, ReadAt::default(), true);
        assert_eq!([1, 2, 3].map(|t| read.held_by(t)), [None, Some(3), Some(4)]);
    }

    #[test]
    fn memory_that_is_mapped_anew_nobody_has() {
        let renewed = touched(&[(0, 7, false), (1, 3, true)]).renewed();
        assert_eq!(renewed.leaves(2, false), [None; 2]);
        assert!(renewed.was_touched() && !renewed.is_touched());
    }
}
