//! Virtual pre-stores: what the program would do if the advice were followed (P0, sections 2 and 6).
//!
//! Clean and demote are put behind the last of a run of stores to a line: behind a store that no
//! store of the same finding to that line follows within [`REACH`] operations and before the next
//! fence or atomic. That is where a `prestore()` after the writing loop acts, line by line, and the
//! place is found by looking ahead rather than by guessing when a streak is over. Neighbouring lines go
//! in the order of their addresses, whichever was written last. A line of which all bytes were written
//! and that is stored to again begins a new run (P0, listing 3). Skip puts
//! non-temporal stores of what was written there, in the place of the stores: it is the order in which
//! the library's copies and writers do it. A load of what was written there in between makes them go at once.
//!
//! What the source would do else is done, too ([`Way`]): stores to the library's writer or to a buffer in the place of
//! those to the data, and the copy from there; and its instructions ([`Costs`]).
//!
//! No fence is added to skipped stores: where data is published, an atomic or a fence stands in the
//! program already.

mod gather;
mod held;
mod loads;
mod open;
mod rule;

pub use rule::{Costs, PreStore, Rule, Way};

use std::mem;

use prestore_trace::{DemoteKind, FlushKind, LineAddr, SiteId};
use rustc_hash::FxHashMap;

use super::Mechanism;
use crate::{ByteMask, Op, OpKind};
use gather::{Gather, Target};
use held::Held;
use loads::Loads;
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
    costs: Costs,
    by_site: FxHashMap<SiteId, (u16, PreStore, Way)>,
    /// Does a rule skip the caches?
    skips: bool,
    /// Stores that were to be non-temporal where they are, and those that no instruction does so.
    in_place: (u64, u64),
    threads: Vec<Thread>,
}

/// What a thread was given.
#[derive(Clone, Debug, Default)]
struct Given {
    /// Instructions of the change so far.
    extra: u64,
    loads: Loads,
    /// The last pre-store: of which instruction's store, and its line.
    last: Option<(u64, u64)>,
}

/// What is known of one thread.
#[derive(Clone, Debug, Default)]
struct Thread {
    /// Operations not given on yet: a pre-store may have to go between them.
    held: Vec<Held>,
    /// What was given on.
    given: Given,
    /// The program's count at its last operation.
    last: u64,
    /// What is gathered elsewhere.
    gather: Gather,
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
                by_site.entry(site).or_insert((
                    number.min(usize::from(u16::MAX)) as u16,
                    rule.op,
                    rule.way,
                ));
            }
        }
        Self {
            name: name.into(),
            line_shift: line.trailing_zeros(),
            costs: Costs::default(),
            by_site,
            skips: rules.iter().any(|rule| rule.op == PreStore::Skip),
            in_place: (0, 0),
            threads: Vec::new(),
        }
    }

    /// The same with what the change's own instructions cost; without, they cost nothing.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = costs;
        self
    }

    /// Share of the stores that [`Way::InPlace`] met of which there is no non-temporal form: of one and two bytes,
    /// and of string instructions. 0 to 1.
    pub fn not_in_place(&self) -> f64 {
        let (all, none) = self.in_place;
        none as f64 / all.max(1) as f64
    }

    fn thread(&mut self, thread: u32) -> Thread {
        let index = thread as usize;
        if self.threads.len() <= index {
            self.threads.resize_with(index + 1, Thread::default);
        }
        mem::take(&mut self.threads[index])
    }

    /// Takes one operation of thread `number` into `thread`.
    fn take(&mut self, number: u32, thread: &mut Thread, op: &Op) {
        let at = thread.held.len();
        let mut held = Held::own(*op);
        match op.kind {
            OpKind::Store => match self.by_site.get(&op.site) {
                Some(&(rule, _, way @ (Way::Writer | Way::Buffer))) => {
                    return self.elsewhere(number, thread, op, rule, way);
                }
                Some(&(_, _, Way::InPlace)) => {
                    self.in_place.0 += 1;
                    if matches!(op.size, 4 | 8 | 16 | 32 | 64) {
                        held.op.kind = OpKind::NtStore;
                    } else {
                        self.in_place.1 += 1;
                    }
                }
                Some(&(rule, prestore, _)) => {
                    self.store(thread, at, op, rule, prestore);
                    if prestore == PreStore::Skip {
                        held = Held::replaced(op);
                    }
                }
                None => {}
            },
            OpKind::Load if self.skips => {
                let end = op.addr + u64::from(op.size).max(1) - 1;
                for line in op.addr >> self.line_shift..=end >> self.line_shift {
                    let (_, bytes, _) = self.bytes_in(line, op);
                    thread.open.load(line, bytes, &mut thread.due);
                    if !thread.gather.is_empty() {
                        let (gather, mut to) = self.gathered(number, thread, op.instr);
                        gather.load(LineAddr(line), bytes, &mut to);
                    }
                }
            }
            // What follows a fence is a new run of stores.
            OpKind::Atomic | OpKind::Fence(_) | OpKind::HandOff => {
                thread.leave_all();
                if !thread.gather.is_empty() {
                    let (gather, mut to) = self.gathered(number, thread, op.instr);
                    gather.write_all(&mut to);
                }
            }
            _ => {}
        }
        thread.held.push(held);
    }

    /// What `thread` gathers, and where it goes.
    fn gathered<'a>(
        &self,
        number: u32,
        thread: &'a mut Thread,
        instr: u64,
    ) -> (&'a mut Gather, Target<'a>) {
        let to = Target {
            thread: number,
            line_shift: self.line_shift,
            whole: self.whole(),
            costs: self.costs,
            instr,
            out: &mut thread.held,
        };
        (&mut thread.gather, to)
    }

    /// A store to a buffer in place of one to the data.
    fn elsewhere(&self, number: u32, thread: &mut Thread, op: &Op, rule: u16, way: Way) {
        // It holds the instruction's place, whatever it becomes.
        thread.held.push(Held::replaced(op));
        let first = op.addr >> self.line_shift;
        let last = (op.addr + u64::from(op.size).max(1) - 1) >> self.line_shift;
        for line in first..=last {
            let (line, bytes, _) = self.bytes_in(line, op);
            let (gather, mut to) = self.gathered(number, thread, op.instr);
            gather.store((rule, way), (LineAddr(line), bytes), op, &mut to);
        }
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
                after: 0,
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
        let whole = self.whole();
        let from = op.addr.saturating_sub(start).min(size - 1);
        let end = (op.addr + u64::from(op.size).max(1) - start).min(size);
        let stored = ByteMask::MAX >> (u64::from(ByteMask::BITS) - (end - from));
        (line, stored << from, whole)
    }

    /// All bytes of a line.
    fn whole(&self) -> ByteMask {
        let size = (1_u64 << self.line_shift).min(u64::from(ByteMask::BITS));
        ByteMask::MAX >> (u64::from(ByteMask::BITS) - size)
    }
}

