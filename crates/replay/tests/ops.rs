//! Operations are the recording's events, no more, no fewer, no others.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::made_up::{frame, time};
use common::{
    Process, brief, copy_block, drain, exec, ops, recording, special, special_block, write_as,
};
use prestore_replay::{Gaps, Options, StackGuess, TraceSource};
use prestore_sim::{Op, OpKind, Source};
use prestore_trace::block::{Block, meta};
use prestore_trace::container::{RecordingInfo, Trace};
use prestore_trace::record::{AllocKind, Special, header};
use prestore_trace::replay::{EventContext, ExecSink, Replayer, for_each_event};
use prestore_trace::{Event, EventKind, ProcessId, ThreadId};
use proptest::prelude::*;

/// Blocks: plain ones, a masked store with a load behind it, a copy by `rep movs`.
fn blocks() -> Vec<u8> {
    let mut blocks = Process::new(
        &[
            (64, 1, &[(1, 0)]),
            (65, 2, &[(0, 0), (0, 1), (12, 0), (6, 1), (2, 0)]),
            (66, 0, &[]),
        ],
        vec![],
    )
    .blocks;
    blocks.extend(special_block(
        67,
        2,
        &[(1, 3, 4, 0, 1, 8), (0, 0, 8, 0, 0xffff, 0)],
    ));
    blocks.extend(special_block(
        68,
        3,
        &[(0, 1, 1, 0, 2, 0), (1, 1, 1, 1, 2, 0)],
    ));
    blocks
}

fn one_thread(words: Vec<u64>) -> Process {
    Process {
        blocks: blocks(),
        ..Process::new(&[], vec![words])
    }
}

fn any_exec() -> impl Strategy<Value = Vec<u64>> {
    let addr = 0x1000u64..0x9_0000;
    let cut = (64u32..69, 0u64..6).prop_map(|(id, at)| {
        let values = [0x5000, 0x6000, 3];
        let n = [1, 2, 0, 2, 3][id as usize - 64];
        let mut words = exec(id, &values[..n]);
        words.extend([header(1, 1), u64::from(id) * 0x100 + 4 * at]);
        words
    });
    prop_oneof![
        8 => (addr.clone(), 1usize..60).prop_map(|(a, n)| {
            (0..n as u64).flat_map(|i| exec(64, &[a + 8 * i])).collect()
        }),
        8 => (addr.clone(), addr.clone()).prop_map(|(a, b)| exec(65, &[a, b])),
        2 => Just(exec(66, &[])),
        3 => (addr.clone(), 0u64..256).prop_map(|(a, mask)| exec(67, &[a, mask])),
        3 => (addr.clone(), addr, 0u64..500).prop_map(|(a, b, n)| exec(68, &[a, b, n])),
        2 => cut,
        2 => (0u64..1000).prop_map(|instrs| special(Special::Skip { instrs })),
        1 => (0u64..1000).prop_map(|ticks| special(Special::Stamp { ticks })),
        1 => (0u64..1000).prop_map(time),
    ]
}

/// The operation of an event that fits one.
fn op_of(e: &Event<'_>) -> Op {
    Op {
        instr: e.instr,
        addr: e.addr,
        size: e.size as u32,
        site: e.site,
        kind: match e.kind {
            EventKind::Load => OpKind::Load,
            EventKind::Store => OpKind::Store,
            EventKind::NtStore => OpKind::NtStore,
            EventKind::AtomicRmw => OpKind::Atomic,
            EventKind::Flush(k) => OpKind::Flush(k),
            EventKind::Demote(k) => OpKind::Demote(k),
            EventKind::Fence(k) => OpKind::Fence(k),
            other => panic!("{other:?}"),
        },
        after: 0,
    }
}

struct Events(Vec<Op>);

