//! Recorded programs as the simulator gets them: every event, and the order that counts.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use common::{compile, root, run, text, workload};
use prestore_replay::{HandOffs, Options, TraceSource, Waits};
use prestore_sim::{Next, Op, OpKind, Source};
use prestore_trace::block::Block;
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::record::Special;
use prestore_trace::replay::{EventContext, ExecSink, Replayer, for_each_event};
use prestore_trace::{Event, ThreadId};

fn recorded(folder: &Path, program: &Path, args: &[&str]) -> Trace {
    let dir = folder.join("trace");
    let mut command = vec!["record", "--force", "-o", text(&dir), "--", text(program)];
    command.extend(args);
    run(command).exits(0);
    Trace::open(&dir).unwrap()
}

fn ops(trace: &Trace, options: &Options) -> Vec<Vec<Op>> {
    let mut source = TraceSource::open(trace, options).unwrap();
    let all = (0..source.threads()).map(|thread| {
        let mut ops = Vec::new();
        while source.fill(thread, &mut ops).unwrap() == Next::More {}
        ops
    });
    all.collect()
}

/// Count, address, size and site of each event of an instruction.
type Brief = (u64, u64, u64, u32);

struct Events(Vec<Brief>);

impl ExecSink for Events {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let context = EventContext {
            thread: ThreadId(0),
            xsave: &[],
        };
        let mut push = |e: &Event<'_>| self.0.push((e.instr, e.addr, e.size, e.site.0));
        for_each_event(context, before, block, values, executed, &mut push);
    }

    fn special(&mut self, _: u64, _: Special) {}
}

#[test]
fn operations_are_the_recorded_events() {
    let folder = tempfile::tempdir().unwrap();
    let asm = workload("kv").unwrap().with_file_name("asm");
    let mut compared = 0;
    for name in [
        "plain",
        "loop",
        "string",
        "masked_avx",
        "flush",
        "region",
        "threads4",
    ] {
        let program = asm.join(name);
        if !program.exists() {
            eprintln!("skipped {name}: it was not built");
            continue;
        }
        let trace = recorded(folder.path(), &program, &[]);
        for thread in 0..trace.manifest().threads.len() as u32 {
            let thread = ThreadId(thread);
            // Alone: threads that were not there at the same time share a core.
            let keep = Options {
                waits: Waits::Keep,
                threads: Some(vec![thread]),
                ..Options::default()
            };
            let ops: Vec<Op> = ops(&trace, &keep).into_iter().flatten().collect();
            let mut expected = Events(Vec::new());
            let mut replayer = Replayer::default();
            let mut stream = trace.stream(thread, 0).unwrap();
            let mut decoder = Decoder::new().unwrap();
            while let Some(segment) = stream.next_segment(&mut decoder).unwrap() {
                let table = &*trace.table(segment.process).unwrap();
                replayer
                    .replay(segment.words, table, &mut expected)
                    .unwrap();
            }
            let of_instructions = ops.iter().filter(|op| {
                use OpKind::{Alloc, Await, Free, HandOff};
                !matches!(op.kind, HandOff | Await | Alloc { .. } | Free)
            });
            let got: Vec<Brief> = of_instructions
                .map(|op| (op.instr, op.addr, op.bytes(), op.site.0))
                .collect();
            assert_eq!(got, expected.0, "{name}, {thread:?}");
            compared += got.len();
        }
    }
    assert!(compared > 0);
}

/// Held while a ring is recorded: a second one would take its processors, and waits become longer.
static RING: Mutex<()> = Mutex::new(());

#[test]
fn each_message_of_the_ring_is_handed_over_once_each_way() {
    let _alone = RING.lock().unwrap_or_else(PoisonError::into_inner);
    const MESSAGES: usize = 20 << 10;
    const SLOTS: usize = 64;
    let folder = tempfile::tempdir().unwrap();
    let ring = workload("ring").unwrap();
    let infer = || {
        let trace = recorded(folder.path(), &ring, &["--messages=20K"]);
        let hand_offs = HandOffs::infer(&trace, &Options::default()).unwrap();
        (ops(&trace, &Options::default()), hand_offs)
    };
    const ALL: u64 = (MESSAGES + MESSAGES - SLOTS) as u64;
    // But for the first waits, in which a library's function ran for the first time.
    const MOST_POLLS: usize = MESSAGES + MESSAGES / 10;
    // On a busy machine a thread may be away between its last look and the message, which then is
    // not seen to be waited for, or a wait is too long to be seen as one: not every time.
    let (all, hand_offs) = std::iter::repeat_with(infer)
        .take(3)
        .find(|(all, found)| found.counts().enforced == ALL && flags_polled(all).1 < MOST_POLLS)
        .unwrap_or_else(infer);
    let counts = hand_offs.counts();
    assert_eq!(counts.enforced, ALL, "{counts:?}");
    assert_eq!((counts.spawned, counts.contradicting), (1, 0), "{counts:?}");
    let (producer, consumer) = (ThreadId(0), ThreadId(1));
    let order = |from, to| {
        let published: Vec<u32> = hand_offs.published_by(from).map(|e| e.number).collect();
        let awaited: Vec<u32> = hand_offs.awaited_by(to).map(|e| e.number).collect();
        assert_eq!(published, awaited);
        published.len()
    };
    // The consumer's thread is handed over, too.
    assert_eq!(order(producer, consumer), MESSAGES + 1);
    // And its end.
    assert_eq!(order(consumer, producer), MESSAGES - SLOTS + 1);

    assert_eq!(finishing(&all), 2);
    let (flags, polls) = flags_polled(&all);
    assert_eq!(flags, SLOTS + 1);
    assert!(polls < MOST_POLLS, "{polls}");
}

