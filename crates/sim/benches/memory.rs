//! What a line costs that misses all caches: one read and one write through the memory system.
//! `cargo bench -p prestore-sim --bench memory`.

use divan::Bencher;
use divan::counter::ItemsCount;
use prestore_machine::Machines;
use prestore_sim::{MemoryPort, MemorySystem, Sent, Time};
use prestore_trace::LineAddr;

fn main() {
    divan::main();
}

/// Read-write pairs a round.
const PAIRS: u64 = 100_000;

/// Memory and machine.
const MEMORIES: &[(&str, &str)] = &[
    ("dram", "machine-a"),
    ("pmem", "machine-a"),
    ("fpga", "machine-b-fast"),
];

/// Lines one after the other, as a stream is read and its victims are written.
#[divan::bench(args = MEMORIES)]
fn sequential(bencher: Bencher, which: &(&str, &str)) {
    run(bencher, *which, |n| n);
}

/// Lines anywhere in 4 GB.
#[divan::bench(args = MEMORIES)]
fn random(bencher: Bencher, which: &(&str, &str)) {
    run(bencher, *which, |n| {
        (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & 0x3ff_ffff
    });
}

fn run(bencher: Bencher, (memory, machine): (&str, &str), line: impl Fn(u64) -> u64 + Sync) {
    let described = Machines::shipped().describe(machine, &[]);
    let Ok(mut machine) = described.map(|described| described.into_machine()) else {
        return;
    };
    let index = machine.memories.iter().position(|m| m.name == memory);
    machine.placement.default_memory = index.unwrap_or_default();
    let whole = u128::MAX >> (128 - machine.line.0);
    bencher
        .counter(ItemsCount::new(PAIRS))
        .with_inputs(|| MemorySystem::new(&machine, 1))
        .bench_local_refs(|system| {
            let mut now = Time::ZERO;
            for n in 0..PAIRS {
                // A few misses at once; a victim leaves a little later than the next miss.
                let read = system.read(0, now, LineAddr(line(n))).0;
                let victim = LineAddr(line(n) + (1 << 30));
                let taken = system.write(0, now + Time(100_000), victim, whole, Sent::Evicted);
                now = Time(now.0 + 30_000).max(read.max(taken).since(Time(2_000_000)));
            }
            now
        });
}