impl ExecSink for Events {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let context = EventContext {
            thread: ThreadId(0),
            xsave: &[],
        };
        let mut push = |e: &Event<'_>| self.0.push(op_of(e));
        for_each_event(context, before, block, values, executed, &mut push);
    }

    fn special(&mut self, _: u64, _: Special) {}
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn one_threads_operations_are_its_events(parts in prop::collection::vec(any_exec(), 1..300)) {
        let mut words = exec(66, &[]);
        words.extend(parts.concat());
        let process = one_thread(words.clone());
        let (_dir, trace) = recording(&[process]);
        let mut expected = Events(Vec::new());
        let mut replayer = Replayer::default();
        replayer.replay(&words, &trace.table(ProcessId(0)).unwrap(), &mut expected).unwrap();
        let mut source = TraceSource::open(&trace, &Options::default()).unwrap();
        let got = drain(&mut source);
        prop_assert_eq!(&got, &[(expected.0, replayer.instrs())]);
    }
}

/// As processors do it, not the whole source before the first byte of the destination.
#[test]
fn a_long_copy_is_loaded_and_stored_by_turns() {
    let mut process = one_thread(exec(69, &[0x10_0008, 0x20_00c0, 600]));
    process.blocks.extend(copy_block(69));
    let (_dir, trace) = recording(&[process]);
    let got = ops(&trace, &Options::default()).remove(0);
    let pieces = [(0, 64), (64, 256), (320, 256), (576, 24)];
    let expected = pieces.iter().flat_map(|&(at, size)| {
        [
            (OpKind::Load, 0x10_0008 + at, size),
            (OpKind::Store, 0x20_00c0 + at, size),
        ]
    });
    let got: Vec<_> = got.iter().map(|op| (op.kind, op.addr, op.size)).collect();
    assert_eq!(got, expected.collect::<Vec<_>>());
}

#[test]
fn long_streams_come_in_portions() {
    let words = (0..200_000).flat_map(|i| exec(64, &[i * 8])).collect();
    let (_dir, trace) = recording(&[one_thread(words)]);
    let mut source = TraceSource::open(&trace, &Options::default()).unwrap();
    let mut first = Vec::new();
    source.fill(0, &mut first).unwrap();
    assert!(first.len() < 10_000, "{}", first.len());
    let rest = drain(&mut source).remove(0).0;
    assert_eq!(first.len() + rest.len(), 200_000);
}

#[test]
fn gaps_elapse_or_are_left_out() {
    let mut words = exec(64, &[0x5000]);
    words.extend(special(Special::Skip { instrs: 1000 }));
    words.extend(exec(64, &[0x6000]));
    let (_dir, trace) = recording(&[one_thread(words)]);
    let counts = |gaps| {
        let options = Options {
            gaps: Some(gaps),
            ..Options::default()
        };
        let (ops, instrs) = drain(&mut TraceSource::open(&trace, &options).unwrap()).remove(0);
        (ops.iter().map(|o| o.instr).collect::<Vec<_>>(), instrs)
    };
    assert_eq!(counts(Gaps::Elapse), (vec![0, 1002], 1004));
    assert_eq!(counts(Gaps::LeaveOut), (vec![0, 2], 4));
}

#[test]
fn accesses_beyond_four_gigabytes_are_divided() {
    let bytes = (5u64 << 30) + 7;
    let (_dir, trace) = recording(&[one_thread(exec(68, &[0x10_0000, 0x20_0000, bytes]))]);
    let ops = ops(&trace, &Options::default()).remove(0);
    for (kind, first) in [(OpKind::Load, 0x10_0000), (OpKind::Store, 0x20_0000)] {
        let parts: Vec<_> = ops.iter().filter(|o| o.kind == kind).collect();
        let mut next = first;
        for part in &parts {
            assert_eq!(part.addr, next);
            next += u64::from(part.size);
        }
        assert_eq!(next, first + bytes);
    }
}

