//! One channel of a memory: a controller and its device.

use prestore_machine::Controller;
use prestore_machine::device as described;
use prestore_trace::Bytes;

use super::any::AnyDevice;
use super::controller::{BatchedWrites, ContendedWrites, Slots};
use super::counters::ChannelCounters;
use super::device::{self, Device};
use super::pipe::Pipe;
use crate::Time;

/// A channel. Addresses are those of its device.
#[derive(Debug)]
pub(crate) struct Channel {
    device: AnyDevice,
    /// From the caches to the controller with a read, and back with its data: the two halves of
    /// the controller's read latency.
    there: Time,
    back: Time,
    /// From the caches to acceptance of a write.
    accept: Time,
    reads: Slots,
    writes: Writes,
    bus: Option<Pipe>,
    /// Until when all that was sent to the device keeps it.
    idle: Time,
    line: u64,
    whole: u128,
    counters: ChannelCounters,
}

/// How writes wait.
#[derive(Debug)]
enum Writes {
    /// Until there are enough of them (DRAM, PCM).
    Batched(BatchedWrites),
    /// Only for their turn: the device orders them itself (CXL, FPGA).
    InOrder(Slots),
    /// The same, and the controller merges and mixes them (Optane).
    Contended(ContendedWrites),
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
            device,
            there,
            back: read - there,
            accept: Time::nanos(controller.write_latency),
            reads: Slots::new(controller.read_queue),
            writes: match kind {
                described::Device::Dram(_) | described::Device::Pcm(_) => {
                    Writes::Batched(BatchedWrites::new(controller))
                }
                described::Device::Optane(optane) => {
                    Writes::Contended(ContendedWrites::new(controller, optane, seed))
                }
                _ => Writes::InOrder(Slots::new(controller.write_queue)),
            },
            bus: controller.bus.map(Pipe::new),
            idle: Time::ZERO,
            line,
            whole: whole_line(line),
            counters: ChannelCounters::default(),
        }
    }

    /// A line is read; answers when its data is at the last cache level.
    #[inline]
    pub(crate) fn read(&mut self, at: Time, addr: u64) -> Time {
        self.counters.reads += 1;
        let came = at + self.there;
        let mut turn = came;
        if let Writes::Contended(writes) = &self.writes {
            turn = came.max(writes.coming(addr));
        }
        if let Writes::Batched(writes) = &mut self.writes {
            self.idle = writes.use_idle_time(came, self.idle, &mut self.device);
            if writes.waiting(addr) == self.whole {
                self.counters.forwarded_reads += 1;
                return came + self.back;
            }
            turn = writes.after_drain(came);
        }
        let start = self.reads.wait(turn);
        self.counters.read_wait += start - came;
        let mut done = self.device.read(start, addr, Bytes(self.line));
        if let Some(bus) = &mut self.bus {
            // The data crosses the bus while the device delivers it.
            let length = bus.time(self.line);
            done = bus.send(done.since(length), self.line) + length;
        }
        self.reads.take(done);
        self.idle = self.idle.max(done);
        done + self.back
    }

    /// Bytes of a line are written; answers when the controller has taken them.
    #[inline]
    pub(crate) fn write(&mut self, at: Time, addr: u64, mask: u128) -> Time {
        self.counters.writes += 1;
        self.counters.written_bytes += u64::from(mask.count_ones());
        let came = at + self.accept;
        let taken = match &mut self.writes {
            Writes::Batched(writes) => {
                self.idle = writes.use_idle_time(came, self.idle, &mut self.device);
                let taken = writes.write(came, addr, mask, &mut self.device);
                self.idle = self.idle.max(writes.drained());
                self.counters.merged_writes += u64::from(taken.merged);
                taken.at
            }
            Writes::InOrder(slots) => {
                let taken = slots.wait(came);
                let sent = match &mut self.bus {
                    Some(bus) => bus.send(taken, device::burst(mask)),
                    None => taken,
                };
                let done = self.device.write(sent, addr, mask);
                slots.take(done);
                self.counters.write_queue_time += done - taken;
                taken
            }
            Writes::Contended(writes) => {
                let sent = writes.write(came, addr, mask, &mut self.bus, &mut self.device);
                self.counters.merged_writes += u64::from(sent.merged);
                self.counters.write_queue_time += sent.left.since(sent.taken);
                self.counters.queue_full += sent.taken - came;
                return sent.taken;
            }
        };
        self.counters.queue_full += taken - came;
        taken
    }

    /// The line's state changes in the device's directory.
    #[inline]
    pub(crate) fn upgrade(&mut self, at: Time, addr: u64) -> Time {
        self.counters.upgrades += 1;
        self.device.upgrade(at, addr)
    }

    /// Writes all that waits to the device, and all that it buffers to its media.
    pub(crate) fn drain(&mut self, at: Time) -> Time {
        let sent = match &mut self.writes {
            Writes::Batched(writes) => writes.finish(at, &mut self.device),
            Writes::InOrder(_) | Writes::Contended(..) => at,
        };
        self.device.drain(sent)
    }

    pub(crate) fn counters(&self) -> ChannelCounters {
        ChannelCounters {
            device: self.device.counters(),
            read_bytes: self.counters.reads * self.line,
            ..self.counters
        }
    }
}

/// The mask of all bytes of a line of `line` bytes (128 at most).
pub(crate) fn whole_line(line: u64) -> u128 {
    u128::MAX >> (128 - line.clamp(1, 128))
}
