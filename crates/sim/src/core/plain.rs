//! Loads and stores one behind the other: what most operations are, without asking before each what only other
//! operations can change.

use super::pipeline::{Core, NEVER};
use crate::engine::Ran;
use crate::{Below, Op, OpKind, Time};

impl Core {
    /// Is nothing under way that only operations other than loads and stores begin: atomics, non-temporal data, an
    /// operation that was left? If so, it is still behind any number of loads and stores.
    #[inline]
    fn is_quiet(&self) -> bool {
        let any_open = self.combining.as_ref().is_some_and(|c| c.any_open());
        self.atomics.is_empty()
            && self.under.is_new()
            && self.leaves == NEVER
            && !any_open
            && self.fills.combined_until_at_most(self.front.now)
    }

    /// Executes the loads and stores at the beginning of `ops`, each as [`Core::advance`] would, as long as they begin
    /// by `limit`. Before each, `before` is told how many were.
    #[inline(always)]
    pub fn run<B: Below>(
        &mut self,
        ops: &[Op],
        limit: Time,
        below: &mut B,
        mut before: impl FnMut(usize, &B),
    ) -> Ran {
        let mut ran = Ran::default();
        if !self.is_quiet() {
            return ran;
        }
        self.limit = limit;
        for op in ops {
            if !matches!(op.kind, OpKind::Load | OpKind::Store) {
                break;
            }
            before(ran.done, below);
            let began = self.front.now;
            if !self.advance_plainly(op, below) {
                ran.left = Some(began);
                break;
            }
            ran.done += 1;
            ran.began = began;
            if self.is_late() {
                break;
            }
        }
        ran
    }

    /// As [`Core::advance`], with a load or a store, on a core that is quiet.
    #[inline(always)]
    fn advance_plainly<B: Below>(&mut self, op: &Op, below: &mut B) -> bool {
        self.front
            .dispatch(op.instr, &self.params, &mut self.results);
        let until = self.front.now.min(self.limit);
        if until >= self.due {
            self.settle(until, below);
        }
        if self.is_late() {
            return false;
        }
        if B::NAMES {
            self.names.site = op.site;
        }
        let began = self.front.now;
        let done = match op.kind {
            OpKind::Load => self.load::<B, true>(op.addr, op.size, below),
            _ => self.store::<B, true>(op.addr, op.size, below),
        };
        if !done {
            self.under.leave(began);
        }
        done
    }
}
