//! Rows of loads and stores, of which the loop need not know.

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
}