/// Of the consumer: the addresses that it waited at, and its loads of those.
fn flags_polled(threads: &[Vec<Op>]) -> (usize, usize) {
    let consumer = &threads[1];
    let flags: HashSet<u64> = (consumer.windows(2))
        .filter(|pair| pair[0].kind == OpKind::Await)
        .map(|pair| pair[1].addr)
        .collect();
    let polls = (consumer.iter())
        .filter(|op| op.kind == OpKind::Load && op.size == 4 && flags.contains(&op.addr));
    (flags.len(), polls.count())
}

/// A slot is claimed by one atomic and published by another: only the second one hands over.
#[test]
fn a_copied_message_is_handed_over_once_each_way_too() {
    let _alone = RING.lock().unwrap_or_else(PoisonError::into_inner);
    const MESSAGES: usize = 2 << 10;
    let folder = tempfile::tempdir().unwrap();
    let trace = recorded(
        folder.path(),
        &workload("ring").unwrap(),
        &["--messages=2K", "--slots=1", "--copy=yes", "--structures=3"],
    );
    let counts = HandOffs::infer(&trace, &Options::default())
        .unwrap()
        .counts();
    // On a busy machine a few are not recognised, as their threads were away in between.
    let most = 2 * MESSAGES - 1;
    let enforced = counts.enforced as usize;
    assert!(enforced <= most && enforced > most / 100 * 99, "{counts:?}");
    assert_eq!((counts.spawned, counts.contradicting), (1, 0), "{counts:?}");
}

/// Runs threads that wait for nothing but hand-offs; how many come to their ends?
fn finishing(threads: &[Vec<Op>]) -> usize {
    let mut at = vec![0; threads.len()];
    let mut published = HashSet::new();
    loop {
        let mut moved = false;
        for (thread, ops) in threads.iter().enumerate() {
            while let Some(op) = ops.get(at[thread]) {
                match op.kind {
                    OpKind::HandOff => assert!(published.insert(op.addr)),
                    OpKind::Await if !published.contains(&op.addr) => break,
                    _ => {}
                }
                at[thread] += 1;
                moved = true;
            }
        }
        if !moved {
            let ended = (0..threads.len()).filter(|&t| at[t] == threads[t].len());
            return ended.count();
        }
    }
}

#[test]
fn a_store_with_locks_is_not_ordered() {
    let folder = tempfile::tempdir().unwrap();
    let kv = workload("kv").unwrap();
    let args = ["--threads=4", "--ops=100K", "--keys=1K"];
    let trace = recorded(folder.path(), &kv, &args);
    let counts = HandOffs::infer(&trace, &Options::default())
        .unwrap()
        .counts();
    assert_eq!(counts.spawned, 3, "{counts:?}");
    assert!(counts.locks > 1000, "{counts:?}");
    // Three threads meet the first one before the measured part, there and back.
    let meeting = 2 * 3;
    // On a busy machine one in some ten thousand times that a lock is handed on looks like a message: once in 60 runs.
    let few = meeting..=meeting + counts.locks / 10_000;
    assert!(few.contains(&counts.enforced), "{counts:?}");
    assert_eq!(counts.contradicting, 0, "{counts:?}");
}

#[test]
fn processes_have_locks_in_common_where_they_share_memory() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("processes");
    let source = root().join("crates/cli/tests/programs/processes.c");
    compile(&source, &program, &[]);
    for (how, sections) in [
        ("private", 0),
        ("anonymous", 40),
        ("segment", 40),
        ("file", 40),
        ("both", 40),
        ("moved", 40),
        ("apart", 0),
    ] {
        // On a busy machine a process may be away for long within a section, and locks are not recognised: not every time.
        let mut tries = (0..3).map(|_| {
            let trace = recorded(folder.path(), &program, &[how]);
            let found = HandOffs::infer(&trace, &Options::default()).unwrap();
            (found.counts().sections, trace)
        });
        let (found, trace) = match sections {
            0 => tries.next(),
            _ => tries.find(|(found, _)| *found == sections),
        }
        .unwrap_or_else(|| panic!("{how}: not {sections} sections"));
        assert_eq!(found, sections, "{how}");
        // The lock's atomics are at one place, or at one for each of the processes.
        let mut places: Vec<u64> = ops(&trace, &Options::default())
            .iter()
            .map(|ops| {
                let mut at = HashMap::new();
                let atomics = ops.iter().filter(|o| o.kind == OpKind::Atomic);
                atomics.for_each(|o| *at.entry(o.addr).or_insert(0) += 1);
                at.into_iter().max_by_key(|(_, times)| *times).unwrap().0
            })
            .collect();
        places.dedup();
        assert_eq!(places.len() == 1, sections > 0, "{how}: {places:x?}");
    }
}
