//! The program, as if it were written for the modes.

use prestore_machine::MemoryModel;
use prestore_sim::{Mechanism, Op, OpKind};
use prestore_trace::FenceKind;

use crate::mode::Fit;
use crate::thread::Thread;
use crate::{Mode, Ranges};

/// What was changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Flushes that went.
    pub flushes: u64,
    /// Fences that went with them.
    pub fences: u64,
    /// Stores that became non-temporal.
    pub stores: u64,
}

/// Rewrites flushes, fences and stores as the modes of ranges need them.
///
/// Under a write-through, uncacheable or battery-backed range flushes go, and the fences that were there for them; under a
/// write-combining one, or with non-temporal stores, a fence stays. What is write-back stays as it is. Instructions that
/// go still issue, which takes a quarter of a cycle each on a core that is four wide.
#[derive(Clone, Debug)]
pub struct Fitted {
    ranges: Ranges,
    modes: Vec<Mode>,
    model: MemoryModel,
    threads: Vec<Thread>,
    touched: Vec<u64>,
    counts: Counts,
    name: String,
}

impl Fitted {
    /// With these modes of the ranges' owners, on cores of this memory model.
    pub fn new(ranges: Ranges, modes: Vec<Mode>, model: MemoryModel) -> Self {
        let words: Vec<&str> = modes.iter().map(|m| m.word()).collect();
        Self {
            touched: vec![0; modes.len()],
            name: format!("types: {}", words.join(", ")),
            ranges,
            modes,
            model,
            threads: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// What was changed so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// An owner whose memory was not loaded or stored so far.
    pub fn untouched(&self) -> Option<usize> {
        self.touched.iter().position(|&accesses| accesses == 0)
    }

    fn mode(&mut self, addr: u64) -> Mode {
        let Some(owner) = self.ranges.owner(addr) else {
            return Mode::WriteBack;
        };
        self.touched[owner] += 1;
        self.modes[owner]
    }

    fn one(&mut self, number: usize, op: Op, out: &mut Vec<Op>) {
        match op.kind {
            OpKind::Load => {
                self.mode(op.addr);
                self.threads[number].pass(op, out);
            }
            OpKind::Store | OpKind::NtStore => {
                let mode = self.mode(op.addr);
                let own = op.kind == OpKind::NtStore;
                let mut op = op;
                if mode == Mode::NonTemporal && !own {
                    op.kind = OpKind::NtStore;
                    self.counts.stores += 1;
                }
                self.threads[number].store(op, mode.combines(), own, out);
            }
            OpKind::Atomic => {
                self.mode(op.addr);
                self.threads[number].atomic(op, out);
            }
            OpKind::Flush(kind) => {
                let owner = self.ranges.owner(op.addr);
                let fit = owner.map_or(Fit::Flush, |owner| self.modes[owner].fit(self.model));
                let gone = self.threads[number].flush(op, kind, fit, out);
                self.counts.flushes += gone.flushes;
                self.counts.fences += gone.fences;
            }
            OpKind::Fence(FenceKind::Store | FenceKind::Full) => {
                let gone = self.threads[number].fence(op, out);
                self.counts.fences += gone.fences;
            }
            OpKind::Fence(FenceKind::Load) | OpKind::Demote(_) => {
                self.threads[number].pass(op, out);
            }
            OpKind::RegionBegin
            | OpKind::RegionEnd
            | OpKind::HandOff
            | OpKind::Await
            | OpKind::Acquire
            | OpKind::Release
            | OpKind::Alloc { .. }
            | OpKind::Free => self.threads[number].boundary(op, out),
        }
    }

    fn thread(&mut self, number: usize) {
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, Thread::default);
        }
    }
}

impl Mechanism for Fitted {
    fn name(&self) -> &str {
        &self.name
    }

    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>) {
        let number = thread as usize;
        self.thread(number);
        for &op in input {
            self.one(number, op, out);
        }
    }

    fn end(&mut self, thread: u32, out: &mut Vec<Op>) {
        let number = thread as usize;
        self.thread(number);
        self.threads[number].end(out);
    }
}
