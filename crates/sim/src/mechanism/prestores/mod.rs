//! Virtual pre-stores: what the program would do if the advice were followed (P0, sections 2 and 6).
//!
//! Clean and demote are put behind the last of a run of stores to a line: behind a store that no
//! store of the same finding to that line follows within [`REACH`] operations and before the next
//! fence or atomic. That is where a `prestore()` after the writing loop acts, line by line, and the
//! place is found by looking ahead rather than by guessing when a streak is over. Neighbouring lines go
//! in the order of their addresses, whichever was written last. A line of which all bytes were written
//! and that is stored to again begins a new run (P0, listing 3). Skip puts
//! non-temporal stores of what was written there, in the place of the stores: it is the order in which
//! the library's copies and writers do it. A load of the line in between makes them go at once.
//!
//! No fence is added to skipped stores: where data is published, an atomic or a fence stands in the
//! program already.

mod open;
mod rule;

pub use rule::{PreStore, Rule};

use std::mem;

use prestore_trace::{DemoteKind, FlushKind, SiteId};
use rustc_hash::FxHashMap;

use super::Mechanism;
use crate::{ByteMask, Op, OpKind};
use open::OpenLines;

/// Operations after which a line is taken to be left if the finding has not stored to it again:
/// more than an element's worth of stores of one iteration, less than what a store buffer and the
/// nearest cache hold back by themselves.
pub const REACH: usize = 256;

/// Applies rules to a program's stores.
#[derive(Clone, Debug)]
pub struct VirtualPrestores {
    name: String,
    line_shift: u32,
    by_site: FxHashMap<SiteId, (u16, PreStore)>,
    /// Does a rule skip the caches?
    skips: bool,
    threads: Vec<Thread>,
}

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Operations not given on yet: a pre-store may have to go between them.
    held: Vec<Op>,
    /// Lines that the rules' stores are in, by place in `held`.
    open: OpenLines,
    /// Where in `held` which line is to be pre-stored: behind this operation.
    due: Vec<(usize, Op)>,
}

impl VirtualPrestores {
    /// Applies `rules` on a machine with lines of `line` bytes (a power of two). A site that two
    /// rules name follows the first.
    pub fn new(name: impl Into<String>, line: u64, rules: &[Rule]) -> Self {
        let mut by_site = FxHashMap::default();
        for (number, rule) in rules.iter().enumerate() {
            for &site in &rule.sites {
                by_site
                    .entry(site)
                    .or_insert((number.min(usize::from(u16::MAX)) as u16, rule.op));
            }
        }
        Self {
            name: name.into(),
            line_shift: line.trailing_zeros(),
            by_site,
            skips: rules.iter().any(|rule| rule.op == PreStore::Skip),
            threads: Vec::new(),
        }
    }

    fn thread(&mut self, thread: u32) -> Thread {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        mem::take(&mut self.threads[index])
    }

    /// Takes one operation into `thread`.
    fn take(&self, thread: &mut Thread, op: &Op) {
        let mut op = *op;
        let at = thread.held.len();
        match op.kind {
            OpKind::Store => {
                if let Some(&(rule, prestore)) = self.by_site.get(&op.site) {
                    self.store(thread, at, &op, rule, prestore);
                    if prestore == PreStore::Skip {
                        op = replaced(op);
                    }
                }
            }
            OpKind::Load if self.skips => {
                let end = op.addr + u64::from(op.size).max(1) - 1;
                for line in op.addr >> self.line_shift..=end >> self.line_shift {
                    thread.open.load(line, &mut thread.due);
                }
            }
            // What follows a fence is a new run of stores.
            OpKind::Atomic | OpKind::Fence(_) | OpKind::HandOff => thread.leave_all(),
            _ => {}
        }
        thread.held.push(op);
    }

    fn store(&self, thread: &mut Thread, at: usize, op: &Op, rule: u16, prestore: PreStore) {
        let first = op.addr >> self.line_shift;
        let last = (op.addr + u64::from(op.size).max(1) - 1) >> self.line_shift;
        for line in first..=last {
            let pre = Op {
                addr: line << self.line_shift,
                size: 0,
                kind: match prestore {
                    PreStore::Demote => OpKind::Demote(DemoteKind::Cldemote),
                    PreStore::Clean => OpKind::Flush(FlushKind::Clwb),
                    PreStore::Skip => OpKind::NtStore,
                },
                ..*op
            };
            let bytes = self.bytes_in(line, op);
            let Thread { open, due, .. } = &mut *thread;
            open.store(rule, bytes, at, pre, due);
        }
    }

    /// A line, the bytes of it that `op` stores to, and all that it has.
    fn bytes_in(&self, line: u64, op: &Op) -> (u64, ByteMask, ByteMask) {
        let start = line << self.line_shift;
        let size = (1_u64 << self.line_shift).min(u64::from(ByteMask::BITS));
        let whole = ByteMask::MAX >> (u64::from(ByteMask::BITS) - size);
        let from = op.addr.saturating_sub(start).min(size - 1);
        let end = (op.addr + u64::from(op.size).max(1) - start).min(size);
        let stored = ByteMask::MAX >> (u64::from(ByteMask::BITS) - (end - from));
        (line, stored << from, whole)
    }
}

/// What stands in the place of a store that is gathered to go around the caches: a non-temporal store
/// of no bytes, which is not given on.
fn replaced(store: Op) -> Op {
    Op {
        kind: OpKind::NtStore,
        size: 0,
        ..store
    }
}

impl Thread {
    fn leave_all(&mut self) {
        self.open.leave_all(&mut self.due);
    }

    /// Gives on everything before `end`, with what is due behind it.
    fn release(&mut self, end: usize, out: &mut Vec<Op>) {
        self.due.sort_by_key(|&(at, pre)| (at, pre.addr));
        let mut from = 0;
        let ready = self.due.partition_point(|&(at, _)| at < end);
        let kept = |ops: &[Op], out: &mut Vec<Op>| {
            out.extend(ops.iter().filter(|&&op| op != replaced(op)));
        };
        for (at, pre) in self.due.drain(..ready) {
            kept(&self.held[from..=at], out);
            let instr = self.held[at].instr;
            out.push(Op { instr, ..pre });
            from = at + 1;
        }
        kept(&self.held[from..end], out);
        self.held.drain(..end);
        for (at, _) in &mut self.due {
            *at -= end;
        }
        self.open.shift(end);
    }
}

impl Mechanism for VirtualPrestores {
    fn name(&self) -> &str {
        &self.name
    }

    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>) {
        let mut state = self.thread(thread);
        for op in input {
            self.take(&mut state, op);
            let Thread { held, open, due } = &mut state;
            open.leave_older(held.len(), REACH, due);
        }
        // Hand-offs close every run, so nothing before one is ever held back.
        let end = state.open.oldest().unwrap_or(state.held.len());
        state.release(end, out);
        self.threads[thread as usize] = state;
    }

    fn end(&mut self, thread: u32, out: &mut Vec<Op>) {
        let mut state = self.thread(thread);
        state.leave_all();
        let end = state.held.len();
        state.release(end, out);
        self.threads[thread as usize] = state;
    }
}
