//! Something that moves bytes at a rate: a bus, a direction of a link.

use prestore_machine::quantity::Rate;

use super::calendar::Calendar;
use crate::Time;

/// A bus or one direction of a link.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    calendar: Calendar<64>,
    gb_per_s: f64,
    /// The last size asked for and its time: sizes hardly change.
    known: (u64, Time),
}

impl Pipe {
    /// Moves at `rate`.
    pub(crate) fn new(rate: Rate) -> Self {
        Self::slowed(rate, 1.0)
    }

    /// Moves at `share` of `rate`.
    pub(crate) fn slowed(rate: Rate, share: f64) -> Self {
        Self {
            calendar: Calendar::new(),
            gb_per_s: rate.0 * share,
            known: (0, Time::ZERO),
        }
    }

    /// How long `bytes` occupy it.
    #[inline]
    pub(crate) fn time(&mut self, bytes: u64) -> Time {
        if self.known.0 != bytes {
            self.known = (bytes, Time::transfer(bytes, self.gb_per_s));
        }
        self.known.1
    }

    /// Moves `bytes` as soon as possible from `at` on; answers when that begins.
    #[inline]
    pub(crate) fn send(&mut self, at: Time, bytes: u64) -> Time {
        let length = self.time(bytes);
        self.calendar.reserve(at, length)
    }

    /// Keeps it busy for `length` as soon as possible from `at` on; answers when that begins.
    #[inline]
    pub(crate) fn hold(&mut self, at: Time, length: Time) -> Time {
        self.calendar.reserve(at, length)
    }
}