impl Thread {
    fn leave_all(&mut self) {
        self.open.leave_all(&mut self.due);
    }

    /// Gives on everything before `end`, with what is due behind it.
    fn release(&mut self, end: usize, costs: Costs, line: u64, out: &mut Vec<Op>) {
        self.due.sort_by_key(|&(at, pre)| (at, pre.addr));
        let ready = self.due.partition_point(|&(at, _)| at < end);
        let mut from = 0;
        for (at, pre) in self.due.drain(..ready) {
            self.given.give(&self.held[from..=at], out);
            from = at + 1;
            // A call for several lines acts on one after the other. A string instruction may be several operations.
            let of = self.held[at].op.instr;
            let goes_on = (self.given.last)
                .is_some_and(|(instr, addr)| instr == of && pre.addr <= addr + line);
            let (call, each) = match pre.kind {
                OpKind::NtStore => (costs.copy, costs.copy_line),
                _ => (costs.call, costs.line),
            };
            self.given.extra += u64::from(each) + if goes_on { 0 } else { u64::from(call) };
            self.given.last = Some((of, pre.addr));
            let instr = of + self.given.extra;
            out.push(Op { instr, ..pre });
        }
        self.given.give(&self.held[from..end], out);
        self.held.drain(..end);
        for (at, _) in &mut self.due {
            *at -= end;
        }
        self.open.shift(end);
    }
}

impl Given {
    /// Gives on what is not replaced, later by the instructions that the change adds.
    fn give(&mut self, held: &[Held], out: &mut Vec<Op>) {
        for held in held {
            self.extra += u64::from(held.extra);
            if held.is_replaced() {
                continue;
            }
            let instr = held.op.instr + self.extra;
            let op = Op { instr, ..held.op };
            // The change's own stores wait for what those that they replace waited for.
            out.push(self.loads.count(op, held.added));
        }
    }
}

impl Mechanism for VirtualPrestores {
    fn name(&self) -> &str {
        &self.name
    }

    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>) {
        let mut state = self.thread(thread);
        for op in input {
            if !state.gather.is_empty() {
                let (gather, mut to) = self.gathered(thread, &mut state, op.instr);
                gather.tick(REACH as u64, &mut to);
            }
            state.last = op.instr;
            self.take(thread, &mut state, op);
            let Thread {
                held, open, due, ..
            } = &mut state;
            open.leave_older(held.len(), REACH, due);
        }
        // Hand-offs close every run, so nothing before one is ever held back.
        let end = state.open.oldest().unwrap_or(state.held.len());
        state.release(end, self.costs, 1 << self.line_shift, out);
        self.threads[thread as usize] = state;
    }

    fn end(&mut self, thread: u32, out: &mut Vec<Op>) {
        let mut state = self.thread(thread);
        state.leave_all();
        let last = state.last;
        let (gather, mut to) = self.gathered(thread, &mut state, last);
        gather.write_all(&mut to);
        let end = state.held.len();
        state.release(end, self.costs, 1 << self.line_shift, out);
        self.threads[thread as usize] = state;
    }
}
