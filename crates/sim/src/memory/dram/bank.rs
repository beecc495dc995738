//! A bank of DRAM and its row buffer.

use prestore_machine::device::PagePolicy;

use super::Timing;
use crate::Time;
use crate::memory::calendar::Calendar;
use crate::memory::device::DeviceCounters;

/// One bank.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    busy: Calendar<8>,
    open: Option<u64>,
    /// When the last write's data came, and when its row may be closed.
    last_write: Time,
    recovered: Time,
}

impl Bank {
    pub(super) fn new() -> Self {
        Self {
            busy: Calendar::new(),
            open: None,
            last_write: Time::ZERO,
            recovered: Time::ZERO,
        }
    }

    /// Opens `row` if it is not open; answers when its column can be addressed. `burst`: how long
    /// the column access keeps the bank.
    #[inline]
    pub(super) fn open(
        &mut self,
        at: Time,
        row: u64,
        burst: Time,
        timing: &Timing,
        counters: &mut DeviceCounters,
    ) -> Time {
        let mut at = at;
        let (before, after) = match (timing.policy, self.open) {
            (PagePolicy::Open, Some(open)) if open == row => {
                counters.row_hits += 1;
                (Time::ZERO, Time::ZERO)
            }
            (PagePolicy::Open, Some(_)) => {
                counters.row_conflicts += 1;
                // A call from before the last write is not held up by it.
                if at >= self.last_write {
                    at = at.max(self.recovered);
                }
                (timing.t_rp + timing.t_rcd, Time::ZERO)
            }
            (PagePolicy::Open, None) => {
                counters.row_misses += 1;
                (timing.t_rcd, Time::ZERO)
            }
            (PagePolicy::Closed, _) => {
                counters.row_misses += 1;
                if at >= self.last_write {
                    at = at.max(self.recovered);
                }
                (timing.t_rcd, timing.t_rp)
            }
        };
        if timing.policy == PagePolicy::Open {
            self.open = Some(row);
        }
        self.busy.reserve(at, before + burst + after) + before
    }

    /// Data was written: the row may not be closed before `recovered`.
    #[inline]
    pub(super) fn written(&mut self, at: Time, recovered: Time) {
        (self.last_write, self.recovered) = (at, recovered);
    }
}
