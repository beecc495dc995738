//! How fast words are encoded and decoded, in accesses and words a second, and how small they get.
//!
//! `cargo bench -p prestore-trace`; the sizes go to stderr first.
#![allow(clippy::expect_used)] // a benchmark that cannot run has nothing else to do

use divan::Bencher;
use divan::counter::ItemsCount;
use fastrand::Rng;
use prestore_trace::block::{Block, BlockEnd, BlockTable, NO_SLOT, Ref, RefMode};
use prestore_trace::container::{BLOCK_WORDS, Decoded, Decoder, Encoded, Encoder};
use prestore_trace::record::header;
use prestore_trace::{EventKind, SiteId};

/// A program's words.
struct Program {
    table: BlockTable,
    words: Vec<u64>,
}

fn block(id: u32, words: u32, loads: u16, stores: u16) -> Block {
    let one = |i: u16| Ref {
        kind: if i < loads {
            EventKind::Load
        } else {
            EventKind::Store
        },
        mode: RefMode::Plain,
        instr: i,
        slot: i % (words.max(1) as u16),
        value_slot: NO_SLOT,
        size: 8,
        disp: 0,
        site: SiteId(0),
        frame: false,
        compare: prestore_trace::block::NO_SLOT,
    };
    Block {
        id,
        instrs: u32::from(loads + stores) * 2 + 1,
        words,
        end: BlockEnd::Jump,
        start_pc: 0,
        next_pc: 0,
        last_site: SiteId(0),
        start_site: SiteId(0),
        refs: (0..loads + stores).map(one).collect(),
        lengths: Box::default(),
        code: Box::default(),
    }
}

/// A 3-D sweep: rows of 64 points, 8 accesses a point through 4 registers, a row's end each.
fn stencil() -> Program {
    let mut table = BlockTable::default();
    table.put(block(64, 4, 7, 1));
    table.put(block(65, 2, 1, 1));
    let mut words = Vec::new();
    for row in 0..20_000u64 {
        for i in 0..64 {
            words.push(header(64, 0));
            words.extend((0..4).map(|r| 0x7f00_0000_0000 + (r << 24) + row * 528 + i * 8));
        }
        words.extend([header(65, 0), 0x7ffc_1000, 0x7ffc_1040]);
    }
    Program { table, words }
}

/// The smallest loop: a load and a store through one register.
fn copy() -> Program {
    let mut table = BlockTable::default();
    table.put(block(64, 2, 1, 1));
    let mut words = Vec::new();
    for i in 0..1_000_000u64 {
        words.extend([header(64, 0), 0x1000_0000 + i * 8, 0x2000_0000 + i * 8]);
    }
    Program { table, words }
}

/// A key-value store: hash, bucket, copy of a value at a random place, calls between.
fn kv() -> Program {
    let mut table = BlockTable::default();
    for id in 64..84 {
        table.put(block(id, 2, 4, 2));
    }
    let mut random = Rng::with_seed(1);
    let mut words = Vec::new();
    let stack = 0x7ffc_0000_0000u64;
    for op in 0..40_000u64 {
        let key = random.u64(..100_000);
        let put = random.u64(..2);
        for id in 64..70 {
            words.extend([
                header(id, 0),
                stack + u64::from(id) * 8,
                0x5000_0000 + op * 32,
            ]);
        }
        for probe in 0..1 + key % 3 {
            let bucket = 0x7f00_0000_0000 + (key + probe) * 64;
            words.extend([header(70, 0), bucket, stack + 64]);
        }
        let value = 0x7e00_0000_0000 + key * 1024;
        for i in 0..16 {
            let id = 72 + put as u32;
            words.extend([header(id, 0), value + i * 64, stack + 0x1000 + i * 64]);
        }
        for id in 74 + 4 * put as u32..78 + 4 * put as u32 {
            words.extend([header(id, 0), stack + u64::from(id) * 8, value]);
        }
    }
    Program { table, words }
}

/// Counting at random places: nothing to predict but the code.
fn random() -> Program {
    let mut table = BlockTable::default();
    table.put(block(64, 2, 2, 1));
    let mut random = Rng::with_seed(7);
    let mut words = Vec::new();
    for i in 0..1_000_000u64 {
        let at = 0x7f00_0000_0000 + random.u64(..1 << 21) * 4;
        words.extend([header(64, 0), 0x1000_0000 + i * 4, at]);
    }
    Program { table, words }
}

/// Unpredictable branches over blocks with unpredictable values.
fn branchy() -> Program {
    let mut table = BlockTable::default();
    for id in 64..128 {
        table.put(block(id, id % 3, 2, 1));
    }
    let mut random = Rng::with_seed(9);
    let mut words = Vec::new();
    for _ in 0..1_000_000 {
        let id = 64 + random.u32(..64);
        words.push(header(id, 0));
        words.extend((0..id % 3).map(|_| 0x7f00_0000_0000 + random.u64(..1 << 24)));
    }
    Program { table, words }
}

type Make = fn() -> Program;

const PROGRAMS: [(&str, Make); 5] = [
    ("stencil", stencil),
    ("copy", copy),
    ("kv", kv),
    ("random", random),
    ("branchy", branchy),
];

fn encode(p: &Program, encoder: &mut Encoder) -> Vec<(Encoded, Vec<u8>)> {
    let mut blocks = Vec::new();
    let mut rest = &p.words[..];
    loop {
        let (taken, done) = encoder.push(rest, &p.table).expect("its blocks are known");
        rest = &rest[taken..];
        let mut payload = Vec::new();
        let encoded = encoder.finish(&mut payload).expect("memory");
        blocks.push((encoded, payload));
        if done {
            return blocks;
        }
    }
}

fn program(name: &str) -> Program {
    let found = PROGRAMS.iter().find(|(n, _)| *n == name);
    found.map_or_else(copy, |(_, make)| make())
}

fn accesses(blocks: &[(Encoded, Vec<u8>)]) -> u64 {
    blocks.iter().map(|(e, _)| e.counts.accesses()).sum()
}

#[divan::bench(args = PROGRAMS.map(|p| p.0))]
fn encoding(bencher: Bencher<'_, '_>, name: &str) {
    let p = program(name);
    let mut encoder = Encoder::new(BLOCK_WORDS).expect("memory");
    let n = accesses(&encode(&p, &mut encoder));
    bencher
        .counter(ItemsCount::new(n))
        .bench_local(|| encode(&p, &mut encoder));
}

#[divan::bench(args = PROGRAMS.map(|p| p.0))]
fn decoding(bencher: Bencher<'_, '_>, name: &str) {
    let p = program(name);
    let blocks = encode(&p, &mut Encoder::new(BLOCK_WORDS).expect("memory"));
    let mut decoder = Decoder::new().expect("memory");
    let mut out = Decoded::default();
    bencher
        .counter(ItemsCount::new(accesses(&blocks)))
        .bench_local(|| {
            for (encoded, payload) in &blocks {
                let done = decoder.decode(payload, encoded.words, &mut out);
                done.expect("its own encoding");
            }
        });
}

fn main() {
    for (name, make) in PROGRAMS {
        let p = make();
        let blocks = encode(&p, &mut Encoder::new(BLOCK_WORDS).expect("memory"));
        let (n, bytes) = (
            accesses(&blocks),
            blocks.iter().map(|b| b.1.len()).sum::<usize>(),
        );
        let each = bytes as f64 / n as f64;
        let words = p.words.len() as f64 / n as f64;
        eprintln!("{name}: {n} accesses, {words:.2} words and {each:.3} bytes an access");
    }
    divan::main();
}
