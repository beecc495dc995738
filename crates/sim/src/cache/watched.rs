//! What is told to who watches the private caches, and what that one wants done.

use prestore_trace::LineAddr;

use super::hierarchy::Hierarchy;
use super::write_back::Keep;
use crate::doors::{Asks, Changed, Departure, Left, Probe, Request};
use crate::{ByteMask, MemoryPort, Stored, Time};

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// A copy of `line` left `level` of `core`, or its `dirty` bytes did.
    #[inline]
    pub(super) fn left(
        &mut self,
        level: usize,
        core: u32,
        line: u64,
        dirty: ByteMask,
        why: Left,
        at: Time,
    ) {
        if P::ACTIVE && level < self.privates {
            self.probe.left(&Departure {
                core,
                level: level as u8,
                at,
                line: LineAddr(line),
                dirty,
                why,
            });
        }
    }

    /// Stores changed `line`, done at `at`: what is to be done about it is done then.
    pub(super) fn changed(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        how: Changed,
        by: &[Stored],
    ) {
        let orders = self.probe.changed(core, at, line, how, by);
        if let Some(hint) = orders.hint {
            self.memory.hint(core, at, hint);
        }
        if let Some(stays) = orders.write_back {
            let keep = match stays {
                true => Keep::InPlace,
                false => Keep::Nowhere,
            };
            let flushed = self.write_back(core, at, line.0, keep);
            self.probe.written_back(core, line, flushed);
        }
    }

    /// Does a core that would lose `line`, or its permission to write it, refuse? Answers when all that do may be
    /// asked again.
    pub(super) fn ask_holders(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        asks: Asks,
    ) -> Option<Time> {
        let others = self.directory.get(line.0).others(core);
        if !P::ACTIVE || (asks.leaves_shared_alone() && !others.exclusive) {
            return None;
        }
        let request = Request {
            by: core,
            at,
            line,
            asks,
        };
        let again = others
            .each()
            .filter_map(|holder| self.probe.refuses(holder, &request));
        let again = again.max().filter(|again| *again > at);
        self.counters.coherence.refused += u64::from(again.is_some());
        again
    }
}
