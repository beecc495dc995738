//! What a data bus loses when its direction changes.

use crate::Time;

/// Direction of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// The last transfer of a bus.
#[derive(Clone, Debug)]
pub(crate) struct Turnaround {
    write_to_read: Time,
    read_to_write: Time,
    last: Direction,
    /// When the last transfer was asked for, and until when its data moves.
    asked: Time,
    until: Time,
}

impl Turnaround {
    /// An idle bus.
    pub(crate) fn new(write_to_read: Time, read_to_write: Time) -> Self {
        Self {
            write_to_read,
            read_to_write,
            last: Direction::Read,
            asked: Time::ZERO,
            until: Time::ZERO,
        }
    }

    /// The earliest that data may move in `direction` if it was asked for at `asked` and could move
    /// at `ready`. What was asked for before the last transfer is not affected by it.
    #[inline]
    pub(crate) fn earliest(&self, direction: Direction, asked: Time, ready: Time) -> Time {
        if direction == self.last || asked < self.asked {
            return ready;
        }
        let turn = match direction {
            Direction::Read => self.write_to_read,
            Direction::Write => self.read_to_write,
        };
        // Nothing to turn round before the first transfer.
        if self.until == Time::ZERO {
            return ready;
        }
        ready.max(self.until + turn)
    }

    /// Data that was asked for at `asked` moves until `until`.
    #[inline]
    pub(crate) fn moved(&mut self, direction: Direction, asked: Time, until: Time) {
        if asked >= self.asked {
            (self.last, self.asked, self.until) = (direction, asked, until);
        }
    }
}
