//! What a mechanism can do to the operations.

use prestore_sim::{Mechanism, Op, OpKind, Run};
use prestore_trace::FenceKind;

use crate::loops::PLAN;
use crate::mock::{Notes, Script, SlowCore, load, ns, op, ops, store};

/// Puts a slow load behind each store, and a fence at the end of each thread.
struct Echo;

impl Mechanism for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    fn ops(&mut self, _thread: u32, input: &[Op], out: &mut Vec<Op>) {
        for op in input {
            out.push(*op);
            if op.kind == OpKind::Store {
                out.push(load(10));
            }
        }
    }

    fn end(&mut self, _thread: u32, out: &mut Vec<Op>) {
        out.push(op(OpKind::Fence(FenceKind::Store), 0, 100));
    }
}

/// Lets nothing pass.
struct Silence;

impl Mechanism for Silence {
    fn name(&self) -> &str {
        "silence"
    }

    fn ops(&mut self, _thread: u32, _input: &[Op], _out: &mut Vec<Op>) {}
}

fn run<M: Mechanism>(mechanism: &mut M) -> prestore_sim::Finished {
    let mut source = Script::new(vec![vec![store(1); 7], vec![load(1); 7]]);
    let cores = (0..2).map(|_| SlowCore::default());
    Run::new(&mut source, mechanism, cores, Notes::default(), PLAN)
        .finish()
        .unwrap()
}

#[test]
fn a_mechanism_adds_operations_where_it_likes() {
    let done = run(&mut Echo);
    let threads = &done.measured.counts.threads;
    assert_eq!(threads[0].clock, ns(7 + 70 + 100));
    assert_eq!(threads[1].clock, ns(7 + 100));
    assert_eq!(ops(&done.measured.counts).loads, 14);
}

#[test]
fn a_mechanism_takes_operations_away() {
    let done = run(&mut Silence);
    assert_eq!(done.ops, 0);
    assert_eq!(done.measured.elapsed, ns(0));
}
