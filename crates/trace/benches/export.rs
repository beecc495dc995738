//! How fast a trace becomes Parquet, in events a second: why Parquet is not recorded into.
//!
//! `cargo bench -p prestore-trace --features parquet --bench export`; sizes go to stderr first.
#![allow(clippy::expect_used)] // a benchmark that cannot run has nothing else to do

use std::path::Path;

use divan::Bencher;
use divan::counter::ItemsCount;
use prestore_trace::block::{BlockTable, REF_BYTES, meta};
use prestore_trace::container::{Existing, Outcome, RecordingInfo, Trace, TraceWriter};
use prestore_trace::export::{SiteName, to_parquet};
use prestore_trace::record::header;
use prestore_trace::{ProcessId, SiteTable};

/// A block of seven loads and a store through four values.
fn log() -> Vec<u8> {
    let mut p: Vec<u8> = Vec::new();
    p.extend([64u32, 9].iter().flat_map(|v| v.to_le_bytes()));
    p.extend([0x1000u64, 0x1024].iter().flat_map(|v| v.to_le_bytes()));
    p.extend([32u32, 4].iter().flat_map(|v| v.to_le_bytes()));
    p.extend([8, 0, 0, 0, 0, 0, 0, 0]);
    for i in 0..8u8 {
        let mut r = [0; REF_BYTES];
        r[0] = i;
        r[2] = u8::from(i == 7);
        r[4] = 4 * i;
        r[8] = 8;
        r[12] = i % 4;
        r[18..20].fill(0xff);
        p.extend(r);
    }
    p.resize(p.len() + 9, 4);
    p.resize(p.len().next_multiple_of(8), 0);
    let mut log = meta::BLOCK.to_le_bytes().to_vec();
    log.extend((p.len() as u32).to_le_bytes());
    log.extend(p);
    log
}

fn record(dir: &Path) -> Trace {
    let mut writer = TraceWriter::create(dir, RecordingInfo::default(), Existing::Keep)
        .expect("a temporary directory");
    let process = writer.process(1, 0, vec![]).expect("space");
    writer.meta(process, &log()).expect("space");
    let mut table = BlockTable::default();
    table
        .feed(&log(), &mut SiteTable::default())
        .expect("a log");
    let mut stream = writer.thread(ProcessId(0), 1, None).expect("space");
    for row in 0..4_000u64 {
        let point = |i: u64| {
            let value = move |r: u64| 0x7f00_0000_0000 + (r << 24) + row * 528 + i * 8;
            std::iter::once(header(64, 0)).chain((0..4).map(value))
        };
        let words: Vec<u64> = (0..64).flat_map(point).collect();
        stream.words(&words, &table).expect("space");
    }
    stream.finish().expect("space");
    writer.finish(Outcome::Complete).expect("space");
    Trace::open(dir).expect("a trace")
}

#[divan::bench(sample_count = 5)]
fn parquet(bencher: Bencher<'_, '_>) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let trace = record(&dir.path().join("trace"));
    let events = trace.info().accesses;
    let mut n = 0;
    bencher.counter(ItemsCount::new(events)).bench_local(|| {
        n += 1;
        let out = dir.path().join(n.to_string());
        to_parquet(&trace, &out, |_, _| SiteName::default()).expect("space")
    });
    let bytes = dir.path().join("1/events.parquet").metadata();
    let each = bytes.map_or(0, |m| m.len()) as f64 / events as f64;
    eprintln!("{each:.3} bytes an access");
}

fn main() {
    divan::main();
}
