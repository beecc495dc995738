//! Memory types: what P1 says of them, and what changes at run time.

use prestore_machine::Machine;
use prestore_sim::{Doors, Results};

use crate::program::{Thread, run, tiny};

const PAGES: u64 = 1 << 40;

/// All of 1 TiB on is of this type.
fn typed(machine: &str, of: &str) -> Machine {
    let types = format!(
        "placement.types=[{{ of = {{ kind = \"addresses\", first = {PAGES}, last = {} }}, type = \"{of}\" }}]",
        PAGES + (1 << 30)
    );
    Machine::find_with(machine, &[&types]).unwrap()
}

/// A loop over 800 KB (P1, section 3.2), `reads` and `writes` of each 8 bytes.
fn cycles(machine: &Machine, reads: bool, writes: bool) -> u64 {
    let mut thread = Thread::default();
    for element in 0..100_000 {
        let addr = PAGES + 8 * element;
        if reads {
            thread = thread.load(addr).work(2);
        }
        if writes {
            thread = thread.store(addr, 0).work(2);
        }
    }
    run(machine, [thread], Doors::closed()).0.cycles
}

fn within(share: f64, a: u64, b: u64) -> bool {
    (a as f64 / b as f64 - 1.0).abs() <= share
}

#[test]
fn write_through_reads_as_write_back_and_writes_as_uncacheable() {
    let machine = |of| typed("hp-e5620", of);
    let (back, through) = (machine("write-back"), machine("write-through"));
    let (combining, uncacheable) = (machine("write-combining"), machine("uncacheable"));
    let read = |machine| cycles(machine, true, false);
    let write = |machine| cycles(machine, false, true);
    assert!(within(0.02, read(&through), read(&back)));
    assert!(within(0.02, read(&combining), read(&uncacheable)));
    assert!(read(&uncacheable) > 10 * read(&back));
    assert!(within(0.05, write(&through), write(&uncacheable)));
    assert!(write(&uncacheable) > 5 * write(&back));
    assert!(write(&combining) < 2 * write(&back));
}

#[test]
fn write_back_by_name_is_what_no_rule_names() {
    let plain = Machine::find("hp-e5620").unwrap();
    let named = typed("hp-e5620", "write-back");
    assert_eq!(cycles(&plain, true, true), cycles(&named, true, true));
}

#[test]
fn what_is_written_through_is_persistent_in_order_without_a_flush_and_clean() {
    let thread = |n: u64| {
        let mut thread = Thread::default();
        for line in 0..n {
            // Each line is read before, and so in the cache.
            thread = thread
                .load(PAGES + 64 * line)
                .store(PAGES + 64 * line + 8, 0);
        }
        thread
    };
    let machine = typed("tiny", "write-through");
    let (results, log) = run(&machine, [thread(20)], Doors::closed());
    let written: Vec<_> = log
        .iter()
        .map(|a| (a.line.0 - PAGES / 64, a.bytes))
        .collect();
    assert_eq!(
        written,
        (0..20).map(|line| (line, 0xff00)).collect::<Vec<_>>()
    );
    assert!(log.iter().all(|a| a.persisted));
    assert_eq!(results.levels[0].counts.dirty_evictions, 0);
    let flushed = thread(1).sfence().clwb(PAGES);
    let (results, _) = run(&machine, [flushed], Doors::closed());
    assert_eq!((results.flushes.clean, results.flushes.dirty), (1, 0));
}

#[test]
fn what_is_uncacheable_or_combined_is_never_cached() {
    for of in ["uncacheable", "write-combining"] {
        let thread = Thread::default()
            .load(PAGES)
            .store(PAGES + 8, 0)
            .load(PAGES)
            .sfence()
            .clwb(PAGES);
        let (results, _) = run(&typed("tiny", of), [thread], Doors::closed());
        let flushes = &results.flushes;
        assert_eq!((flushes.absent, flushes.clean, flushes.dirty), (1, 0, 0));
    }
}

/// What is allocated is uncacheable, and write-back again when it is returned.
fn allocated_uncacheable(threads: Thread) -> (Results, Vec<prestore_sim::Accepted>) {
    let types = "placement.types=[{ of = { kind = \"allocations-from\", size = \"4 KiB\" }, type = \"uncacheable\" }]";
    run(&tiny(&[types]), [threads], Doors::closed())
}

#[test]
fn a_change_of_type_flushes_what_is_cached_first() {
    let addr = 1 << 20;
    let stores = Thread::default()
        .store(addr, 0)
        .store(addr + 128, 0)
        .sfence();
    let (_, log) = allocated_uncacheable(stores.clone());
    assert_eq!(log, [], "it stays in the caches");
    let (results, log) = allocated_uncacheable(stores.clone().alloc(addr, 4096));
    let lines: Vec<u64> = log.iter().map(|a| a.line.0 - addr / 64).collect();
    assert_eq!(lines, [0, 2]);
    assert_eq!(results.flushes.dirty, 2);
    // Small ranges are looked at line by line, large ones the other way round.
    let (_, log) = allocated_uncacheable(stores.alloc(addr, 1 << 30));
    assert_eq!(log.len(), 2);
}

#[test]
fn a_type_lasts_as_long_as_what_it_was_given_to() {
    let addr = 1 << 20;
    let loads = |thread: Thread| thread.load(addr).work(100).load(addr).work(100);
    let read = |thread| allocated_uncacheable(thread).0.memories[0].read_bytes;
    assert_eq!(read(loads(Thread::default())), 64);
    let uncached = Thread::default().alloc(addr, 4096);
    assert_eq!(read(loads(uncached.clone())), 2 * 64);
    assert_eq!(read(loads(loads(uncached).free(addr))), 3 * 64);
}
