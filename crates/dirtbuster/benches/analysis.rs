//! Raw events (loads, stores, fences) a second that the analysis takes in, on one core, replay of
//! the words included. `cargo bench -p prestore-dirtbuster`; look at the Mitem/s.

#![allow(clippy::expect_used, reason = "shares the helpers of tests")]

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use divan::counter::ItemsCount;
use fastrand::Rng;
use synthetic::Program;
use synthetic::copy::Copy;

const HEAP: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7ffc_0000_0000;

fn main() {
    divan::main();
}

fn analyze(bencher: divan::Bencher<'_, '_>, program: Program) {
    let findings = program.analyze().findings;
    let events = findings.loads + findings.stores;
    bencher
        .counter(ItemsCount::new(events))
        .bench_local(|| program.analyze());
}

/// A sweep over a grid of doubles: nine loads and one store a point, unrolled by four.
#[divan::bench(sample_count = 10)]
fn stencil(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let row = 512 * 8;
    let mut draft = p.block(1, 0);
    for point in 0..4 {
        for at in [-row - 8, -row, -row + 8, -8, 0, 8, row - 8, row, row + 8] {
            draft = draft.load(0, at + point * 8, 8);
        }
        draft = draft.compute(4).store(1, point * 8, 8);
    }
    let block = draft.compute(2).done();
    for pass in 0..4 {
        let (from, to) = (HEAP + pass * 0x100_0000, HEAP + (pass + 1) * 0x100_0000);
        for i in (row as u64..500 * row as u64).step_by(32) {
            p.run(0, block, &[from + i, to + i]);
        }
    }
    analyze(bencher, p);
}

/// Two threads by turns, each with a grid of its own, which one of them has cleared: most reads are of what the thread itself wrote.
#[divan::bench(sample_count = 10)]
fn turns(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let clear = p.block(1, 0).store(0, 0, 32).done();
    let mut draft = p.block(2, 0);
    for at in [-64, -32, 0, 32, 64] {
        draft = draft.load(0, at, 32);
    }
    let point = draft.load(1, 0, 32).compute(4).store(1, 0, 32).done();
    let grid = |number: u64| HEAP + number * 0x100_0000;
    let points = (64..1u64 << 19).step_by(32).collect::<Vec<_>>();
    for i in points
        .iter()
        .flat_map(|i| [0, 1, 2, 3].map(|g| grid(g) + i))
    {
        p.run(0, clear, &[i]);
    }
    for pass in 0..8 {
        for turn in points.chunks(4000) {
            for thread in 0..2 {
                let (from, to) = (
                    u64::from(thread) * 2 + pass % 2,
                    u64::from(thread) * 2 + 1 - pass % 2,
                );
                for i in turn {
                    p.run(thread, point, &[grid(from) + i, grid(to) + i]);
                }
            }
        }
    }
    analyze(bencher, p);
}

/// Vectors of 32 bytes copied from one array to another, again and again.
#[divan::bench(sample_count = 10)]
fn stream(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let block = p
        .block(1, 0)
        .load(0, 0, 32)
        .store(1, 0, 32)
        .compute(2)
        .done();
    for _ in 0..4 {
        for i in (0..16u64 << 20).step_by(32) {
            p.run(0, block, &[HEAP + i, HEAP + 0x4000_0000 + i]);
        }
    }
    analyze(bencher, p);
}

/// Random increments in a table of 16 MB.
#[divan::bench(sample_count = 10)]
fn random(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let block = p
        .block(1, 0)
        .load(0, 0, 4)
        .increment(1, 0, 4)
        .compute(2)
        .done();
    let mut random = Rng::with_seed(5);
    for i in 0..2_000_000u64 {
        let counter = random.u64(..4 << 20) * 4;
        p.run(0, block, &[STACK + i * 4 % 65536, HEAP + counter]);
    }
    analyze(bencher, p);
}

/// Gets and puts of 1 KB values with calls, stack traffic, a hash index and locks.
#[divan::bench(sample_count = 10)]
fn kv(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let copy = Copy::new(&mut p);
    let enter = p
        .block(1, 0)
        .store(0, -8, 8)
        .store(0, -16, 8)
        .store(0, -24, 8)
        .compute(6)
        .call()
        .done();
    let hash = p
        .block(4, 0)
        .load(0, -8, 8)
        .compute(12)
        .store(0, -64, 8)
        .load(0, -64, 8)
        .ret()
        .done();
    let leave = p
        .block(1, 10)
        .load(0, -8, 8)
        .load(0, -16, 8)
        .compute(3)
        .after(enter)
        .done();
    let probe = p
        .block(2, 0)
        .load(0, 0, 8)
        .compute(3)
        .load(0, 8, 8)
        .compute(2)
        .done();
    let lock = p.block(2, 10).atomic(0, 0, 8).compute(2).done();
    let link = p
        .block(2, 20)
        .store(0, 16, 8)
        .store(0, 0, 8)
        .compute(3)
        .done();
    let put = p.block(1, 20).store(0, -32, 8).compute(4).call().done();
    let back = p.block(1, 30).load(0, -32, 8).after(put).done();
    let scan = p
        .block(3, 0)
        .load(0, 0, 32)
        .load(0, 32, 32)
        .compute(4)
        .done();
    let mut random = Rng::with_seed(7);
    for _ in 0..60_000 {
        let key = random.u64(..100_000);
        let (value, bucket) = (HEAP + key * 1088, HEAP + 0x10_0000_0000 + key * 64);
        p.run(0, enter, &[STACK]);
        p.run(0, hash, &[STACK]);
        p.run(0, leave, &[STACK]);
        p.run(0, probe, &[bucket]);
        if random.u64(..2) == 0 {
            p.run(0, put, &[STACK]);
            copy.run(&mut p, 0, value, 1024);
            p.run(0, back, &[STACK]);
            p.run(0, lock, &[bucket]);
            p.run(0, link, &[bucket]);
        } else {
            for at in (0..1024).step_by(64) {
                p.run(0, scan, &[value + at]);
            }
        }
    }
    analyze(bencher, p);
}

/// Calls that spill to the stack, and little else.
#[divan::bench(sample_count = 10)]
fn calls(bencher: divan::Bencher<'_, '_>) {
    let mut p = Program::default();
    let call = p
        .block(1, 0)
        .store(0, -8, 8)
        .store(0, -16, 8)
        .compute(2)
        .store(0, -24, 8)
        .call()
        .done();
    let callee = p
        .block(2, 0)
        .store(0, -32, 8)
        .store(0, -40, 8)
        .compute(4)
        .load(0, -40, 8)
        .load(0, -32, 8)
        .load(0, -24, 8)
        .ret()
        .done();
    let back = p
        .block(1, 10)
        .load(0, -8, 8)
        .load(0, -16, 8)
        .compute(4)
        .after(call)
        .done();
    for i in 0..500_000u64 {
        let frame = STACK - i % 7 * 112;
        p.run(0, call, &[frame]);
        p.run(0, callee, &[frame]);
        p.run(0, back, &[frame]);
    }
    analyze(bencher, p);
}
