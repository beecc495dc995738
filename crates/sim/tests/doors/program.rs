//! Threads written down as lists of operations.

use std::cell::RefCell;
use std::convert::Infallible;

use prestore_machine::Machine;
use prestore_sim::{
    Accepted, Agents, Doors, Next, NoMechanism, Op, OpKind, Probe, Results, Simulation, Source,
    Stage, Time,
};
use prestore_trace::{FenceKind, FlushKind, SiteId};

/// A thread: each operation one instruction after the one before, unless told.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    pub ops: Vec<Op>,
    instr: u64,
}

impl Thread {
    pub fn op(mut self, kind: OpKind, addr: u64, size: u32, site: u32) -> Self {
        self.ops.push(Op {
            instr: self.instr,
            addr,
            size,
            site: SiteId(site),
            kind,
            after: 0,
        });
        self.instr += 1;
        self
    }

    /// `n` instructions that touch nothing.
    pub fn work(mut self, n: u64) -> Self {
        self.instr += n;
        self
    }

    pub fn load(self, addr: u64) -> Self {
        self.op(OpKind::Load, addr, 8, 0)
    }

    /// A store of 8 bytes at `site`.
    pub fn store(self, addr: u64, site: u32) -> Self {
        self.op(OpKind::Store, addr, 8, site)
    }

    pub fn clwb(self, addr: u64) -> Self {
        self.op(OpKind::Flush(FlushKind::Clwb), addr, 0, 0)
    }

    pub fn sfence(self) -> Self {
        self.op(OpKind::Fence(FenceKind::Store), 0, 0, 0)
    }

    pub fn alloc(mut self, addr: u64, bytes: u64) -> Self {
        let op = Op::alloc(self.instr, addr, bytes, SiteId::NONE);
        self.ops.push(op);
        self
    }

    pub fn free(self, addr: u64) -> Self {
        self.op(OpKind::Free, addr, 0, 0)
    }
}

/// Threads as a source.
#[derive(Clone, Debug)]
pub struct Program(Vec<Thread>);

impl Program {
    pub fn new(threads: impl IntoIterator<Item = Thread>) -> Self {
        Self(threads.into_iter().collect())
    }
}

impl Source for Program {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        self.0.len() as u32
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        let thread = &self.0[thread as usize];
        ops.extend_from_slice(&thread.ops);
        Ok(Next::End {
            instrs: thread.instr,
        })
    }
}

/// `tiny` with other values.
pub fn tiny(settings: &[&str]) -> Machine {
    Machine::find_with("tiny", settings).unwrap()
}

/// Runs `threads` with `doors`; answers the results, and what controllers accepted, in order of time.
pub fn run<P: Probe, S: Stage, A: Agents>(
    machine: &Machine,
    threads: impl IntoIterator<Item = Thread>,
    doors: Doors<P, S, A>,
) -> (Results, Vec<Accepted>) {
    let log = RefCell::new(Vec::new());
    let note = |one| log.borrow_mut().push(one);
    let results = Simulation::new(machine)
        .accepted(&note)
        .run_with(&mut Program::new(threads), &mut NoMechanism, doors)
        .unwrap();
    let mut log = log.into_inner();
    log.sort_by_key(|accepted: &Accepted| accepted.at);
    (results, log)
}

pub fn ns(n: u64) -> Time {
    Time(n * 1000)
}
