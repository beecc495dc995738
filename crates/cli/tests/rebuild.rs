//! Memory rebuilt from a recording with values is the program's, byte for byte, at random stops and at the end.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;
#[path = "rebuild/compare.rs"]
mod compare;
#[path = "rebuild/stops.rs"]
mod stops;

use std::path::{Path, PathBuf};

use common::{Ran, Running, compile, root, run, text, workload};
use compare::{Compared, compare};
use prestore_replay::{Options, Rebuild, TraceSource};
use prestore_sim::{Next, OpKind, Source};
use prestore_trace::container::Trace;

/// Records `command` with a stop after every `blocks` executed blocks on average, and compares.
#[track_caller]
fn rebuilt(folder: &Path, command: &[&str], blocks: u64) -> Compared {
    let (dir, stops) = (folder.join("trace"), folder.join("stops"));
    let mut prestore = std::process::Command::new(env!("CARGO_BIN_EXE_prestore"));
    prestore.args([
        "record",
        "-q",
        "--force",
        "--values",
        "-o",
        text(&dir),
        "--",
    ]);
    prestore.args(command);
    prestore.env("PRESTORE_STOPS", format!("{},{blocks}", text(&stops)));
    let ran: Ran = Running::start(prestore).finish();
    assert_eq!(ran.code(), 0, "{ran:#?}");
    let trace = Trace::open(&dir).unwrap();
    compare(&trace, &stops::read(&stops))
}

/// Of each thread, what the kernel writes when it likes, and a frame that nobody needs any more.
const UNKNOWN_A_STOP: u64 = 16 * 1024;

impl Compared {
    #[track_caller]
    fn holds(self, stops: usize) -> Self {
        assert!(self.stops >= stops, "only {} stops", self.stops);
        assert!(self.bytes > 0);
        assert_eq!(self.wrong_bytes, 0, "{self:x?}");
        assert!(
            self.unknown <= UNKNOWN_A_STOP * (self.stops as u64 + 1),
            "{self:x?}"
        );
        self
    }
}

fn own_program(folder: &Path, name: &str) -> PathBuf {
    let source = root()
        .canonicalize()
        .unwrap()
        .join(format!("crates/cli/tests/programs/{name}.c"));
    let program = folder.join(name);
    compile(&source, &program, &["-pthread", "-lm"]);
    program
}

#[test]
fn stores_of_every_kind() {
    let folder = tempfile::tempdir().unwrap();
    let program = own_program(folder.path(), "stores");
    let found = rebuilt(folder.path(), &[text(&program)], 900).holds(50);
    assert_eq!(found.counts.unknown, 0, "{found:x?}");
}

#[test]
fn what_the_kernel_writes() {
    let folder = tempfile::tempdir().unwrap();
    let program = own_program(folder.path(), "kernel");
    let file = folder.path().join("file");
    let found = rebuilt(folder.path(), &[text(&program), text(&file)], 300).holds(90);
    assert!(found.counts.kernel > 20_000, "{found:x?}");
    // FIONREAD is not in the table.
    assert!(found.counts.compared.contains_key(&16), "{found:x?}");
}

/// Of what nobody has touched in them nothing is read, but it holds something: zeros, or what its file holds.
#[test]
fn large_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let program = own_program(folder.path(), "large_ranges");
    let file = folder.path().join("file");
    let found = rebuilt(folder.path(), &[text(&program), text(&file)], 50_000).holds(10);
    assert_eq!(found.counts.unknown, 0, "{found:x?}");
}

#[test]
fn assembly_programs() {
    let folder = tempfile::tempdir().unwrap();
    let Some(kv) = workload("kv") else { return };
    for name in [
        "plain",
        "string",
        "vector",
        "masked_avx",
        "maskmovdqu",
        "movdir64b",
        "avx512",
        "threads4",
    ] {
        let program = kv.with_file_name("asm").join(name);
        // Some processors do not have some instructions.
        let native = std::process::Command::new(&program).status();
        if !native.is_ok_and(|s| s.success()) {
            eprintln!("skipped {name}: it does not run here");
            continue;
        }
        let found = rebuilt(folder.path(), &[text(&program)], 3).holds(1);
        assert_eq!(found.counts.unknown, 0, "{name}: {found:x?}");
    }
}

