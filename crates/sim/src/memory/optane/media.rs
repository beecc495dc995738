//! The 3D XPoint media: what it can read and write in a time, and what it counts.

use prestore_machine::device::Optane;

use super::wear::Wear;
use crate::Time;
use crate::divide::Divisor;
use crate::memory::calendar::Calendar;

/// When a unit's write to the media takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteSlot {
    /// The media begin; until then the unit can still change.
    pub start: Time,
    /// From here on the unit can be written again.
    pub end: Time,
    /// From here on it can be read: at once if it was read for this write.
    pub readable: Time,
}

/// The media.
///
/// Writes share one budget (power allows so many at once, which makes a rate), reads one of ports.
/// A line that is read takes some of the writes' budget. The read that a partial unit's write needs costs no time
/// of its own: OptaneStudy shows the same rate of unit writes with and without it.
#[derive(Debug)]
pub(super) struct Media {
    unit: u64,
    write_time: Time,
    write_latency: Time,
    /// Time in which the units that may be handed over ahead are written.
    ahead: Time,
    writes: Calendar<64>,
    read_time: Time,
    read_latency: Time,
    read_delays_write: Time,
    ports: Vec<Calendar<32>>,
    port: Divisor,
    wear: Option<Wear>,
    read_units: u64,
    written_units: u64,
    read_modify_writes: u64,
}

impl Media {
    pub(super) fn new(config: &Optane) -> Self {
        let unit = config.unit.0;
        let ports = config.read_ports.max(1);
        let port_rate = config.media_read.0 / f64::from(ports);
        Self {
            unit,
            write_time: Time::transfer(unit, config.media_write.0),
            write_latency: Time::nanos(config.write_latency),
            ahead: Time(
                Time::transfer(unit, config.media_write.0).0 * u64::from(config.media_queue),
            ),
            writes: Calendar::new(),
            read_time: Time::transfer(unit, port_rate),
            read_latency: Time::nanos(config.read_miss).since(Time::nanos(config.read_hit)),
            read_delays_write: Time::nanos(config.read_delays_write),
            ports: vec![Calendar::new(); ports as usize],
            port: Divisor::new(u64::from(ports)),
            wear: config
                .migration
                .map(|m| Wear::new(m, config.block.0 / unit)),
            read_units: 0,
            written_units: 0,
            read_modify_writes: 0,
        }
    }

    /// `unit` will be written soon.
    #[inline]
    pub(super) fn soon(&self, unit: u64) {
        if let Some(wear) = &self.wear {
            wear.soon(unit);
        }
    }

    /// Reads `unit` at `at` or later, and not before `not_before` (the end of its write), for which
    /// other units do not wait. Answers when the read begins and when the unit is in the read buffer.
    pub(super) fn read(&mut self, at: Time, unit: u64, not_before: Time) -> (Time, Time) {
        self.read_units += 1;
        // All address bits take part, so that no stride keeps to one port.
        let folded = unit ^ (unit >> 3) ^ (unit >> 7) ^ (unit >> 13);
        let port = &mut self.ports[self.port.remainder(folded) as usize];
        let turn = port.reserve(at, self.read_time);
        let start = self.movable(turn.max(not_before), unit);
        (start, start + self.read_latency)
    }

    /// Writes `unit` at `at` or later, and not before `not_before` (its last write's end), for which
    /// other units do not wait. `whole`: all of it is at hand, nothing is read first.
    pub(super) fn write(
        &mut self,
        at: Time,
        unit: u64,
        whole: bool,
        not_before: Time,
    ) -> WriteSlot {
        self.written_units += 1;
        if !whole {
            self.read_modify_writes += 1;
        }
        let start = self.writes.reserve(at, self.write_time);
        let start = self.movable(start.max(not_before), unit);
        if let Some(wear) = &mut self.wear {
            wear.written(start + self.write_latency, unit);
        }
        let end = start + self.write_latency;
        WriteSlot {
            start,
            end,
            readable: if whole { end } else { Time::ZERO },
        }
    }

    /// A line is read from the read buffer or the media: writes that wait do so a little longer.
    pub(super) fn line_read(&mut self, at: Time) {
        if self.writes.find(at, Time::ZERO) > at {
            self.writes.reserve(at, self.read_delays_write);
        }
    }

    /// When, from `at` on, fewer than the units handed over ahead are waiting, so that another can be.
    pub(super) fn room(&self, at: Time) -> Time {
        let turn = self.writes.find(at, self.write_time);
        at.max(turn.since(self.ahead))
    }

    /// When `unit` can be accessed: after its block's move, if it is being moved.
    fn movable(&self, at: Time, unit: u64) -> Time {
        match &self.wear {
            Some(wear) => wear.movable(at, unit),
            None => at,
        }
    }

    /// Bytes read, those before writes of partial units included.
    pub(super) fn read_bytes(&self) -> u64 {
        (self.read_units + self.read_modify_writes) * self.unit
    }

    /// Units written.
    pub(super) fn written_units(&self) -> u64 {
        self.written_units
    }

    /// Writes of units of which only a part was at hand.
    pub(super) fn read_modify_writes(&self) -> u64 {
        self.read_modify_writes
    }
}
