//! Phase-change memory: row buffers that are written back to the array when they are closed.
//!
//! An access of an open row takes its column latency and the burst. Otherwise the bank first closes
//! the row it has: a clean one in tRP, a dirty one in tWR, in which its dirty bytes (and only those)
//! are written to the array, one row write (P4, section 4.5.1). Where recovery is behind the data, they are written
//! tWR after the last of them came, and any row is closed in tRP, not before that. Then the wanted
//! row is read into the buffer in tRCD; at most four rows are opened within tFAW. Rows stay open.

mod bank;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
mod window;

use prestore_machine::device::{Pcm as Parameters, Recovery};
use prestore_trace::Bytes;

use self::bank::Bank;
use self::window::ActivationWindow;
use super::device::{Device, DeviceCounters, burst};
use super::pipe::Pipe;
use super::rows::{Place, Rows};
use super::turnaround::{Direction, Turnaround};
use crate::Time;

/// One channel of PCM.
#[derive(Clone, Debug)]
pub(crate) struct Pcm {
    rows: Rows,
    timing: Timing,
    banks: Vec<Bank>,
    window: ActivationWindow,
    bus: Pipe,
    turnaround: Turnaround,
    counters: DeviceCounters,
}

/// Durations of a bank.
#[derive(Clone, Copy, Debug)]
struct Timing {
    t_rcd: Time,
    t_cl: Time,
    t_cwd: Time,
    t_rp: Time,
    t_wr: Time,
    recovery: Recovery,
}

impl Pcm {
    pub(crate) fn new(parameters: &Parameters) -> Self {
        let p = parameters;
        let row_words = p.row.0.div_ceil(64) as usize;
        Self {
            rows: Rows::plain(p.row.0, p.banks),
            timing: Timing {
                t_rcd: Time::nanos(p.t_rcd),
                t_cl: Time::nanos(p.t_cl),
                t_cwd: Time::nanos(p.t_cwd),
                t_rp: Time::nanos(p.t_rp),
                t_wr: Time::nanos(p.t_wr),
                recovery: p.recovery,
            },
            banks: vec![Bank::new(row_words); p.banks.max(1) as usize],
            window: ActivationWindow::new(p.t_faw.map(Time::nanos)),
            bus: Pipe::new(p.bandwidth),
            turnaround: Turnaround::new(Time::nanos(p.t_wtr), Time::ZERO),
            counters: DeviceCounters::default(),
        }
    }

    /// Opens the row of `place`; answers when its column can be addressed for `occupied`.
    #[inline]
    fn open(&mut self, mut at: Time, place: Place, occupied: Time) -> Time {
        let bank = &mut self.banks[place.bank];
        if bank.is_open(place.row) {
            self.counters.row_hits += 1;
            return bank.hold(at, occupied);
        }
        let close = match bank.close() {
            None => {
                self.counters.row_misses += 1;
                Time::ZERO
            }
            Some(dirty) => {
                self.counters.row_conflicts += 1;
                self.counters.media_write_bytes += dirty;
                self.counters.row_writes += u64::from(dirty > 0);
                let behind = self.timing.recovery == Recovery::BehindData;
                if behind {
                    at = bank.may_close(at);
                }
                if dirty > 0 && !behind {
                    self.timing.t_wr
                } else {
                    self.timing.t_rp
                }
            }
        };
        self.counters.media_read_bytes += self.rows.row_bytes();
        bank.set_open(place.row);
        let before = close + self.timing.t_rcd;
        // The window is about opening, which comes after closing.
        let opens = bank.free(at, before + occupied) + close;
        let start = self.window.activate(opens) - close;
        bank.hold(start, before + occupied) + before
    }

    /// Moves `bytes` of one row; answers when they are across the bus.
    #[inline]
    fn access(&mut self, direction: Direction, at: Time, place: Place, bytes: u64) -> Time {
        let occupied = self.bus.time(bytes);
        let column = self.open(at, place, occupied);
        let latency = match direction {
            Direction::Read => self.timing.t_cl,
            Direction::Write => self.timing.t_cwd,
        };
        let ready = self.turnaround.earliest(direction, at, column + latency);
        let from = self.bus.hold(ready, occupied);
        self.turnaround.moved(direction, at, from + occupied);
        from + occupied
    }
}

impl Device for Pcm {
    #[inline]
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        self.counters.read_bytes += bytes.0;
        let mut done = at;
        for (addr, bytes) in self.rows.pieces(addr, bytes.0) {
            let place = self.rows.locate(addr);
            done = done.max(self.access(Direction::Read, at, place, bytes));
        }
        done
    }

    #[inline]
    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.counters.write_bytes += u64::from(mask.count_ones());
        let place = self.rows.locate(addr);
        let done = self.access(Direction::Write, at, place, burst(mask));
        let bank = &mut self.banks[place.bank];
        bank.dirty(place.offset, mask);
        bank.recovers(at, done + self.timing.t_wr);
        done
    }

    fn row(&self, addr: u64) -> u64 {
        self.rows.number(addr)
    }

    fn readiness(&self, at: Time, addr: u64) -> (bool, Time) {
        let place = self.rows.locate(addr);
        let bank = &self.banks[place.bank];
        if bank.is_open(place.row) {
            return (false, bank.free(at, Time::ZERO));
        }
        let before = self.timing.t_rp + self.timing.t_rcd;
        (true, bank.free(bank.may_close(at), before) + before)
    }

    /// Closes all rows.
    fn drain(&mut self, at: Time) -> Time {
        let mut done = at;
        for bank in &mut self.banks {
            if let Some(dirty) = bank.close().filter(|dirty| *dirty > 0) {
                self.counters.media_write_bytes += dirty;
                self.counters.row_writes += 1;
                done = done.max(match self.timing.recovery {
                    Recovery::AtClose => bank.hold(at, self.timing.t_wr) + self.timing.t_wr,
                    Recovery::BehindData => bank.may_close(at),
                });
            }
        }
        done
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }
}
