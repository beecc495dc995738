//! Programs made up on the fly.

use std::convert::Infallible;

use prestore_machine::Machine;
use prestore_sim::{Next, NoMechanism, Op, OpKind, Results, Simulation, Source};
use prestore_trace::SiteId;

/// Threads that each execute operation after operation of a formula: `of(thread, index)`; `None`
/// ends the thread.
pub struct Program<F> {
    threads: u32,
    of: F,
    next: Vec<u64>,
}

/// Instructions from one operation to the next.
pub const STRIDE: u64 = 2;

impl<F: FnMut(u32, u64) -> Option<(OpKind, u64, u32)>> Program<F> {
    pub fn new(threads: u32, of: F) -> Self {
        Self {
            threads,
            of,
            next: vec![0; threads as usize],
        }
    }
}

impl<F: FnMut(u32, u64) -> Option<(OpKind, u64, u32)>> Source for Program<F> {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        self.threads
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        let next = &mut self.next[thread as usize];
        for _ in 0..1000 {
            let Some((kind, addr, size)) = (self.of)(thread, *next) else {
                return Ok(Next::End {
                    instrs: *next * STRIDE,
                });
            };
            ops.push(Op {
                instr: *next * STRIDE,
                addr,
                size,
                site: SiteId::NONE,
                kind,
                after: 0,
            });
            *next += 1;
        }
        Ok(Next::More)
    }
}

/// `tiny` with other values.
pub fn tiny(settings: &[&str]) -> Machine {
    Machine::find_with("tiny", settings).unwrap()
}

/// Runs a formula on a machine.
pub fn run(
    machine: &Machine,
    threads: u32,
    of: impl FnMut(u32, u64) -> Option<(OpKind, u64, u32)>,
) -> Results {
    Simulation::new(machine)
        .run(&mut Program::new(threads, of), &mut NoMechanism)
        .unwrap()
}

/// `n` loads of consecutive lines.
pub fn read_lines(n: u64) -> impl FnMut(u32, u64) -> Option<(OpKind, u64, u32)> {
    move |thread, i| (i < n).then(|| (OpKind::Load, (u64::from(thread) << 32) + i * 64, 8))
}
