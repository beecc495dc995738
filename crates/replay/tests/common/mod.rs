//! Made-up recordings and what their sources bring.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

#[path = "../../../trace/tests/common/mod.rs"]
pub mod made_up;
pub mod slot;

use std::path::Path;

use made_up::{block_frame, frame, module_frame, process_frame};
use prestore_replay::{Options, TraceSource};
use prestore_sim::{Next, Op, OpKind, Source};
use prestore_trace::block::{BlockTable, meta};
use prestore_trace::container::{Existing, Outcome, RecordingInfo, Trace, TraceWriter};
use prestore_trace::record::{Special, header};
use prestore_trace::{SiteTable, ThreadId};

/// Codes of kinds in block logs.
pub const LOAD: u8 = 0;
pub const STORE: u8 = 1;
pub const ATOMIC: u8 = 3;
pub const REGION_BEGIN: u8 = 15;

/// A block: id, values, and references as kind and slot.
pub type PlainBlock<'a> = (u32, u32, &'a [(u8, u16)]);

/// A reference of a special block: kind, mode, size, slot, `aux`, lanes.
pub type SpecialRef = (u8, u8, u32, u16, u16, u8);

/// A process: its blocks' log and its threads' words.
#[derive(Clone)]
pub struct Process {
    pub pid: u32,
    pub parent: u32,
    pub inherited: u32,
    pub blocks: Vec<u8>,
    pub threads: Vec<Vec<u64>>,
}

impl Process {
    /// Each block lies at its id times 0x100.
    pub fn new(blocks: &[PlainBlock<'_>], threads: Vec<Vec<u64>>) -> Self {
        let log = blocks
            .iter()
            .flat_map(|(id, words, refs)| block_frame(*id, *words, u64::from(*id) * 0x100, refs));
        Self {
            pid: 100,
            parent: 1,
            inherited: 0,
            blocks: log.collect(),
            threads,
        }
    }

    pub fn log(&self) -> Vec<u8> {
        let mut log = process_frame(self.pid, self.parent, self.inherited);
        log.extend(module_frame(0x1000, 0x100_0000, "/bin/program", &[1]));
        log.extend(&self.blocks);
        log
    }

    pub fn table(&self) -> BlockTable {
        let mut table = BlockTable::default();
        table.feed(&self.log(), &mut SiteTable::default()).unwrap();
        table
    }
}

pub fn write_as(dir: &Path, processes: &[Process], info: RecordingInfo) {
    let mut writer = TraceWriter::create(dir, info, Existing::Replace).unwrap();
    for process in processes {
        let id = writer
            .process(process.pid, process.parent, vec!["program".into()])
            .unwrap();
        writer.meta(id, &process.log()).unwrap();
        for (i, words) in process.threads.iter().enumerate() {
            let mut stream = writer.thread(id, process.pid + i as u32, None).unwrap();
            stream.words(words, &process.table()).unwrap();
            if let [.., time, ticks] = words[..]
                && time == header(prestore_trace::record::id::TIME, 1)
            {
                writer.thread_ended(stream.thread(), ticks);
            }
            stream.finish().unwrap();
        }
    }
    writer.finish(Outcome::Complete).unwrap();
}

/// A recording of `processes` and its folder.
pub fn recording(processes: &[Process]) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().unwrap();
    write_as(dir.path(), processes, RecordingInfo::default());
    let trace = Trace::open(dir.path()).unwrap();
    (dir, trace)
}

/// A block whose references are `(kind, mode, size, base slot, count or mask slot, lanes)`.
pub fn special_block(id: u32, words: u32, refs: &[SpecialRef]) -> Vec<u8> {
    special_block_of(refs.len() as u32, id, words, refs)
}

/// One instruction that copies: from where, to where, how many bytes.
pub fn copy_block(id: u32) -> Vec<u8> {
    const REP: u8 = 1;
    let refs = [(LOAD, REP, 1, 0, 2, 0), (STORE, REP, 1, 1, 2, 0)];
    special_block_of(1, id, 3, &refs)
}

/// The last of the references are all the last instruction's.
fn special_block_of(instrs: u32, id: u32, words: u32, refs: &[SpecialRef]) -> Vec<u8> {
    let start = u64::from(id) * 0x100;
    let mut p = Vec::new();
    p.extend(id.to_le_bytes());
    p.extend(instrs.to_le_bytes());
    p.extend(start.to_le_bytes());
    p.extend((start + 4 * u64::from(instrs)).to_le_bytes());
    p.extend((4 * (instrs - 1)).to_le_bytes());
    p.extend(words.to_le_bytes());
    p.extend((refs.len() as u16).to_le_bytes());
    p.extend([0; 6]);
    for (i, &(kind, mode, size, slot, aux, lanes)) in refs.iter().enumerate() {
        let instr = (i as u32).min(instrs - 1);
        p.extend((instr as u16).to_le_bytes());
        p.extend([kind, mode]);
        p.extend((4 * instr).to_le_bytes());
        p.extend(size.to_le_bytes());
        p.extend(slot.to_le_bytes());
        p.extend(aux.to_le_bytes());
        p.extend([0xff; 4]);
        p.extend([0, lanes, 0, 0]);
        p.extend([0; 8]);
    }
    p.extend(vec![4u8; instrs as usize]);
    frame(meta::BLOCK, p)
}

/// One execution.
pub fn exec(id: u32, values: &[u64]) -> Vec<u64> {
    let mut words = vec![header(id, 0)];
    words.extend(values);
    words
}

pub fn special(special: Special) -> Vec<u64> {
    let mut words = Vec::new();
    special.write(&mut words);
    words
}

pub fn stamp(ticks: u64) -> Vec<u64> {
    special(Special::Stamp { ticks })
}

/// All operations of a source's threads, and each thread's instructions.
pub fn drain(source: &mut TraceSource<'_>) -> Vec<(Vec<Op>, u64)> {
    let threads = 0..source.threads();
    let all = threads.map(|thread| {
        let mut ops = Vec::new();
        loop {
            let before = ops.len();
            match source.fill(thread, &mut ops).unwrap() {
                Next::More => assert!(ops.len() > before, "it brought nothing"),
                Next::End { instrs } => break (ops, instrs),
            }
        }
    });
    all.collect()
}

/// All operations of a recording.
pub fn ops(trace: &Trace, options: &Options) -> Vec<Vec<Op>> {
    let mut source = TraceSource::open(trace, options).unwrap();
    drain(&mut source).into_iter().map(|t| t.0).collect()
}

/// Kinds and addresses.
pub fn brief(ops: &[Op]) -> Vec<(OpKind, u64)> {
    ops.iter().map(|op| (op.kind, op.addr)).collect()
}

/// Runs threads that wait for nothing but hand-offs; how many come to their ends?
pub fn finishing(threads: &[Vec<Op>]) -> usize {
    let mut at = vec![0; threads.len()];
    let mut published = std::collections::HashSet::new();
    loop {
        let mut moved = false;
        for (thread, ops) in threads.iter().enumerate() {
            while let Some(op) = ops.get(at[thread]) {
                match op.kind {
                    OpKind::HandOff => assert!(published.insert(op.addr), "published twice"),
                    OpKind::Await if !published.contains(&op.addr) => break,
                    _ => {}
                }
                at[thread] += 1;
                moved = true;
            }
        }
        if !moved {
            return (0..threads.len())
                .filter(|&t| at[t] == threads[t].len())
                .count();
        }
    }
}

/// The threads of a trace as the manifest numbers them.
pub fn thread(n: u32) -> ThreadId {
    ThreadId(n)
}
