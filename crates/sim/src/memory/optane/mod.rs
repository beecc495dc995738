//! An Optane DIMM (100 series).
//!
//! ```text
//! controller --64 B lines--> line queue --> combining buffer --256 B units--> media
//!            <-------------- read buffer <----------------------------------
//! ```
//!
//! - The **combining buffer** holds units until all of their lines have come. A whole unit that has
//!   settled goes to the media when these have time; a partial one stays until another needs its
//!   place. (OptaneStudy: halves of up to 72 units find each other.)
//! - Written lines come through the **line queue**. While the buffer has room, or the media keep up,
//!   they pass at once. Otherwise they wait for the media, lines of one unit that meet there leave
//!   together, and what leaves goes to the media as it is: under pressure nothing is kept in the hope
//!   of more. (OptaneStudy: eight saturating threads write a third of the units in parts.)
//! - A partial unit needs a read-modify-write on the **media**, which work in units.
//! - A unit being written to the media cannot be read before that is done, nor written there again:
//!   lines that come for it meanwhile gather in the buffer.
//! - A whole unit whose block is written elsewhere is closed: it is handed to the media as soon as
//!   these have time, and a line that rewrites it waits for that. One that is not closed and is
//!   rewritten all the time is copied there now and then; a part stays.
//! - Reads that wait are served in no particular order, so that streams of several cores mix at random
//!   (of writes the controller sees to that).

mod buffer;
mod lines;
mod media;
mod presence;
mod queue;
mod read_buffer;
mod store;
#[cfg(test)]
mod tests;
mod wear;
mod write_queue;
mod writing;

pub(crate) use write_queue::OptaneWrites;

use prestore_machine::device::Optane;
use prestore_trace::Bytes;

use self::lines::{LINE, Lines};
use self::media::Media;
use self::read_buffer::ReadBuffer;
use self::store::Store;
use super::pipe::Pipe;
use super::{Device, DeviceCounters};
use crate::Time;
use crate::divide::Divisor;
use crate::random::Random;

/// One Optane DIMM; [`prestore_machine::device::Optane`] says what its numbers are.
#[derive(Debug)]
pub struct OptaneDimm {
    unit: Divisor,
    read_hit: Time,
    background: f64,
    bus: Pipe,
    store: Store,
    reads: ReadBuffer,
    media: Media,
    random: Random,
    latest: Time,
    read_bytes: u64,
    write_bytes: u64,
}

impl OptaneDimm {
    /// A DIMM; `seed` decides its random evictions and the order of those who wait.
    pub fn new(config: &Optane, seed: u64) -> Self {
        let unit = config.unit.0.clamp(LINE, 64 * LINE);
        Self {
            unit: Divisor::new(unit),
            read_hit: Time::nanos(config.read_hit),
            background: config.background_write.0,
            bus: Pipe::new(config.bus),
            store: Store::new(config, unit, seed),
            reads: ReadBuffer::new(config.read_buffer.0 / unit),
            media: Media::new(config),
            random: Random::new(!seed),
            latest: Time::ZERO,
            read_bytes: 0,
            write_bytes: 0,
        }
    }

    fn advance(&mut self, now: Time) {
        self.latest = self.latest.max(now);
        self.store.advance(now, &mut self.media);
    }

    fn read_line(&mut self, at: Time, addr: u64) -> Time {
        // Writes have a rate of their own, `accept`, far below the bus's.
        let asked = self.bus.send(at, LINE) + self.bus.time(LINE);
        let (unit, line) = self.place(addr);
        let free = self.store.readable(asked, unit);
        if self.store.read(asked, unit, line) {
            return free + self.read_hit;
        }
        // What the buffer serves keeps no write of the media waiting.
        self.media.line_read(asked);
        let (start, ready) = match self.reads.ready(unit, line) {
            Some((start, ready)) => (start.clamp(asked, ready.max(asked)), ready.max(asked)),
            None => {
                let (start, ready) = self.media.read(asked, unit, free);
                self.reads.insert(unit, start, ready);
                (start.max(free), ready)
            }
        };
        let from = free.min(start);
        self.wait(from, start) + ready.since(start) + self.read_hit
    }

    fn write_line(&mut self, at: Time, addr: u64, bytes: u64) -> Time {
        let (unit, line) = self.place(addr);
        self.reads.written(unit, line);
        let lines = Lines::of(line, bytes);
        self.store.write(at, unit, lines, &mut self.media)
    }

    /// The end of a wait from `from` that would be over at `until` if who came first were served
    /// first: served in no particular order, it is as long in the mean.
    fn wait(&mut self, from: Time, until: Time) -> Time {
        from + Time(self.random.below(2 * until.since(from).0 + 1))
    }

    /// Unit of an address, and line in it.
    fn place(&self, addr: u64) -> (u64, u32) {
        let (unit, within) = self.unit.split(addr);
        (unit, (within / LINE) as u32)
    }
}

impl Device for OptaneDimm {
    fn read(&mut self, at: Time, addr: u64, bytes: Bytes) -> Time {
        self.advance(at);
        let (first, last) = (addr / LINE, (addr + bytes.0.max(1) - 1) / LINE);
        let mut done = at;
        for line in first..=last {
            self.read_bytes += LINE;
            done = done.max(self.read_line(at, line * LINE));
        }
        done
    }

    fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.advance(at);
        let mut taken = at;
        for (i, bytes) in [mask as u64, (mask >> 64) as u64].into_iter().enumerate() {
            if bytes != 0 {
                self.write_bytes += LINE;
                let addr = (addr / LINE + i as u64) * LINE;
                taken = taken.max(self.write_line(at, addr, bytes));
            }
        }
        taken
    }

    fn drain(&mut self, at: Time) -> Time {
        self.advance(at);
        self.store.drain(at, &mut self.media)
    }

    fn counters(&self) -> DeviceCounters {
        DeviceCounters {
            read_bytes: self.read_bytes,
            write_bytes: self.write_bytes,
            media_read_bytes: self.media.read_bytes(),
            media_write_bytes: self.media.written_units() * self.unit.by(),
            background_write_bytes: (self.latest.0 as f64 * self.background / 1e3) as u64,
            read_modify_writes: self.media.read_modify_writes(),
            row_writes: self.media.written_units(),
            ..DeviceCounters::default()
        }
    }
}
