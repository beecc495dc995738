//! Without `--values` nothing of them is in a recording: blocks end as the program's do, or behind an atomic, and hold no word more.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;

use common::{run, text, workload};
use prestore_trace::EventKind;
use prestore_trace::block::{Block, NO_SLOT};
use prestore_trace::container::{Decoder, Trace};
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, Replayer};

/// What is there because of values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    executions: u64,
    contents: u64,
    /// Stamps, and executions with atomics.
    stamps: u64,
    atomics: u64,
    /// References with words for values, or flags.
    valued: u64,
    /// Executions that go on behind a repeated or masked store.
    longer: u64,
}

impl ExecSink for Seen {
    fn exec(&mut self, _: u64, block: &Block, _: &[u64], _: u32) {
        self.executions += 1;
        let atomic = |r: &&prestore_trace::block::Ref| r.kind == EventKind::AtomicRmw;
        self.atomics += u64::from(block.refs.iter().any(|r| atomic(&r)));
        let valued =
            |r: &&prestore_trace::block::Ref| r.value_slot != NO_SLOT || r.compare != NO_SLOT;
        self.valued += block.refs.iter().filter(valued).count() as u64;
        let ends = |r: &prestore_trace::block::Ref| {
            r.kind.writes() && (!r.is_plain() || r.kind == EventKind::AtomicRmw)
        };
        let mut behind = block
            .refs
            .iter()
            .filter(|r| u32::from(r.instr) + 1 < block.instrs);
        self.longer += u64::from(behind.any(ends));
    }

    fn special(&mut self, _: u64, special: Special) {
        self.stamps += u64::from(matches!(special, Special::Stamp { .. }));
    }

    fn content(&mut self, _: u64, _: Content<'_>) {
        self.contents += 1;
    }
}

fn seen(folder: &Path, options: &[&str], program: &[&str]) -> Seen {
    let dir = folder.join("trace");
    let record = ["record", "-q", "--force", "-o", text(&dir)];
    run(record.iter().chain(options).chain(&["--"]).chain(program)).exits(0);
    let trace = Trace::open(&dir).unwrap();
    let mut seen = Seen::default();
    let mut decoder = Decoder::new().unwrap();
    for thread in &trace.manifest().threads {
        let mut stream = trace.stream(thread.id, 0).unwrap();
        let mut replayer = Replayer::default();
        while let Some(segment) = stream.next_segment(&mut decoder).unwrap() {
            let table = trace.table(segment.process).unwrap();
            replayer.replay(segment.words, &table, &mut seen).unwrap();
        }
    }
    seen
}

#[test]
fn nothing_is_paid_without_values() {
    let folder = tempfile::tempdir().unwrap();
    let ring = workload("ring").unwrap();
    let program = [text(&ring), "--messages=300", "--slots=4"];
    let without = seen(folder.path(), &[], &program);
    assert_eq!((without.contents, without.valued), (0, 0), "{without:?}");
    assert_eq!(
        without.stamps,
        2 * without.atomics,
        "one before each and one behind: {without:?}"
    );
    assert!(without.longer > 0, "{without:?}");
    let with = seen(folder.path(), &["--values"], &program);
    assert!(with.contents > 0 && with.valued > 0, "{with:?}");
    assert!(with.stamps > 2 * with.atomics, "{with:?}");
    assert_eq!(with.longer, 0, "{with:?}");
}
