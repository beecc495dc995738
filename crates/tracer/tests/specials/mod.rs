//! Records a program and keeps what is no block execution.
// Each test binary uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use prestore_trace::block::{Block, BlockTable, UnknownOpcode};
use prestore_trace::record::Special;
use prestore_trace::replay::{ExecSink, Replayer};
use prestore_trace::{ProcessId, SiteTable};
use prestore_tracer::{
    Counts, Interrupts, Options, Outcome, ProcessInfo, Sink, SinkError, Stream, record,
};

/// What a recording has besides executions, in the order of each thread.
#[derive(Default)]
pub struct Specials {
    pub threads: BTreeMap<u32, Vec<Special>>,
    pub instrs: u64,
    pub skipped: u64,
    pub unknown: BTreeMap<u32, Vec<UnknownOpcode>>,
    replayers: BTreeMap<u32, Replayer>,
}

struct Taker<'a>(&'a mut Vec<Special>);

impl ExecSink for Taker<'_> {
    fn exec(&mut self, _: u64, _: &Block, _: &[u64], _: u32) {}

    fn special(&mut self, _: u64, special: Special) {
        self.0.push(special);
    }
}

impl Sink for Specials {
    fn process(&mut self, _: ProcessInfo) -> Result<(), SinkError> {
        Ok(())
    }

    fn meta(&mut self, id: ProcessId, _: &[u8], table: &BlockTable) -> Result<(), SinkError> {
        self.unknown.insert(id.0, table.unknown_opcodes().to_vec());
        Ok(())
    }

    fn thread(&mut self, _: Stream) -> Result<(), SinkError> {
        Ok(())
    }

    fn words(
        &mut self,
        stream: Stream,
        words: &[u64],
        table: &BlockTable,
        _: &mut SiteTable,
    ) -> Result<(), SinkError> {
        let replayer = self.replayers.entry(stream.thread.0).or_default();
        let specials = self.threads.entry(stream.thread.0).or_default();
        let before = replayer.instrs();
        let whole = replayer
            .replay(words, table, &mut Taker(specials))
            .map_err(|e| SinkError(Box::new(e)))?;
        assert_eq!(whole, words.len(), "a torn record");
        self.instrs += replayer.instrs() - before;
        Ok(())
    }

    fn counts(
        &mut self,
        _: Stream,
        _: &Counts,
        _: &BlockTable,
        _: &mut SiteTable,
    ) -> Result<(), SinkError> {
        Ok(())
    }

    fn tick(&mut self) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Compiles a test program.
pub fn compile(compiler: &str, source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(source);
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let done = Command::new(compiler)
        .args(["-O1", "-pthread", "-o"])
        .arg(&out)
        .arg(source)
        .args(flags)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{log}");
    out
}

/// Records `program` with `file` as its argument.
pub fn run(program: &Path, file: &Path, options: &Options) -> (Outcome, Specials) {
    let mut specials = Specials::default();
    let command = [program.as_os_str().to_owned(), file.as_os_str().to_owned()];
    let outcome = record(&command, options, &Interrupts::default(), &mut specials).unwrap();
    assert!(outcome.failure.is_none());
    (outcome, specials)
}
