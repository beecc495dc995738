//! All memories of a machine.

use std::ops::RangeInclusive;

use prestore_machine::{DirectoryHome, Machine};
use prestore_trace::LineAddr;

use super::address::{Interleave, Pages};
use super::any::AnyDevice;
use super::channel::Channel;
use super::counters::ChannelCounters;
use super::placement::{LineTable, Places};
use crate::{ByteMask, Latencies, MemoryPort, Sent, Time};

/// The memories of a machine: where each line lives, the controllers, the devices.
#[derive(Debug)]
pub struct MemorySystem {
    line_shift: u32,
    places: LineTable<u8>,
    pages: Pages,
    memories: Vec<Memory>,
    /// The directory is on the devices.
    device_directory: bool,
}

/// One memory.
#[derive(Debug)]
struct Memory {
    map: Interleave,
    channels: Vec<Channel>,
    read_latency: Latencies,
}

impl MemorySystem {
    /// The memories of `machine`. `seed` decides what is random in them: the order of pages, the
    /// victims of a device's buffers. All lines are in the default memory until
    /// [`MemorySystem::place`] (or a [`super::Placer`]) says otherwise.
    pub fn new(machine: &Machine, seed: u64) -> Self {
        let line = machine.line.0.max(1);
        let (device_directory, upgrade) = match machine.directory.home {
            DirectoryHome::OnChip => (false, None),
            DirectoryHome::Device { upgrade } => (true, upgrade.map(Time::nanos)),
        };
        let memories = machine.memories.iter().enumerate().map(|(index, m)| {
            let channels = (0..m.channels.max(1)).map(|channel| {
                let seed = seed ^ ((index as u64) << 32 | u64::from(channel) << 16);
                let device = AnyDevice::new(&m.device, upgrade, seed);
                Channel::new(&m.controller, &m.device, device, line, !seed)
            });
            Memory {
                map: Interleave::new(m.interleave.0.max(line), m.channels),
                channels: channels.collect(),
                read_latency: Latencies::EMPTY,
            }
        });
        Self {
            line_shift: line.trailing_zeros(),
            places: LineTable::new(machine.placement.default_memory as u8),
            pages: Pages::new(machine.placement.pages, seed),
            memories: memories.collect(),
            device_directory,
        }
    }

    /// `lines` live in memory `memory` (its index in [`Machine::memories`]) from now on. Their data
    /// does not move: what is written later goes there.
    pub fn place(&mut self, lines: RangeInclusive<u64>, memory: usize) {
        debug_assert!(memory < self.memories.len());
        self.places.set(lines, Some(memory as u8));
    }

    /// `lines` live in the default memory from now on.
    pub fn unplace(&mut self, lines: RangeInclusive<u64>) {
        self.places.set(lines, None);
    }

    /// The memory that `line` lives in.
    pub fn memory_of(&mut self, line: LineAddr) -> usize {
        self.places.get(0, line.0).into()
    }

    /// The memory that `line` lives in, and lines around it that do, too.
    pub(crate) fn around(&self, line: u64) -> (u8, RangeInclusive<u64>) {
        self.places.around(line)
    }

    /// Writes what waits in controllers to the devices and what is buffered in those to their media
    /// (the end of the run), so that all bytes are counted. Answers when that is done.
    pub fn drain(&mut self, at: Time) -> Time {
        let channels = self.memories.iter_mut().flat_map(|m| &mut m.channels);
        let drained = channels.map(|channel| channel.drain(at));
        drained.max().unwrap_or(at)
    }

    /// What the channels of memory `memory` counted.
    pub fn channel_counters(&self, memory: usize) -> Vec<ChannelCounters> {
        let channels = self.memories.get(memory).map_or(&[][..], |m| &m.channels);
        channels.iter().map(Channel::counters).collect()
    }

    /// What each memory counted, all channels together, in the machine's order.
    pub fn counters(&self) -> Vec<ChannelCounters> {
        (0..self.memories.len())
            .map(|memory| {
                let mut sum = ChannelCounters::default();
                for channel in self.channel_counters(memory) {
                    sum.add(&channel);
                }
                sum
            })
            .collect()
    }

    /// Latencies of the reads of memory `memory`, from the last cache level and back.
    pub fn read_latency(&self, memory: usize) -> &Latencies {
        const NONE: &Latencies = &Latencies::EMPTY;
        self.memories.get(memory).map_or(NONE, |m| &m.read_latency)
    }

    /// The memory of `line`, its number, and the address in it.
    #[inline]
    fn locate(&mut self, core: u32, line: LineAddr) -> (&mut Memory, u8, u64) {
        let memory = self.places.get(core, line.0);
        let addr = self.pages.locate(line.0 << self.line_shift);
        (&mut self.memories[memory as usize], memory, addr)
    }
}

impl Places<usize> for MemorySystem {
    fn set(&mut self, lines: RangeInclusive<u64>, memory: Option<usize>) {
        match memory {
            Some(memory) => self.place(lines, memory),
            None => self.unplace(lines),
        }
    }
}

impl MemoryPort for MemorySystem {
    #[inline(always)]
    fn read(&mut self, core: u32, at: Time, line: LineAddr) -> (Time, u8) {
        let (memory, index, addr) = self.locate(core, line);
        let (channel, addr) = memory.map.locate(addr);
        let done = memory.channels[channel].read(at, addr);
        memory.read_latency.record(done - at);
        (done, index)
    }

    #[inline(always)]
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask, _why: Sent) -> Time {
        let (memory, _, addr) = self.locate(core, line);
        let (channel, addr) = memory.map.locate(addr);
        memory.channels[channel].write(at, addr, bytes)
    }

    fn ask(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        let (memory, _, addr) = self.locate(core, line);
        let (channel, _) = memory.map.locate(addr);
        memory.channels[channel].ask(at)
    }

    #[inline]
    fn upgrade(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        if !self.device_directory {
            return at;
        }
        let (memory, _, addr) = self.locate(core, line);
        let (channel, addr) = memory.map.locate(addr);
        memory.channels[channel].upgrade(at, addr)
    }
}
