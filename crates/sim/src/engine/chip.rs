//! Everything below the cores: caches, memories, and where allocations live.

use std::ops::Range;

use prestore_machine::{Machine, MemoryType};
use prestore_trace::{FlushKind, LineAddr, SiteId};

use super::controllers::Controllers;
use super::pipeline::Uncore;
use super::types::Types;
use crate::cache::{Filled, Hierarchy, HierarchyError};
use crate::divide::Divisor;
use crate::doors::{NoProbe, NoStage, Probe, Stage};
use crate::memory::{CallSite, Fullness, MemorySystem, Placer, Room};
use crate::results::{BoundaryBytes, SystemCounts};
use crate::{Asks, Below, ByteMask, Flushed, Op, Served, Stored, Time};

/// Tells the functions and lines that a site stands in, innermost first: placement rules name them.
pub type CallSites<'a> = &'a dyn Fn(SiteId) -> Vec<CallSite>;

/// Caches and memories of a machine, and what is plugged into them. `TYPED`: it may have memory that is not
/// write-back; where not, nobody asks.
pub struct Chip<'a, P = NoProbe, S = NoStage, const TYPED: bool = false> {
    hierarchy: Hierarchy<Controllers<S>, P>,
    placer: Placer,
    /// What decides of memory types, and what it has decided.
    typer: Placer<MemoryType>,
    types: Types,
    room: Room,
    /// How full the memories are, if the last allocation did not fit.
    overfull: Option<Vec<Fullness>>,
    sites: CallSites<'a>,
    line: Divisor,
}

impl<'a, P: Probe, S: Stage, const TYPED: bool> Chip<'a, P, S, TYPED> {
    /// Those of `machine`, empty.
    pub fn new(
        machine: &Machine,
        seed: u64,
        sites: CallSites<'a>,
        (probe, stage): (P, S),
    ) -> Result<Self, HierarchyError> {
        let line = machine.line.0;
        let mut memory = MemorySystem::new(machine, seed);
        let mut types = Types::new();
        let placer = Placer::new(&machine.placement, line, &mut memory);
        let typer = Placer::of_types(&machine.placement, line, &mut types);
        // Nothing is cached yet.
        types.changed();
        let controllers = Controllers::new(machine, memory, stage);
        Ok(Self {
            hierarchy: Hierarchy::probed(machine, controllers, probe, seed)?,
            placer,
            typer,
            types,
            room: Room::new(machine),
            overfull: None,
            sites,
            line: Divisor::new(line),
        })
    }

    /// The caches.
    #[cfg(test)]
    pub fn hierarchy(&self) -> &Hierarchy<Controllers<S>, P> {
        &self.hierarchy
    }

    /// A thread's stack lies there.
    pub fn stack(&mut self, addresses: Range<u64>) {
        let bytes = addresses.end.saturating_sub(addresses.start);
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer.stack(addresses.start, bytes, memory);
        if TYPED {
            self.typer.stack(addresses.start, bytes, &mut self.types);
            self.types.changed();
        }
    }

    /// What is cached of lines whose type has changed goes back to memory first, as the kernel does it.
    fn flush_changed(&mut self, core: u32, at: Time) {
        for lines in self.types.changed() {
            self.hierarchy.flush_all(core, at, lines);
        }
    }
}

impl<P: Probe, S: Stage, const TYPED: bool> Below for Chip<'_, P, S, TYPED> {
    const NAMES: bool = P::ACTIVE;
    const REFUSES: bool = P::ACTIVE;
    const TYPES: bool = TYPED;

    #[inline(always)]
    fn load(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.hierarchy.load(core, at, line)
    }

    #[inline(always)]
    fn owned(&self, core: u32, line: LineAddr) -> bool {
        self.hierarchy.owned(core, line)
    }

    #[inline]
    fn own(&mut self, core: u32, at: Time, line: LineAddr, whole: bool) -> Served {
        self.hierarchy.own(core, at, line, whole)
    }

    #[inline(always)]
    fn write(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.hierarchy.write(core, at, line, bytes, by)
    }

    #[inline(always)]
    fn write_owned(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Option<Time> {
        self.hierarchy.write_owned(core, at, line, bytes, by)
    }

    #[inline]
    fn write_around(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.hierarchy.write_around(core, at, line, bytes, by)
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

    #[inline]
    fn memory_type(&mut self, core: u32, line: LineAddr) -> MemoryType {
        self.types.of(core, line)
    }

    fn write_through(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.hierarchy.write_through(core, at, line, bytes, by)
    }

    fn load_around(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.hierarchy.load_around(core, at, line)
    }

    #[inline]
    fn refused(&mut self, core: u32, at: Time, line: LineAddr, asks: Asks) -> Option<Time> {
        self.hierarchy.refused(core, at, line, asks)
    }
}

impl<P: Probe, S: Stage, const TYPED: bool> Uncore for Chip<'_, P, S, TYPED> {
    #[inline]
    fn soon(&self, core: u32, addr: u64) {
        self.hierarchy
            .soon(core, LineAddr(self.line.quotient(addr)));
    }

    fn filled(&self) -> Filled {
        self.hierarchy.filled()
    }

    fn allocated(&mut self, core: u32, at: Time, op: &Op) {
        let sites = self.sites;
        let lookup = || sites(op.site);
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer
            .allocated(op.addr, op.bytes(), op.site, lookup, memory);
        let full = (self.room).allocated(op.addr, op.bytes(), |line| memory.around(line));
        self.overfull = full.map(<[_]>::to_vec);
        if TYPED {
            self.typer
                .allocated(op.addr, op.bytes(), op.site, lookup, &mut self.types);
            self.flush_changed(core, at);
        }
    }

    fn overfull(&mut self) -> Option<Vec<Fullness>> {
        self.overfull.take()
    }

    fn freed(&mut self, core: u32, at: Time, addr: u64) {
        let memory = &mut self.hierarchy.memory_mut().memory;
        self.placer.freed(addr, memory);
        self.room.freed(addr);
        if TYPED {
            self.typer.freed(addr, &mut self.types);
            self.flush_changed(core, at);
        }
    }

    fn drain(&mut self, at: Time) {
        self.hierarchy.memory_mut().memory.drain(at);
    }

    fn counts(&self) -> SystemCounts {
        let counters = self.hierarchy.counters();
        let memory = &self.hierarchy.memory().memory;
        let line = self.line.by();
        let bytes = |b: &crate::BoundaryCounters| BoundaryBytes {
            up: b.up_lines * line,
            down: (b.down_lines - b.part_lines) * line + b.part_bytes,
        };
        SystemCounts {
            levels: counters.levels.clone(),
            boundaries: counters.boundaries.iter().map(bytes).collect(),
            memories: memory.counters().into_iter().map(Into::into).collect(),
            flushes: counters.flushes,
            coherence: counters.coherence,
            prefetches: counters.prefetches,
        }
    }

    fn read_latencies(&self) -> Vec<crate::results::Latencies> {
        let memory = &self.hierarchy.memory().memory;
        (0..memory.counters().len())
            .map(|index| memory.read_latency(index).clone())
            .collect()
    }
}