/// Rows of tiles, and words of vectors.
#[test]
fn newer_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let sources = root()
        .canonicalize()
        .unwrap()
        .join("crates/tracer/tests/programs");
    // Of the second, a store by a mask.
    for (name, argument, blocks) in [
        ("tile_accesses", "", 500),
        ("newer_instructions", "14", 500),
    ] {
        let program = folder.path().join(name);
        let made = std::process::Command::new("cc")
            .args(["-O1", "-no-pie", "-o", text(&program)])
            .arg(sources.join(format!("{name}.c")))
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&made.stderr);
        let unknown = log.contains("no such instruction");
        assert!(made.status.success() || unknown, "{log}");
        let native = std::process::Command::new(&program).arg(argument).output();
        if unknown || !native.is_ok_and(|n| n.status.success()) {
            eprintln!("SKIPPED: {name}: the assembler or the processor lacks them");
            continue;
        }
        let found = rebuilt(folder.path(), &[text(&program), argument], blocks).holds(1);
        assert_eq!(found.counts.unknown, 0, "{name}: {found:x?}");
    }
}

#[test]
fn bundled_workloads() {
    let folder = tempfile::tempdir().unwrap();
    let programs: [(&str, &[&str], u64); 11] = [
        (
            "kv",
            &["--keys=512", "--ops=2000", "--threads=2", "--spare-mb=0"],
            3000,
        ),
        ("ring", &["--messages=2000", "--slots=4"], 1200),
        ("stencil", &["--n=16", "--steps=3", "--threads=2"], 900),
        ("fft", &["--rows=4"], 3000),
        ("rank", &["--keys=10K", "--max-key=64K"], 900),
        ("buckets", &["--keys=16K", "--threads=2"], 900),
        ("lines", &["--n=16", "--threads=2"], 900),
        ("solver", &["--n=12", "--steps=1", "--threads=3"], 1500),
        ("pairs", &["--batches=1"], 6000),
        ("sparse", &["--rows=256", "--threads=2"], 1500),
        ("trie", &["--keys=256", "--ops=600", "--threads=3"], 2000),
    ];
    for (name, args, blocks) in programs {
        let Some(program) = workload(name) else {
            continue;
        };
        let command = [&[text(&program)], args].concat();
        let found = rebuilt(folder.path(), &command, blocks).holds(10);
        assert_eq!(found.counts.unknown, 0, "{name}: {found:x?}");
        eprintln!(
            "{name}: {} stops, unordered {}",
            found.stops, found.unordered
        );
    }
}

/// It maps and unmaps a tensor for each operation.
#[test]
fn a_workload_that_maps_and_unmaps() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = workload("tensor") else {
        return;
    };
    let args = ["--small-count=300", "--large-bytes=65536"];
    let command = [&[text(&program)], args.as_slice()].concat();
    let found = rebuilt(folder.path(), &command, 900).holds(10);
    assert_eq!(found.counts.unknown, 0, "{found:x?}");
}

/// Is it installed? A test without it says so.
fn installed(command: &str) -> bool {
    let found = std::process::Command::new("sh")
        .args(["-c", &format!("command -v {command}")])
        .output()
        .is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("skipped: {command} is not installed (scripts/setup.sh test)");
    }
    found
}

