//! The first reading of a thread: its atomics, and what it does around them.

use prestore_trace::block::{Block, XsaveComponent};
use prestore_trace::container::Trace;
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};
use prestore_trace::{EventKind, ProcessId, ThreadId};

use super::blocks::Blocks;
use super::meets_others;
use super::neighbours::{Looking, Neighbours};
use super::sections::{LastSites, Roles};
use crate::cursor::Cursor;
use crate::{ProcessMemory, SourceError, chosen};

/// Blocks with more references are no loops that wait.
const SPIN_REFS: usize = 4;

/// What it finds.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) roles: Roles,
    pub(super) neighbours: Neighbours,
    last: LastSites,
}

impl Found {
    /// In `thread` of `process`, which is number `number` of those that are read.
    pub(super) fn read(
        trace: &Trace,
        (thread, process): (ThreadId, ProcessId),
        number: u32,
        lenient: bool,
    ) -> Result<Self, SourceError> {
        let mut decoder = chosen::decoder()?;
        let mut found = Self::default();
        let mut looking = Looking::new(number);
        let mut blocks = Blocks::default();
        let mut cursor = Cursor::new(trace, thread, lenient)?;
        while cursor.load(&mut decoder)? {
            let table = cursor.table();
            blocks.are(&table);
            let mut atomics = Atomics {
                xsave: table.xsave(),
                memory: meets_others(trace, process, &table),
                blocks: &mut blocks,
                found: &mut found,
                looking: &mut looking,
            };
            cursor.replay(&mut atomics)?;
        }
        looking.end(&mut found.neighbours);
        Ok(found)
    }

    /// Where it executes atomics.
    pub(super) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.last.addresses()
    }
}

/// Notes the addresses of atomics, what their sites are there for, and what threads look at behind them.
struct Atomics<'a> {
    xsave: &'a [XsaveComponent],
    memory: ProcessMemory<'a>,
    blocks: &'a mut Blocks,
    found: &'a mut Found,
    looking: &'a mut Looking,
}

impl ExecSink for Atomics<'_> {
    fn exec(&mut self, _: u64, block: &Block, values: &[u64], executed: u32) {
        let memory = self.memory;
        let all = self.looking.looks() || block.refs.len() <= SPIN_REFS;
        if !all && executed == block.instrs && !self.blocks.known(block).atomics {
            return self.looking.pass(block.refs.len() as u64);
        }
        for r in block.refs.iter().filter(|r| u32::from(r.instr) < executed) {
            if r.kind == EventKind::AtomicRmw {
                each_touch(self.xsave, r, values, |addr, _| {
                    let addr = memory.place(addr);
                    self.found.roles.atomic(&mut self.found.last, addr, r.site);
                    self.looking.atomic(&mut self.found.neighbours, addr);
                });
            } else if !all {
                self.looking.pass(1);
            } else if r.kind == EventKind::Load {
                each_touch(self.xsave, r, values, |addr, _| {
                    let addr = memory.place(addr);
                    self.looking.load(&mut self.found.neighbours, addr, r.site);
                });
            } else {
                each_touch(self.xsave, r, values, |addr, _| {
                    let addr = memory.place(addr);
                    self.looking.access(&mut self.found.neighbours, addr);
                });
            }
        }
    }

    fn special(&mut self, _: u64, _: Special) {}
}
