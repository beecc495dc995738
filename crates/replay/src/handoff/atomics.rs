//! The first reading of a thread: its atomics, and what it does around them.

use prestore_trace::EventKind;
use prestore_trace::block::{Block, Ref, XsaveComponent};
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, each_touch};

use super::neighbours::{Looking, Neighbours};
use super::places::Places;
use super::sections::{LastSites, Roles};

/// Blocks with more references are no loops that wait.
const SPIN_REFS: usize = 4;

/// Notes the addresses of atomics, what their sites are there for, and what threads look at behind them.
pub(super) struct Atomics<'a> {
    pub(super) xsave: &'a [XsaveComponent],
    pub(super) places: &'a mut Places,
    pub(super) roles: &'a mut Roles,
    pub(super) last: &'a mut LastSites,
    pub(super) neighbours: &'a mut Neighbours,
    pub(super) looking: &'a mut Looking,
}

impl ExecSink for Atomics<'_> {
    fn exec(&mut self, _: u64, block: &Block, values: &[u64], executed: u32) {
        let all = self.looking.looks() || block.refs.len() <= SPIN_REFS;
        let is_atomic = |r: &Ref| r.kind == EventKind::AtomicRmw;
        if !all && executed == block.instrs && !block.refs.iter().any(is_atomic) {
            return self.looking.pass(block.refs.len() as u64);
        }
        for r in block.refs.iter().filter(|r| u32::from(r.instr) < executed) {
            if r.kind == EventKind::AtomicRmw {
                each_touch(self.xsave, r, values, |addr, _| {
                    self.places.at(addr);
                    self.roles.atomic(self.last, addr, r.site);
                    self.looking.atomic(self.neighbours, addr);
                });
            } else if !all {
                self.looking.pass(1);
            } else if r.kind == EventKind::Load {
                each_touch(self.xsave, r, values, |addr, _| {
                    self.looking.load(self.neighbours, addr, r.site);
                });
            } else {
                each_touch(self.xsave, r, values, |addr, _| {
                    self.looking.access(self.neighbours, addr);
                });
            }
        }
    }

    fn special(&mut self, _: u64, _: Special) {}
}
