//! What an operation means for other threads and for what is measured, once its core has executed it.

use super::Run;
use crate::doors::Agents;
use crate::engine::error::SimulationError;
use crate::engine::handoffs::Pledge;
use crate::engine::pipeline::{Pipeline, Uncore};
use crate::engine::sampled::TICK;
use crate::engine::source::Source;
use crate::{Op, OpKind, Time};

/// How the thread's turn goes on.
pub(super) enum Next {
    /// Unless its time is up.
    Look,
    /// With the next operation, whatever the time.
    Go,
    /// It waits, for a hand-off or a lock.
    Rest,
    /// Not: it ends here.
    Stop,
}

impl<S: Source, P: Pipeline, U: Uncore, A: Agents> Run<'_, S, P, U, A> {
    /// `began`: when the operation before `op` did.
    #[inline(always)]
    pub(super) fn behind(
        &mut self,
        t: usize,
        op: &Op,
        began: Time,
    ) -> Result<Next, SimulationError<S::Error>> {
        match op.kind {
            OpKind::Load if !self.threads[t].unread.is_empty() => self.messages_read(t),
            OpKind::HandOff | OpKind::Release => {
                let pledge = self.pledge_of(t, op, began);
                self.is_passed(t, began);
                self.pledge(t, pledge);
                return Ok(Next::Go);
            }
            OpKind::Acquire => {
                let thread = &mut self.threads[t];
                let now = thread.core.now();
                let Some(free) = self.locks.acquire(op.addr, t as u32, now) else {
                    thread.parked = true;
                    return Ok(Next::Rest);
                };
                thread.core.wait_for_lock(free);
                self.is_passed(t, began);
                return Ok(Next::Go);
            }
            OpKind::Await => {
                let thread = &mut self.threads[t];
                let Some(published) = self.handoffs.await_by(op.addr, t as u32) else {
                    thread.parked = true;
                    return Ok(Next::Rest);
                };
                thread.core.wait_until(published.visible);
                thread.unread.push(published);
            }
            OpKind::RegionBegin if op.addr == TICK && self.unit.is_some() => {
                let now = self.threads[t].core.now();
                self.is_passed(t, began);
                return Ok(match self.ticked(now, op.size) {
                    true => Next::Stop,
                    false => Next::Go,
                });
            }
            OpKind::RegionBegin | OpKind::RegionEnd => self.region(t, op),
            OpKind::Alloc { .. } | OpKind::Free => self.allocation(t, op)?,
            _ => {}
        }
        Ok(Next::Look)
    }

    /// The thread is past an operation that takes no time of its own: the one before is the last that began.
    fn is_passed(&mut self, t: usize, began: Time) {
        let thread = &mut self.threads[t];
        thread.last_began = began;
        thread.advance();
    }

    fn pledge_of(&self, t: usize, op: &Op, began: Time) -> Pledge {
        let regions = &self.threads[t].regions;
        match op.kind {
            OpKind::HandOff => Pledge::HandOff {
                number: op.addr,
                begun: regions.last().copied().unwrap_or(began),
                message: !regions.is_empty(),
            },
            _ => Pledge::Release(op.addr),
        }
    }

    fn region(&mut self, t: usize, op: &Op) {
        let thread = &mut self.threads[t];
        let now = thread.core.now();
        if op.kind == OpKind::RegionBegin {
            thread.regions.push(now);
            self.window.region_begins(t as u32, op.addr);
        } else {
            thread.regions.pop();
            self.window.region_ends(t as u32, op.addr);
        }
        self.measure(now);
    }

    fn allocation(&mut self, t: usize, op: &Op) -> Result<(), SimulationError<S::Error>> {
        let now = self.threads[t].core.now();
        if op.kind == OpKind::Free {
            self.uncore.freed(t as u32, now, op.addr);
            return Ok(());
        }
        self.uncore.allocated(t as u32, now, op);
        // A unit does not know what was returned before it.
        match self.uncore.overfull() {
            Some(memories) if self.unit.is_none() => Err(SimulationError::TooMuchMemory {
                machine: String::new(),
                memories,
            }),
            _ => Ok(()),
        }
    }
}
