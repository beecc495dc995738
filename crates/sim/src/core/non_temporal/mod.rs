//! Non-temporal stores: they wait to leave the core (`leaving`), gather in write-combining buffers (`combining`), and
//! go past the caches. Stores to write-combining memory take the same way.

mod combining;
mod leaving;

use prestore_machine::MemoryType;
use prestore_trace::LineAddr;

pub(super) use self::combining::Combining;
pub(super) use self::leaving::Leaving;
use super::pipeline::{Core, NEVER};
use super::stalls::Cause;
use crate::{Below, ByteMask, Time};

impl Core {
    /// A non-temporal store gathers in a write-combining buffer; whole lines go at once.
    pub(super) fn nt_store<B: Below>(&mut self, addr: u64, size: u32, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.nt_stores += 1;
        }
        if self.combining.is_none() {
            return self.each_line(addr, size, below, Self::store_line);
        }
        if !self.wait_for_atomics(below) {
            return false;
        }
        self.each_line(addr, size, below, Self::nt_store_line)
    }

    fn nt_store_line<B: Below>(&mut self, line: LineAddr, bytes: ByteMask, below: &mut B) -> bool {
        if B::TYPES && below.memory_type(self.params.id, line) == MemoryType::Uncacheable {
            return self.store_typed(line, bytes, MemoryType::Uncacheable, below);
        }
        self.combine_store(line, bytes, below)
    }

    /// A store gathers in a write-combining buffer. Answers whether it could be queued.
    pub(super) fn combine_store<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> bool {
        // Program order to one address holds.
        if let Some(number) = self.stores.youngest(line) {
            let reached = self.drain_store(line, number, below);
            self.stall(reached, Cause::WriteCombining);
        }
        self.queue_nt_store(line, bytes, below)
    }

    /// Sends `line`'s write-combining buffer, if there is one. Answers when it is taken.
    #[inline(always)]
    pub(super) fn send_combined<B: Below>(&mut self, line: LineAddr, below: &mut B) -> Time {
        let any_open = self.combining.as_ref().is_some_and(Combining::any_open);
        if self.leaves == NEVER && !any_open {
            return Time::ZERO;
        }
        self.send_combined_of(line, below)
    }

    #[inline(never)]
    fn send_combined_of<B: Below>(&mut self, line: LineAddr, below: &mut B) -> Time {
        self.leave_line(line, below);
        let at = self.behind_leaving();
        let (_, combining, mut env) = self.parts(below);
        let Some(combining) = combining else {
            return Time::ZERO;
        };
        match combining.find(line) {
            Some(which) => {
                let taken = combining.send(which, at, &mut env);
                // A flush may wait for its fill buffer.
                self.due_at(at);
                taken
            }
            None => Time::ZERO,
        }
    }
}
