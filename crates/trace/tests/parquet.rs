//! The exported files open in pyarrow and DuckDB with the documented columns.
//!
//! Needs Python and, the first time, a package index: without them it says so and is skipped.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests, too

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{alloc, block_frame, module_frame, process_frame, time};
use prestore_trace::block::BlockTable;
use prestore_trace::container::{Existing, Outcome, RecordingInfo, Trace, TraceWriter};
use prestore_trace::export::{ExportError, SiteName, to_parquet};
use prestore_trace::record::header;
use prestore_trace::{ProcessId, SiteTable, ThreadId};

/// Versions that the test was made with.
const PACKAGES: [&str; 2] = ["pyarrow==26.0.1", "duckdb==2.0.0"];

const STORES: u64 = 100_000;

/// A trace of two threads: one stores and allocates, the other loads twice and fences.
fn trace(dir: &Path) -> Trace {
    let mut writer = TraceWriter::create(dir, RecordingInfo::default(), Existing::Keep).unwrap();
    let process = writer.process(100, 1, vec![]).unwrap();
    let mut log = process_frame(100, 1, 0);
    log.extend(module_frame(0x1000, 0x9000, "/bin/program", &[0xab]));
    log.extend(block_frame(64, 1, 0x1100, &[(1, 0)]));
    log.extend(block_frame(65, 2, 0x1200, &[(0, 0), (0, 1), (14, 0xffff)]));
    writer.meta(process, &log).unwrap();
    let mut table = BlockTable::default();
    table.feed(&log, &mut SiteTable::default()).unwrap();
    let mut stores = time(1000);
    stores.extend(alloc(0x5000, 800));
    stores.extend((0..STORES).flat_map(|i| [header(64, 0), 0x5000 + 8 * i]));
    let mut loads = time(2000);
    loads.extend([header(65, 0), 1 << 63, u64::MAX - 7]);
    // Of the second nobody noted when it began: its first time says so.
    let threads = [(0, 101, Some(5), stores, 1000), (1, 102, None, loads, 2000)];
    for (id, tid, start, words, end) in threads {
        let mut stream = writer.thread(ProcessId(0), tid, start).unwrap();
        stream.words(&words, &table).unwrap();
        stream.finish().unwrap();
        // Noted where it is known; the last time in a stream is not its end.
        writer.thread_ended(ThreadId(id), end);
    }
    writer.finish(Outcome::Complete).unwrap();
    Trace::open(dir).unwrap()
}

fn export(dir: &Path) -> PathBuf {
    let trace = trace(&dir.join("trace"));
    let out = dir.join("out");
    let exported = to_parquet(&trace, &out, |site, module| SiteName {
        function: (module.path == "/bin/program").then(|| "main".to_owned()),
        file: None,
        line: Some(site.offset as u32),
    });
    let exported = exported.unwrap();
    assert_eq!((exported.events, exported.threads), (STORES + 4, 2));
    out
}

#[test]
fn existing_files_are_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let out = export(dir.path());
    let trace = Trace::open(&dir.path().join("trace")).unwrap();
    let error = to_parquet(&trace, &out, |_, _| SiteName::default()).unwrap_err();
    assert!(matches!(error, ExportError::Exists { .. }), "{error}");
}

#[test]
fn pyarrow_and_duckdb_read_the_documented_columns() {
    let dir = tempfile::tempdir().unwrap();
    let out = export(dir.path());
    let Some(python) = python() else {
        eprintln!("skipped: no Python with {PACKAGES:?} here, and none could be made");
        return;
    };
    let check = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check_parquet.py");
    let run = Command::new(python).arg(check).arg(out).output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr),
    );
    assert!(run.status.success(), "{stdout}{stderr}");
    assert_eq!(stdout.trim(), "pyarrow and duckdb agree");
}

/// The interpreter of a virtual environment that is kept between runs.
fn python() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parquet-python");
    let python = venv.join("bin/python");
    let works = |python: &Path| {
        let run = Command::new(python)
            .args(["-c", "import pyarrow, duckdb"])
            .output();
        run.is_ok_and(|o| o.status.success())
    };
    if works(&python) {
        return Some(python);
    }
    let made = Command::new("python3")
        .args(["-m", "venv", "--clear"])
        .arg(&venv)
        .output();
    if !made.is_ok_and(|o| o.status.success()) {
        return None;
    }
    let install = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    let installed = Command::new(&python)
        .args(install)
        .args(PACKAGES)
        .output()
        .ok()?;
    if !installed.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&installed.stderr));
    }
    works(&python).then_some(python)
}
