//! P0's listing 1: elements at random places, each written from its first byte to its last.

use prestore_machine::Machine;
use prestore_sim::{OpKind, Results};
use prestore_trace::FlushKind;

use crate::source::run;

/// Bytes of an element.
const ELEMENT: u64 = 1024;
const LINES: u64 = ELEMENT / 64;
/// Elements written by each thread, and those there are: many times the cache below.
const WRITTEN: u64 = 4_000;
const ELEMENTS: u64 = 1 << 16;

/// Machine A with a small last level, so that evictions begin at once.
fn machine() -> Machine {
    Machine::find_with(
        "machine-a",
        &[
            "caches.L2.size=\"64 KiB\"",
            "caches.L3.size=\"704 KiB\"",
            "caches.L3.slices=1",
            "placement.default_memory=\"pmem\"",
            "placement.rules=[]",
        ],
    )
    .unwrap()
}

fn listing1(machine: &Machine, threads: u32, clean: bool) -> Results {
    let per_line = if clean { 2 } else { 1 };
    run(machine, threads, move |thread, i| {
        let line = i / per_line;
        let element = line / LINES;
        if element == WRITTEN {
            return None;
        }
        let mixed = (element + 1 + (u64::from(thread) << 40)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (mixed >> 20) % ELEMENTS * 2 + u64::from(thread % 2);
        let addr = place * ELEMENT + line % LINES * 64;
        Some(if i % per_line == 0 {
            (OpKind::Store, addr, 64)
        } else {
            (OpKind::Flush(FlushKind::Clwb), addr, 0)
        })
    })
}

#[test]
fn cleaning_ends_write_amplification() {
    let machine = machine();
    let plain = listing1(&machine, 2, false);
    let clean = listing1(&machine, 2, true);
    let of = |r: &Results| r.write_amplification.unwrap();
    assert!(of(&plain) > 1.5, "{}", of(&plain));
    assert!((0.98..1.1).contains(&of(&clean)), "{}", of(&clean));
    assert!(
        clean.cycles < plain.cycles,
        "{} {}",
        clean.cycles,
        plain.cycles
    );
    assert_eq!(clean.flushes.dirty, 2 * WRITTEN * LINES);
}
