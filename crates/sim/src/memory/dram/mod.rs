//! DRAM: banks with row buffers behind a data bus.
//!
//! A read of an open row takes tCL and the burst; of a closed bank tRCD more; where another row is
//! open tRP more. A bank is busy while a row is opened and for the time of the burst, so that
//! accesses of an open row stream at the bus's rate. tWR after a write holds up the closing of its
//! row. Writes use tCL as their column latency. A write of part of a line masks the other bytes (as
//! DDR's data mask does): no read is needed. Refresh and what a scheduler cannot avoid are in
//! `efficiency`: a burst occupies the bus for its time divided by it.

mod bank;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

use prestore_machine::device::{Dram as Parameters, PagePolicy};
use prestore_trace::Bytes;

use self::bank::Bank;
use super::device::{Device, DeviceCounters};
use super::pipe::Pipe;
use super::rows::Rows;
use super::turnaround::{Direction, Turnaround};
use crate::Time;

/// One channel of DRAM.
#[derive(Clone, Debug)]
pub(crate) struct Dram {
    rows: Rows,
    timing: Timing,
    banks: Vec<Bank>,
    bus: Pipe,
    turnaround: Turnaround,
    /// The bus at its full rate, for a burst's own duration.
    rate: Pipe,
    counters: DeviceCounters,
}

/// Durations of a bank.
#[derive(Clone, Copy, Debug)]
struct Timing {
    t_rcd: Time,
    t_cl: Time,
    t_rp: Time,
    t_wr: Time,
    policy: PagePolicy,
}

impl Dram {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let p = parameters;
        Self {
            rows: Rows::hashed(p.row.0, p.banks),
            timing: Timing {
                t_rcd: Time::nanos(p.t_rcd),
                t_cl: Time::nanos(p.t_cl),
                t_rp: Time::nanos(p.t_rp),
                t_wr: Time::nanos(p.t_wr),
                policy: p.policy,
            },
            banks: vec![Bank::new(); p.banks.max(1) as usize],
            bus: Pipe::slowed(p.bandwidth, p.efficiency.0),
            turnaround: Turnaround::new(Time::nanos(p.t_wtr), Time::nanos(p.t_rtw)),
            rate: Pipe::new(p.bandwidth),
            counters: DeviceCounters::default(),
        }
    }

    /// Moves `bytes` of one row; answers when the last of them are across the bus.
    #[inline]
    fn access(&mut self, direction: Direction, at: Time, addr: u64, bytes: u64) -> Time {
        let place = self.rows.locate(addr);
        let occupied = self.bus.time(bytes);
        let burst = self.rate.time(bytes);
        let bank = &mut self.banks[place.bank];
        let column = bank.open(at, place.row, occupied, &self.timing, &mut self.counters);
        let ready = self
            .turnaround
            .earliest(direction, at, column + self.timing.t_cl);
        let from = self.bus.hold(ready, occupied);
        self.turnaround.moved(direction, at, from + occupied);
        let done = from + burst;
        if direction == Direction::Write {
            bank.written(from, done + self.timing.t_wr);
        }
        done
    }
}

impl Device for Dram {
    #[inline]
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        self.counters.read_bytes += bytes.0;
        self.counters.media_read_bytes += bytes.0;
        let mut done = at;
        for (addr, bytes) in self.rows.pieces(addr, bytes.0) {
            done = done.max(self.access(Direction::Read, at, addr, bytes));
        }
        done
    }

    #[inline]
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        let bytes = u64::from(mask.count_ones());
        self.counters.write_bytes += bytes;
        self.counters.media_write_bytes += bytes;
        self.access(Direction::Write, at, addr, super::device::burst(mask))
    }

    fn row(&self, addr: u64) -> u64 {
        self.rows.number(addr)
    }

    fn drain(&mut self, at: Time) -> Time {
        at
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}
