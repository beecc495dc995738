//! Operations that are done, and rows of loads and stores, of which the loop need not know.

use super::super::pipeline::{Pipeline, Uncore};
use super::super::source::Source;
use super::Run;
use crate::Time;
use crate::doors::Agents;

impl<S: Source, P: Pipeline, U: Uncore, A: Agents> Run<'_, S, P, U, A> {
    /// Thread `t` executes the loads and stores that come next, where nothing else has to be done about them. Answers
    /// whether others have their turn now.
    #[inline(always)]
    pub(super) fn run_plainly(&mut self, t: usize, limit: Time) -> bool {
        let thread = &mut self.threads[t];
        if thread.under_way.is_some() || !thread.unread.is_empty() {
            return false;
        }
        let to_warmup = self.plan.warmup.checked_sub(self.ops).filter(|n| *n > 0);
        let most = to_warmup.unwrap_or(u64::MAX);
        let (done, left) = thread.run(most, limit, &mut self.uncore);
        if left {
            self.ops += done;
            self.publish(t);
            return true;
        }
        done > 0 && self.are_done(t, done, limit)
    }

    /// An operation of thread `t` is done. Answers whether others have their turn now.
    #[inline(always)]
    pub(super) fn is_done(&mut self, t: usize, limit: Time) -> bool {
        self.threads[t].advance();
        self.are_done(t, 1, limit)
    }

    /// So many operations of thread `t` are done, none of them behind the end of the warm-up but the last.
    #[inline(always)]
    fn are_done(&mut self, t: usize, done: u64, limit: Time) -> bool {
        self.ops += done;
        if self.ops == self.plan.warmup {
            self.window.pass(self.ops);
            let now = self.threads[t].core.now();
            self.measure(now);
        }
        let late = self.threads[t].core.now() > limit;
        if late {
            self.publish(t);
        }
        late
    }
}
