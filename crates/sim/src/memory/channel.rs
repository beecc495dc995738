//! One channel of a memory: a controller and its device.

use prestore_machine::Controller;
use prestore_machine::device as described;
use prestore_trace::Bytes;

use super::any::AnyDevice;
use super::controller::{AnyQueue, Path, Slots, WriteQueue};
use super::counters::ChannelCounters;
use super::device::Device;
use super::pipe::Pipe;
use crate::Time;

/// A channel. Addresses are those of its device.
#[derive(Debug)]
pub(crate) struct Channel {
    path: Path,
    /// From the caches to the controller with a read, and back with its data: the two halves of
    /// the controller's read latency.
    there: Time,
    back: Time,
    /// From the caches to acceptance of a write.
    accept: Time,
    reads: Slots,
    writes: AnyQueue,
    line: u64,
    whole: u128,
    counters: ChannelCounters,
}

impl Channel {
    pub(crate) fn new(
        controller: &Controller,
        kind: &described::Device,
        device: AnyDevice,
        line: u64,
        seed: u64,
    ) -> Self {
        let read = Time::nanos(controller.read_latency);
        let there = Time(read.0 / 2);
        Self {
            path: Path {
                bus: controller.bus.map(Pipe::new),
                device,
                idle: Time::ZERO,
            },
            there,
            back: read - there,
            accept: Time::nanos(controller.write_latency),
            reads: Slots::new(controller.read_queue),
            writes: AnyQueue::new(controller, kind, seed),
            line,
            whole: whole_line(line),
            counters: ChannelCounters::default(),
        }
    }

    /// A line is read; answers when its data is at the last cache level.
    #[inline(always)]
    pub(crate) fn read(&mut self, at: Time, addr: u64) -> Time {
        self.counters.reads += 1;
        let came = at + self.there;
        let Some(turn) = self.writes.turn(came, addr, self.whole, &mut self.path) else {
            self.counters.forwarded_reads += 1;
            return came + self.back;
        };
        let start = self.reads.wait(turn);
        self.counters.read_wait += start - came;
        let mut done = self.path.device.read(start, addr, Bytes(self.line));
        if let Some(bus) = &mut self.path.bus {
            // The data crosses the bus while the device delivers it.
            let length = bus.time(self.line);
            done = bus.send(done.since(length), self.line) + length;
        }
        self.reads.take(done);
        self.path.idle = self.path.idle.max(done);
        done + self.back
    }

    /// Bytes of a line are written; answers when the controller has taken them.
    #[inline(always)]
    pub(crate) fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.counters.writes += 1;
        self.counters.written_bytes += u64::from(mask.count_ones());
        let came = at + self.accept;
        let taken = self.writes.write(came, addr, mask, &mut self.path);
        self.counters.merged_writes += u64::from(taken.merged);
        self.counters.write_queue_time += taken.left.since(taken.at);
        self.counters.queue_full += taken.at - came;
        taken.at
    }

    /// A request that brings nothing, and that takes as long as a write's acceptance.
    pub(crate) fn ask(&self, at: Time) -> Time {
        at + self.accept
    }

    /// The line's state changes in the device's directory.
    #[inline]
    pub(crate) fn upgrade(&mut self, at: Time, addr: u64) -> Time {
        self.counters.upgrades += 1;
        self.path.device.upgrade(at, addr)
    }

    /// Writes all that waits to the device, and all that it buffers to its media.
    pub(crate) fn drain(&mut self, at: Time) -> Time {
        let sent = self.writes.finish(at, &mut self.path);
        self.path.device.drain(sent)
    }

    pub(crate) fn counters(&self) -> ChannelCounters {
        ChannelCounters {
            device: self.path.device.counters(),
            read_bytes: self.counters.reads * self.line,
            ..self.counters
        }
    }
}

/// The mask of all bytes of a line of `line` bytes (128 at most).
pub(crate) fn whole_line(line: u64) -> u128 {
    u128::MAX >> (128 - line.clamp(1, 128))
}
