//! One thread's operations, as a program written for the modes has them.

use prestore_sim::{Op, OpKind};
use prestore_trace::{FenceKind, FlushKind};

use crate::mode::Fit;

/// What is known of a thread since its last fence.
///
/// A fence that stood for a flush goes with it: the one that follows, and the one right in front (nothing between them),
/// which P1's `FLUSH` has. It stays where something else needs it: a flush that stays, non-temporal stores, stores that
/// gather. A fence that has no flush beside it is the program's own and stays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    /// A fence that goes if a flush that goes is next.
    held: Option<Op>,
    /// A flush went, and nothing stands in its place.
    vanished: bool,
    /// A fence must stand in a flush's place; before what comes next, if the flush was one that needs no fence.
    owed: Option<FlushKind>,
    /// Stores of the range gather.
    gathered: bool,
    /// Flushes that stayed, and non-temporal stores of the program's own.
    kept: bool,
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub flushes: u64,
    pub fences: u64,
}

impl Thread {
    /// A flush of a line that `fit` is said of.
    pub fn flush(&mut self, op: Op, kind: FlushKind, fit: Fit, out: &mut Vec<Op>) -> Gone {
        if fit == Fit::Flush {
            self.pass(op, out);
            self.kept = true;
            return Gone::default();
        }
        let fences = u64::from(self.held.take().is_some());
        match fit {
            Fit::Fence => {
                // One that needs no fence is the strictest.
                let strict = self.owed == Some(FlushKind::Clflush);
                self.owed = Some(if strict { FlushKind::Clflush } else { kind });
            }
            _ => self.vanished = true,
        }
        Gone { flushes: 1, fences }
    }

    /// A store fence or a full one.
    pub fn fence(&mut self, op: Op, out: &mut Vec<Op>) -> Gone {
        self.release(out);
        if self.kept || self.owed.is_some() {
            self.reset();
            out.push(op);
        } else if self.vanished && !self.gathered {
            self.reset();
            return Gone {
                flushes: 0,
                fences: 1,
            };
        } else {
            self.held = Some(op);
        }
        Gone::default()
    }

    /// A store; `gathers`: at the core, because of the range's mode. `kept`: as the program's own non-temporal stores do.
    pub fn store(&mut self, op: Op, gathers: bool, kept: bool, out: &mut Vec<Op>) {
        self.settle(op, out);
        self.pass(op, out);
        self.gathered |= gathers;
        self.kept |= kept;
    }

    /// An atomic, which is a fence too.
    pub fn atomic(&mut self, op: Op, out: &mut Vec<Op>) {
        self.release(out);
        self.reset();
        out.push(op);
    }

    /// Something that others may see, or that ends a region.
    pub fn boundary(&mut self, op: Op, out: &mut Vec<Op>) {
        self.settle(op, out);
        self.pass(op, out);
    }

    /// Anything else.
    pub fn pass(&mut self, op: Op, out: &mut Vec<Op>) {
        self.release(out);
        out.push(op);
    }

    /// Nothing follows.
    pub fn end(&mut self, out: &mut Vec<Op>) {
        self.release(out);
    }

    /// A flush that needed no fence was persistent before what follows it.
    fn settle(&mut self, next: Op, out: &mut Vec<Op>) {
        if self.owed == Some(FlushKind::Clflush) {
            self.release(out);
            self.reset();
            out.push(Op {
                addr: 0,
                size: 0,
                kind: OpKind::Fence(FenceKind::Full),
                ..next
            });
        }
    }

    fn release(&mut self, out: &mut Vec<Op>) {
        if let Some(held) = self.held.take() {
            self.reset();
            out.push(held);
        }
    }

    fn reset(&mut self) {
        *self = Self::default();
    }
}