#[test]
fn allocations_carry_the_call_that_asked_for_them() {
    let call = 64 * 0x100 + 8; // behind block 64
    let (addr, size) = (0x7000_0000, 5 << 32);
    let mut words = exec(64, &[0x5000]);
    let alloc = |caller| Special::Alloc {
        addr,
        size,
        caller,
        kind: AllocKind::Malloc,
    };
    words.extend(special(alloc(call)));
    words.extend(special(Special::Free { addr, caller: 3 }));
    let (_dir, trace) = recording(&[one_thread(words)]);
    let ops = ops(&trace, &Options::default()).remove(0);
    let last = trace
        .table(ProcessId(0))
        .unwrap()
        .get(64)
        .unwrap()
        .last_site;
    assert_eq!(ops[1], Op::alloc(2, addr, size, last));
    assert_eq!(ops[1].bytes(), size);
    assert_eq!((ops[2].kind, ops[2].addr), (OpKind::Free, addr));
}

#[test]
fn processes_never_share_an_address() {
    let mut other = one_thread(exec(64, &[0x5000]));
    other.pid = 200;
    let (_dir, trace) = recording(&[one_thread(exec(64, &[0x5000])), other]);
    let all = ops(&trace, &Options::default());
    assert_eq!(all[0][0].addr, 0x5000);
    assert_ne!(all[1][0].addr, 0x5000);
    let options = Options {
        processes: Some(vec![ProcessId(1)]),
        ..Options::default()
    };
    let source = TraceSource::open(&trace, &options).unwrap();
    assert_eq!(
        source
            .threads_of()
            .flatten()
            .map(|t| t.0)
            .collect::<Vec<_>>(),
        [ThreadId(1)]
    );
}

#[test]
fn what_processes_share_is_at_one_address() {
    let process = |pid, at: u64, kind| {
        let words = [exec(64, &[at + 8]), exec(64, &[0x5000])].concat();
        let mut process = one_thread(words);
        let memory = [at, 16, 7, 0].map(u64::to_le_bytes);
        process.blocks.extend(frame(kind, memory.concat()));
        process.pid = pid;
        process
    };
    let addresses = |processes: &[Process]| -> Vec<[u64; 2]> {
        let mut info = RecordingInfo::default();
        info.scope.shared_memory = true;
        let dir = tempfile::tempdir().unwrap();
        write_as(dir.path(), processes, info);
        let trace = Trace::open(dir.path()).unwrap();
        let all = ops(&trace, &Options::default());
        all.iter().map(|ops| [ops[0].addr, ops[1].addr]).collect()
    };
    let both = [
        process(1, 0x1000, meta::SHARED),
        process(2, 0x3000, meta::SHARED),
    ];
    let met = addresses(&both);
    assert_eq!(met[0][0], met[1][0]);
    assert_ne!(met[0][1], met[1][1]);
    assert_eq!(addresses(&both[..1]), [[0x1008, 0x5000]], "alone");
    let private = [process(1, 0x1000, 0), process(2, 0x3000, 0)];
    let apart = addresses(&private);
    assert_eq!(apart[0], [0x1008, 0x5000]);
    assert_ne!(apart[1][0], apart[0][0]);
}

#[test]
fn threads_that_executed_nothing_are_left_out() {
    let mut process = one_thread(time(5));
    process.threads.push(exec(64, &[0x5000]));
    let (_dir, trace) = recording(&[process]);
    let mut source = TraceSource::open(&trace, &Options::default()).unwrap();
    assert_eq!(
        source
            .threads_of()
            .flatten()
            .map(|t| t.0)
            .collect::<Vec<_>>(),
        [ThreadId(1)]
    );
    let all = drain(&mut source);
    assert_eq!(brief(&all[0].0), [(OpKind::Store, 0x5000)]);
}

#[test]
fn a_stack_is_guessed_from_the_first_push() {
    let mut process = one_thread(exec(64, &[0x7fff_0000_1000]));
    let mut late = vec![exec(66, &[]); 20].concat();
    late.extend(exec(64, &[0x5000]));
    process.threads.push(late);
    let (_dir, trace) = recording(&[process]);
    let guesses = StackGuess::all(&trace, &Options::default()).unwrap();
    assert_eq!(guesses.len(), 1);
    assert!((guesses[0].start..guesses[0].end).contains(&0x7fff_0000_1000));
    assert_eq!(guesses[0].end - guesses[0].start, 8 << 20);
}
