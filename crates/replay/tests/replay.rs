//! A recording on a machine: what it gives depends on both as it should.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::sync::Arc;

use common::slot::{one_slot, process};
use common::{Process, STORE, exec, recording, write_as};
use prestore_machine::{Machine, Machines};
use prestore_replay::{HandOffs, Options, Replay};
use prestore_sim::{NoMechanism, Results, Simulation};
use prestore_trace::container::{RecordingInfo, Scope, Trace};

/// Code of a write-back of a line in block logs.
const CLWB: u8 = 6;

fn machine(name: &str, settings: &[&str]) -> Machine {
    let machines = Machines::shipped();
    machines.describe(name, settings).unwrap().into_machine()
}

fn replay<'a>(trace: &'a Trace, machine: &'a Machine) -> Replay<'a> {
    Replay::new(trace, Simulation::new(machine)).options(without_code())
}

/// What is written here has no instructions, from which it would follow what loads wait for.
fn without_code() -> Options {
    Options {
        independent_loads: true,
        ..Options::default()
    }
}

fn run(trace: &Trace, machine: &Machine) -> Results {
    replay(trace, machine).run(&mut NoMechanism).unwrap()
}

#[test]
fn all_operations_or_the_first() {
    const STORES: u64 = 20_000;
    let words = (0..STORES).flat_map(|i| exec(64, &[0x5000 + 8 * i]));
    let (_dir, trace) = recording(&[Process::new(
        &[(64, 1, &[(STORE, 0)])],
        vec![words.collect()],
    )]);
    let machine = machine("tiny", &[]);
    let counted = |limit| {
        let mut seen = 0;
        let replay = replay(&trace, &machine).limit(limit);
        let results = replay.watch(|ops| seen += ops).run(&mut NoMechanism);
        let results = results.unwrap();
        assert_eq!(results.accesses, seen as u64, "each was told of");
        results
    };
    let all = counted(None);
    assert_eq!(all.accesses, STORES);
    assert!(all.notes.is_empty(), "{:?}", all.notes);
    let first = counted(Some(5000));
    assert!((5000..STORES).contains(&first.accesses));
    assert!(first.notes[0].contains("first 5000 operations"));
}

/// The consumer comes first and waits for messages that the producer does not get to any more.
#[test]
fn a_thread_waits_in_the_first_part_for_what_comes_later() {
    let mut threads = one_slot(5000, 1);
    threads.reverse();
    let (_dir, trace) = recording(&[process(threads)]);
    let machine = machine("tiny", &["core.count=2"]);
    let limited = replay(&trace, &machine).limit(Some(1));
    let notes = limited.run(&mut NoMechanism).unwrap().notes;
    assert!(notes[0].contains("waits for hand-off"), "{notes:?}");
    assert!(
        notes[1].contains("first operation was simulated"),
        "{notes:?}"
    );
}

#[test]
fn hand_offs_inferred_before_change_nothing() {
    let (_dir, trace) = recording(&[process(one_slot(500, 3))]);
    let machine = machine("tiny", &["core.count=2"]);
    let options = without_code();
    let known = Arc::new(HandOffs::infer(&trace, &options).unwrap());
    let shared = replay(&trace, &machine).options(options).hand_offs(known);
    let shared = shared.run(&mut NoMechanism).unwrap();
    let alone = run(&trace, &machine);
    assert!(alone.handoffs.count > 0, "they wait for each other");
    assert_eq!(format!("{shared:?}"), format!("{alone:?}"));
}

#[test]
fn flushes_are_those_of_the_machine_s_lines() {
    let words = (0..100).flat_map(|i| exec(64, &[0x4_0000 + 64 * i]));
    let blocks: &[_] = &[(64, 1, &[(STORE, 0), (CLWB, 0)][..])];
    let (_dir, trace) = recording(&[Process::new(blocks, vec![words.collect()])]);
    let flushes = |line: &str| {
        let results = run(&trace, &machine("tiny", &[line]));
        results.threads[0].ops.flushes
    };
    assert_eq!(flushes("line=64 B"), 100);
    assert_eq!(flushes("line=128 B"), 50, "one for each pair");
}

#[test]
fn stacks_are_where_the_machine_wants_them() {
    // The first store pushes a return address; those behind it go far below it, or elsewhere.
    let bytes_of_dram = |data: u64| {
        let words = [0x7fff_0000, data].map(|addr| exec(64, &[addr])).concat();
        let (_dir, trace) = recording(&[Process::new(&[(64, 1, &[(STORE, 0)])], vec![words])]);
        let results = run(&trace, &machine("machine-a", &[]));
        let dram = results.memories.iter().find(|m| m.name == "dram").unwrap();
        dram.read_bytes
    };
    assert_eq!(bytes_of_dram(0x7ffe_0000), 128, "both are on the stack");
    assert_eq!(bytes_of_dram(0x5000), 64, "one is");
}

#[test]
fn what_the_recording_lacks_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let info = RecordingInfo {
        scope: Scope {
            mode: "functions".into(),
            ..Scope::default()
        },
        ..RecordingInfo::default()
    };
    let process = Process::new(&[(64, 1, &[(STORE, 0)])], vec![exec(64, &[0x5000])]);
    write_as(dir.path(), &[process], info);
    let trace = Trace::open(dir.path()).unwrap();
    let notes = run(&trace, &machine("tiny", &[])).notes;
    assert!(notes[0].contains("--scope functions"), "{notes:?}");
}
