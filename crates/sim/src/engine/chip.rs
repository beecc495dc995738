//! Everything below the cores: caches, memories, and where allocations live.

use std::ops::Range;

use prestore_machine::Machine;
use prestore_trace::{FlushKind, LineAddr, SiteId};

use super::accepted::AcceptanceLog;
use super::pipeline::Uncore;
use super::whole_lines::WholeLines;
use crate::cache::{Hierarchy, HierarchyError};
use crate::divide::Divisor;
use crate::memory::{CallSite, Fullness, MemorySystem, Placer, Room};
use crate::results::{FlushCounts, LevelCounts, SystemCounts};
use crate::{Below, ByteMask, Flushed, Op, Served, Time};

/// Tells the functions and lines that a site stands in, innermost first: placement rules name them.
pub type CallSites<'a> = &'a dyn Fn(SiteId) -> Vec<CallSite>;

/// Caches and memories of a machine.
pub struct Chip<'a> {
    hierarchy: Hierarchy<WholeLines<'a>>,
    placer: Placer,
    room: Room,
    /// How full the memories are, if the last allocation did not fit.
    overfull: Option<Vec<Fullness>>,
    sites: CallSites<'a>,
    line: Divisor,
}

impl<'a> Chip<'a> {
    /// Those of `machine`, empty.
    pub fn new(machine: &Machine, seed: u64, sites: CallSites<'a>) -> Result<Self, HierarchyError> {
        let line = machine.line.0;
        let mut memory = MemorySystem::new(machine, seed);
        let placer = Placer::new(&machine.placement, line, &mut memory);
        Ok(Self {
            hierarchy: Hierarchy::new(machine, WholeLines::new(memory, line), seed)?,
            placer,
            room: Room::new(machine),
            overfull: None,
            sites,
            line: Divisor::new(line),
        })
    }

    /// `log` is told of each write that a controller of `machine`, whose chip this is, accepts.
    pub fn log(&mut self, log: AcceptanceLog<'a>, machine: &Machine) {
        let persistent = machine.memories.iter().map(|m| m.controller.persistent);
        self.hierarchy.memory_mut().log(log, persistent.collect());
    }
}

impl Chip<'_> {
    /// A thread's stack lies there.
    pub fn stack(&mut self, addresses: Range<u64>) {
        let bytes = addresses.end.saturating_sub(addresses.start);
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer.stack(addresses.start, bytes, memory);
    }
}

impl Below for Chip<'_> {
    #[inline]
    fn load(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.hierarchy.load(core, at, line)
    }

    #[inline]
    fn owned(&self, core: u32, line: LineAddr) -> bool {
        self.hierarchy.owned(core, line)
    }

    #[inline]
    fn own(&mut self, core: u32, at: Time, line: LineAddr, whole: bool) -> Served {
        self.hierarchy.own(core, at, line, whole)
    }

    #[inline]
    fn write(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time {
        self.hierarchy.write(core, at, line, bytes)
    }

    #[inline]
    fn write_around(&mut self, core: u32, at: Time, line: LineAddr, bytes: ByteMask) -> Time {
        self.hierarchy.memory_mut().in_parts = true;
        let taken = self.hierarchy.write_around(core, at, line, bytes);
        self.hierarchy.memory_mut().in_parts = false;
        taken
    }

    #[inline]
    fn flush(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        kind: FlushKind,
        retain: bool,
    ) -> Flushed {
        self.hierarchy.flush(core, at, line, kind, retain)
    }

    #[inline]
    fn demote(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.hierarchy.demote(core, at, line)
    }
}

impl Uncore for Chip<'_> {
    #[inline]
    fn soon(&self, core: u32, addr: u64) {
        self.hierarchy
            .soon(core, LineAddr(self.line.quotient(addr)));
    }

    fn allocated(&mut self, op: &Op) {
        let sites = self.sites;
        let lookup = || sites(op.site);
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer
            .allocated(op.addr, op.bytes(), op.site, lookup, memory);
        let full = (self.room).allocated(op.addr, op.bytes(), |line| memory.around(line));
        self.overfull = full.map(<[_]>::to_vec);
    }

    fn overfull(&mut self) -> Option<Vec<Fullness>> {
        self.overfull.take()
    }

    fn freed(&mut self, addr: u64) {
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer.freed(addr, memory);
        self.room.freed(addr);
    }

    fn drain(&mut self, at: Time) {
        self.hierarchy.memory_mut().memory.drain(at);
    }

    fn counts(&self) -> SystemCounts {
        let counters = self.hierarchy.counters();
        let memory = &self.hierarchy.memory().memory;
        let levels = (counters.levels.iter())
            .zip(&counters.boundaries)
            .map(|(level, boundary)| LevelCounts {
                load_hits: level.load_hits,
                load_misses: level.load_misses,
                own_hits: level.own_hits,
                own_misses: level.own_misses,
                clean_evictions: level.clean_evictions,
                dirty_evictions: level.dirty_evictions,
                up_bytes: boundary.up_lines * self.line.by(),
                down_bytes: boundary.down_lines * self.line.by(),
            });
        SystemCounts {
            levels: levels.collect(),
            memories: memory.counters().into_iter().map(Into::into).collect(),
            flushes: FlushCounts {
                dirty: counters.flushes.dirty,
                clean: counters.flushes.clean,
                absent: counters.flushes.absent,
            },
        }
    }

    fn read_latencies(&self) -> Vec<crate::results::Latencies> {
        let memory = &self.hierarchy.memory().memory;
        (0..memory.counters().len())
            .map(|index| memory.read_latency(index).clone())
            .collect()
    }
}
