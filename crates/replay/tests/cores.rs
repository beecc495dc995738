//! Which threads share a core.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::made_up::time;
use common::slot::{DATA_STORE, process};
use common::{Process, drain, exec, recording};
use prestore_replay::{Options, TraceSource};

/// A process whose threads do one store each between two times.
fn between(pid: u32, spans: &[(u64, u64)]) -> Process {
    let one =
        |&(from, to): &(u64, u64)| [time(from), exec(DATA_STORE, &[0x5000]), time(to)].concat();
    let mut process = process(spans.iter().map(one).collect());
    process.pid = pid;
    process
}

fn cores(processes: &[Process]) -> Vec<Vec<u32>> {
    let (_dir, trace) = recording(processes);
    let source = TraceSource::open(&trace, &Options::default()).unwrap();
    let cores = source.threads_of();
    cores
        .map(|core| core.iter().map(|t| t.0.0).collect())
        .collect()
}

#[test]
fn processes_that_never_met_share_one() {
    let shell = between(1, &[(10, 100)]);
    let one_by_one = [(20, 30), (40, 50), (60, 70)];
    let children = one_by_one
        .iter()
        .zip(2..)
        .map(|(span, pid)| between(pid, &[*span]));
    let all: Vec<Process> = std::iter::once(shell).chain(children).collect();
    assert_eq!(cores(&all), [vec![0], vec![1, 2, 3]]);
}

#[test]
fn processes_that_met_do_not() {
    let all = [(10, 30), (20, 40), (30, 50), (31, 45)].iter().zip(1..);
    let all: Vec<Process> = all.map(|(span, pid)| between(pid, &[*span])).collect();
    // The third begins when the first ends, which is not behind it.
    assert_eq!(cores(&all), [vec![0, 3], vec![1], vec![2]]);
}

#[test]
fn so_do_threads_of_one_process() {
    let all = [between(1, &[(10, 100), (20, 30), (35, 45), (40, 50)])];
    assert_eq!(cores(&all), [vec![0], vec![1, 2], vec![3]]);
}

#[test]
fn nobody_follows_a_thread_whose_end_is_not_known() {
    let killed = process(vec![[time(10), exec(DATA_STORE, &[0x5000])].concat()]);
    let cores = cores(&[killed, between(2, &[(20, 30)])]);
    assert_eq!(cores, [vec![0], vec![1]]);
}

#[test]
fn instructions_of_threads_on_a_core_add_up() {
    let (_dir, trace) = recording(&[between(1, &[(10, 20)]), between(2, &[(30, 40)])]);
    let mut source = TraceSource::open(&trace, &Options::default()).unwrap();
    let all = drain(&mut source);
    let (ops, instrs) = &all[0];
    let each = instrs / 2;
    assert_eq!(all.len(), 1);
    let counts: Vec<u64> = ops.iter().map(|op| op.instr).collect();
    assert_eq!(counts, [0, each], "of {instrs}");
    assert_ne!(ops[0].addr, ops[1].addr, "each has its own addresses");
}