#[test]
fn sqlite() {
    if !installed("sqlite3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sql = "create table t(a primary key, b); \
        with recursive c(x) as (select 1 union all select x + 1 from c where x < 700) \
        insert into t select x, hex(x) from c; delete from t where a % 7 = 3; \
        select count(*), sum(a) from t;";
    let file = folder.path().join("file.db");
    let command = ["sqlite3", text(&file), sql];
    rebuilt(folder.path(), &command, 20_000).holds(30);
}

#[test]
fn redis() {
    if !installed("redis-server") || !installed("redis-cli") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let clients = format!(
        "s={}; while [ ! -S $s ]; do sleep 0.1; done; \
         for i in 1 2 3 4 5 6 7 8 9; do redis-cli -s $s set key:$i value$i; redis-cli -s $s lpush list $i; done; \
         redis-cli -s $s debug populate 200; redis-cli -s $s shutdown nosave",
        socket.display()
    );
    let clients = std::process::Command::new("sh")
        .args(["-c", &clients])
        .stdout(std::process::Stdio::null())
        .spawn();
    let command = [
        "redis-server",
        "--port",
        "0",
        "--save",
        "",
        "--unixsocket",
        text(&socket),
        "--dir",
        text(folder.path()),
        "--enable-debug-command",
        "yes",
    ];
    rebuilt(folder.path(), &command, 10_000).holds(30);
    clients.unwrap().wait().unwrap();
}

#[test]
fn persistent_objects() {
    if !Path::new("/usr/include/libpmemobj.h").exists() {
        eprintln!("skipped: libpmemobj-dev is not installed (scripts/setup.sh test)");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let source = root()
        .canonicalize()
        .unwrap()
        .join("crates/cli/tests/programs/objects.c");
    let program = folder.path().join("objects");
    compile(&source, &program, &["-Wl,--no-as-needed", "-lpmemobj"]);
    let pool = folder.path().join("pool");
    rebuilt(folder.path(), &[text(&program), text(&pool)], 50_000).holds(30);
}

#[test]
fn a_recording_without_values_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    run(["record", "-q", "-o", text(&dir), "--", "true"]).exits(0);
    let trace = Trace::open(&dir).unwrap();
    let error = Rebuild::new(&trace, false).err().unwrap().to_string();
    assert!(error.contains("it has no values"), "{error}");
    assert!(error.contains("prestore record --values"), "{error}");
}

#[test]
fn values_are_summed_up_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, out) = (folder.path().join("trace"), folder.path().join("out"));
    let program = own_program(folder.path(), "stores");
    let record = [
        "record",
        "-q",
        "--values",
        "-o",
        text(&dir),
        "--",
        text(&program),
    ];
    run(record).exits(0);
    let info = run(["trace", "info", "--format", "json", text(&dir)])
        .exits(0)
        .json();
    common::assert_valid("trace-info.schema.json", &info);
    let values = &info["values"];
    assert!(values["stored"].as_u64().unwrap() > 10_000, "{values}");
    assert!(values["images"].as_u64().unwrap() > 4096, "{values}");
    assert_eq!(values["unknown"], 0, "{values}");
    assert_eq!(
        values["shared"], 32,
        "the kernel's part of the thread: {values}"
    );
    let said = run(["trace", "info", text(&dir)]).exits(0).stdout;
    assert!(said.contains(" stored, "), "{said}");
    run(["export", text(&dir), "--to", "parquet", "-o", text(&out)]).exits(0);
    let rows = exported(&out.join("values.parquet"));
    let of = |why: &str| rows.iter().filter(|r| r.0 == why).map(|r| r.1).sum::<u64>();
    assert_eq!(of("store"), values["stored"].as_u64().unwrap());
    assert_eq!(of("kernel"), values["kernel"].as_u64().unwrap());
}

/// Why and how many bytes, of each row.
fn exported(file: &Path) -> Vec<(String, u64)> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;
    let reader = SerializedFileReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let size = row.get_ulong(5).unwrap();
        if row.get_string(3).unwrap() == "store" {
            assert_eq!(row.get_bytes(6).unwrap().len() as u64, size);
        }
        (row.get_string(3).unwrap().clone(), size)
    });
    rows.collect()
}

/// Beside the operations, each store has its bytes: in one thread, they are what the last of them left.
#[test]
fn operations_have_their_bytes_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    let program = own_program(folder.path(), "stores");
    let record = [
        "record",
        "-q",
        "--values",
        "-o",
        text(&dir),
        "--",
        text(&program),
    ];
    run(record).exits(0);
    let trace = Trace::open(&dir).unwrap();
    let options = Options {
        values: true,
        ..Options::default()
    };
    let mut source = TraceSource::open(&trace, &options).unwrap();
    let (mut ops, mut number, mut known, mut stores) = (Vec::new(), 0, 0, 0);
    while source.fill(0, &mut ops).unwrap() == Next::More {
        for op in ops.drain(..) {
            if !matches!(op.kind, OpKind::Store | OpKind::NtStore | OpKind::Atomic) {
                continue;
            }
            stores += 1;
            if let Some(bytes) = source.stored(0, number) {
                assert_eq!(bytes.len(), op.size as usize);
                known += bytes.len() as u64;
            } else {
                assert_eq!(op.kind, OpKind::Atomic, "only what failed has none: {op:?}");
            }
            number += 1;
        }
    }
    let mut rebuild = Rebuild::new(&trace, false).unwrap();
    rebuild.to_end().unwrap();
    assert!(stores > 10_000);
    assert_eq!(known, rebuild.counts().stored);
}
