//! Writes to DRAM and PCM: they wait until there are enough of them, and go out row by row.

use prestore_machine::{Controller, WriteOrder};

use super::pending::{Pending, PendingWrites};
use super::queue::{Path, Taken, WriteQueue};
use crate::Time;
use crate::memory::any::AnyDevice;
use crate::memory::device::Device;

/// A write pending queue with thresholds.
///
/// Reads go first until `drain_high` lines wait. Then the controller writes until `drain_low` are
/// left and serves no read meanwhile (reads that came before go first). Lines of one row leave
/// together. When the device is idle, lines above `drain_low` leave one by one, oldest first; those
/// that are left stay and may be merged with, until more come or the run ends (gem5's memory
/// controller, which P4 used, does the same). Where the machine says how many writes make it worth while to turn
/// the bus round, so many leave together, whether because of the threshold or because the device is idle.
/// Where it says so, those of them go first whose row is open, then those whose bank is ready first.
#[derive(Clone, Debug)]
pub(crate) struct BatchedWrites {
    pending: PendingWrites,
    /// When the lines on their way to the device have left the queue.
    leaving: Vec<Time>,
    capacity: usize,
    high: usize,
    low: usize,
    /// Lines that leave together at least.
    least: Option<usize>,
    order: WriteOrder,
    /// The last drain.
    drain: (Time, Time),
    batch: Vec<Pending>,
}

impl BatchedWrites {
    pub(crate) fn new(c: &Controller) -> Self {
        let capacity = c.write_queue.max(1) as usize;
        let high = (c.drain_high as usize).clamp(1, capacity);
        Self {
            pending: PendingWrites::new(),
            leaving: Vec::new(),
            capacity,
            high,
            low: (c.drain_low as usize).min(high - 1),
            least: c.drain_batch.map(|lines| lines.max(1) as usize),
            order: c.write_order,
            drain: (Time::ZERO, Time::ZERO),
            batch: Vec::new(),
        }
    }

    /// Bytes of the line at `addr` that wait.
    #[inline]
    fn waiting(&mut self, addr: u64) -> u128 {
        self.pending.find(addr).map_or(0, |line| line.mask)
    }

    /// When a read that comes at `at` has its turn.
    #[inline]
    fn after_drain(&self, at: Time) -> Time {
        if at >= self.drain.0 {
            at.max(self.drain.1)
        } else {
            at
        }
    }

    /// Uses the time before `now` in which the device, idle from `idle` on, had nothing to do.
    /// Answers until when it is busy.
    #[inline]
    fn use_idle_time(&mut self, now: Time, mut idle: Time, device: &mut AnyDevice) -> Time {
        if let Some(least) = self.least {
            return self.use_idle_time_for(least, now, idle, device);
        }
        while self.pending.len() > self.low {
            let Some(oldest) = self.pending.oldest() else {
                break;
            };
            let start = idle.max(oldest.since);
            if start >= now {
                break;
            }
            self.pending.pop();
            idle = device.write(start, oldest.addr, oldest.mask);
            self.leaving.push(idle);
        }
        idle
    }

    /// The same, in batches of `least` lines, each begun when one line more waits than may.
    fn use_idle_time_for(
        &mut self,
        least: usize,
        now: Time,
        mut idle: Time,
        device: &mut AnyDevice,
    ) -> Time {
        while let Some(one_more) = self.pending.nth(self.low) {
            let start = idle.max(one_more.since);
            if start >= now {
                break;
            }
            idle = self.issue(start, least, device);
            self.drain = (start, idle);
        }
        idle
    }

    /// Takes a line that comes at `at`; drains if it is one too many.
    fn add(&mut self, at: Time, addr: u64, mask: u128, device: &mut AnyDevice) -> Taken {
        if let Some(line) = self.pending.find(addr) {
            line.mask |= mask;
            return Taken {
                at: at.max(line.since),
                left: at.max(line.since),
                merged: true,
            };
        }
        let since = self.room(at);
        self.pending.push(Pending { addr, mask, since });
        if self.pending.len() >= self.high {
            let count = self.least.unwrap_or(self.pending.len() - self.low);
            let until = self.issue(since, count, device);
            self.drain = (since, until);
        }
        Taken {
            at: since,
            left: since,
            merged: false,
        }
    }

    /// Issues `count` lines from `at` on. Answers when the device is done with them.
    fn issue(&mut self, at: Time, count: usize, device: &mut AnyDevice) -> Time {
        match self.order {
            WriteOrder::Rows => self.issue_by_row(at, count, device),
            WriteOrder::FrFcfs => self.issue_ready(at, count, device),
        }
    }

    fn issue_by_row(&mut self, at: Time, count: usize, device: &mut AnyDevice) -> Time {
        let mut batch = std::mem::take(&mut self.batch);
        self.pending
            .take_by_row(count, |addr| device.row(addr), &mut batch);
        let mut until = at;
        for line in &batch {
            let done = device.write(at.max(line.since), line.addr, line.mask);
            self.leaving.push(done);
            until = until.max(done);
        }
        self.batch = batch;
        until
    }

    fn issue_ready(&mut self, at: Time, count: usize, device: &mut AnyDevice) -> Time {
        let (mut until, mut row) = (at, None);
        for _ in 0..count {
            let next = self.pending.take_first_by(|line| {
                let (opens, ready) = device.readiness(at, line.addr);
                (row != Some(device.row(line.addr)), opens, ready)
            });
            let Some(line) = next else {
                break;
            };
            row = Some(device.row(line.addr));
            let done = device.write(at.max(line.since), line.addr, line.mask);
            self.leaving.push(done);
            until = until.max(done);
        }
        until
    }

    /// When there is room for a line that comes at `at`.
    fn room(&mut self, at: Time) -> Time {
        if self.pending.len() + self.leaving.len() < self.capacity {
            return at;
        }
        self.leaving.retain(|left| *left > at);
        if self.pending.len() + self.leaving.len() < self.capacity {
            return at;
        }
        // `high` is at most the capacity, so that some of them are on their way.
        let first = (0..self.leaving.len()).min_by_key(|i| self.leaving[*i]);
        first.map_or(at, |i| self.leaving.swap_remove(i))
    }
}

impl WriteQueue for BatchedWrites {
    #[inline]
    fn write(&mut self, came: Time, addr: u64, mask: u128, to: &mut Path) -> Taken {
        to.idle = self.use_idle_time(came, to.idle, &mut to.device);
        let taken = self.add(came, addr, mask, &mut to.device);
        to.idle = to.idle.max(self.drain.1);
        taken
    }

    #[inline]
    fn turn(&mut self, came: Time, addr: u64, whole: u128, to: &mut Path) -> Option<Time> {
        to.idle = self.use_idle_time(came, to.idle, &mut to.device);
        let is_here = self.waiting(addr) == whole;
        (!is_here).then(|| self.after_drain(came))
    }

    fn finish(&mut self, at: Time, to: &mut Path) -> Time {
        self.issue(at, self.pending.len(), &mut to.device)
    }
}
