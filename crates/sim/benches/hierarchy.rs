//! Line accesses a second of the caches alone, on P0's machine A with a memory that costs nothing.
//! `cargo bench -p prestore-sim`; look at the Mitem/s.

#![allow(clippy::expect_used, reason = "shares the helpers of tests")]

#[path = "../tests/cache/machine.rs"]
mod machine;

use divan::counter::ItemsCount;
use machine::{level, machine};
use prestore_machine::quantity::{Share, Size};
use prestore_machine::{CacheLevel, Inclusion, Replacement, Scope, SliceHash};
use prestore_sim::{Below, ByteMask, Hierarchy, MemoryPort, Sent, Time};
use prestore_trace::LineAddr;

fn main() {
    divan::main();
}

struct Nothing;

impl MemoryPort for Nothing {
    fn read(&mut self, _core: u32, at: Time, _line: LineAddr) -> (Time, u8) {
        (at + Time(300_000), 0)
    }

    fn write(&mut self, _core: u32, at: Time, _line: LineAddr, _bytes: ByteMask, _: Sent) -> Time {
        at + Time(60_000)
    }

    fn upgrade(&mut self, _core: u32, at: Time, _line: LineAddr) -> Time {
        at
    }
}

fn machine_a() -> Hierarchy<Nothing> {
    let qlru = Replacement::Qlru {
        hit: 0,
        insert: 1,
        distant: Share(0.1),
    };
    let caches = vec![
        CacheLevel {
            replacement: Replacement::TreePlru,
            mshrs: Some(12),
            ..level(Scope::Private, Inclusion::NonInclusive, 64, 8, 4)
        },
        CacheLevel {
            replacement: qlru,
            mshrs: Some(16),
            ..level(Scope::Private, Inclusion::NonInclusive, 1024, 16, 14)
        },
        CacheLevel {
            replacement: qlru,
            hash: SliceHash::XorFold,
            slices: 20,
            size: Size(20 * 2048 * 11 * 64),
            ..level(Scope::Shared, Inclusion::NonInclusiveVictim, 1, 11, 77)
        },
    ];
    Hierarchy::new(&machine(20, caches), Nothing, 1).expect("machine A can be built")
}

const ACCESSES: u64 = 1 << 20;

/// Loads, eight of each line in turn, of 16 KB.
#[divan::bench]
fn l1_loads(bencher: divan::Bencher<'_, '_>) {
    let mut caches = machine_a();
    let mut at = Time::ZERO;
    bencher.counter(ItemsCount::new(ACCESSES)).bench_local(|| {
        for access in 0..ACCESSES {
            at += Time(500);
            divan::black_box(caches.load(0, at, LineAddr(access / 8 % 256)));
        }
    });
}

/// Stores of eight bytes, eight of each line in turn, to 16 KB.
#[divan::bench]
fn l1_stores(bencher: divan::Bencher<'_, '_>) {
    let mut caches = machine_a();
    let mut at = Time::ZERO;
    bencher.counter(ItemsCount::new(ACCESSES)).bench_local(|| {
        for access in 0..ACCESSES {
            at += Time(500);
            store(&mut caches, at, access / 8 % 256, 0xFF << (access % 8 * 8));
        }
    });
}

fn store(caches: &mut Hierarchy<Nothing>, at: Time, line: u64, bytes: ByteMask) {
    let line = LineAddr(line);
    if !caches.owned(0, line) {
        caches.own(0, at, line, false);
    }
    divan::black_box(caches.write(0, at, line, bytes, &[]));
}

/// Elements of 1 KB, anywhere in 2 GB, each line loaded once and missing everywhere.
#[divan::bench]
fn load_misses(bencher: divan::Bencher<'_, '_>) {
    misses(bencher, |caches, at, line| {
        divan::black_box(caches.load(0, at, LineAddr(line)));
    });
}

/// The same, written: each line also pushes a dirty one out to memory.
#[divan::bench]
fn store_misses(bencher: divan::Bencher<'_, '_>) {
    misses(bencher, |caches, at, line| {
        store(caches, at, line, u128::from(u64::MAX));
    });
}

fn misses(bencher: divan::Bencher<'_, '_>, access: fn(&mut Hierarchy<Nothing>, Time, u64)) {
    let mut caches = machine_a();
    let (mut at, mut random) = (Time::ZERO, 1_u64);
    let mut run = || {
        for number in 0..ACCESSES {
            at += Time(20_000);
            if number % 16 == 0 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
            }
            let element = random >> 43;
            access(&mut caches, at, element * 16 + number % 16);
        }
    };
    run();
    bencher.counter(ItemsCount::new(ACCESSES)).bench_local(run);
}
