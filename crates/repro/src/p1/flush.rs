//! What a flush of a line takes, by the state of the line.

use std::convert::Infallible;

use prestore_machine::Machine;
use prestore_sim::{Next, NoMechanism, Op, OpKind, Simulation, Source};
use prestore_trace::{FenceKind, FlushKind, SiteId};

use crate::error::ReproError;

/// Lines that are flushed.
const LINES: u64 = 512;
/// Where they lie; two lines apart, so that no neighbour is fetched along.
const BASE: u64 = 1 << 32;
const APART: u64 = 128;

/// How the caches have the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Clean,
    Dirty,
    Absent,
}

/// Cycles of a `clflush` and the fence behind it, on average: those with flushes less those without.
pub(super) fn cycles(machine: &Machine, state: State) -> Result<f64, ReproError> {
    let run = |flushes| {
        let mut program = Program::new(state, flushes);
        let results = Simulation::new(machine).run(&mut program, &mut NoMechanism);
        results.map_err(|error| ReproError::Replay {
            what: format!("flushes on {}", machine.name),
            why: error.to_string(),
        })
    };
    let (with, without) = (run(true)?.cycles, run(false)?.cycles);
    Ok((with as f64 - without as f64) / LINES as f64)
}

/// Brings lines into their state, then flushes each between two fences.
struct Program {
    ops: Vec<Op>,
    given: bool,
}

impl Program {
    fn new(state: State, flushes: bool) -> Self {
        let mut ops: Vec<Op> = Vec::new();
        let mut push = |kind, addr| {
            ops.push(Op {
                instr: ops.len() as u64,
                addr,
                size: 8,
                site: SiteId::NONE,
                kind,
                after: 0,
            });
        };
        let lines = (0..LINES).map(|line| BASE + line * APART);
        for line in lines.clone() {
            match state {
                State::Clean => push(OpKind::Load, line),
                State::Dirty => push(OpKind::Store, line),
                State::Absent => {}
            }
        }
        let fence = OpKind::Fence(FenceKind::Full);
        push(fence, 0);
        for line in lines {
            if flushes {
                push(OpKind::Flush(FlushKind::Clflush), line);
            }
            push(fence, 0);
        }
        Self { ops, given: false }
    }
}

impl Source for Program {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        1
    }

    fn fill(&mut self, _: u32, ops: &mut Vec<Op>) -> Result<Next, Infallible> {
        if self.given {
            let instrs = self.ops.len() as u64;
            return Ok(Next::End { instrs });
        }
        self.given = true;
        ops.extend(&self.ops);
        Ok(Next::More)
    }
}
