//! What caches had to do with each other, and what prefetchers fetched, is in the results.

use prestore_machine::Machine;
use prestore_sim::{CoherenceCounters, OpKind, PrefetchCounters};

use crate::source::run;

const LINES: u64 = 500;

#[test]
fn a_core_alone_asks_nobody_and_what_it_reads_in_order_is_fetched_ahead() {
    let machine = Machine::find("machine-a").unwrap();
    let results = run(&machine, 1, |_, i| {
        (i < LINES).then_some((OpKind::Load, i * 64, 8))
    });
    assert_eq!(results.coherence, CoherenceCounters::default());
    let fetched = results.prefetches;
    let lines = fetched.next_line + fetched.stride;
    assert!(
        fetched.useful > LINES * 9 / 10 && fetched.useful <= lines,
        "{fetched:?}"
    );
}

#[test]
fn cores_that_write_the_same_lines_ask_each_other() {
    let off = [
        "core.prefetch.stride_streams=0",
        "core.prefetch.next_line=false",
    ];
    let machine = Machine::find_with("machine-a", &off).unwrap();
    let results = run(&machine, 2, |_, i| {
        (i < 2 * LINES).then_some((OpKind::Store, i % LINES * 4160, 8))
    });
    // Each line is taken from the other core at least once.
    let between = results.coherence;
    assert!(
        between.snoops >= LINES && between.peer_lines >= LINES,
        "{between:?}"
    );
    assert_eq!(between.upgrades, 0, "nobody reads first: {between:?}");
    assert_eq!(results.prefetches, PrefetchCounters::default());
}

/// Parts of lines, which pass the caches, beside whole ones that they evict and flush.
#[test]
fn what_leaves_the_last_cache_is_what_memory_is_sent() {
    for of_type in [
        "write-back",
        "write-through",
        "write-combining",
        "uncacheable",
    ] {
        let last = 4 * LINES * 64 - 1;
        let of = format!("{{ kind = \"addresses\", first = 0, last = {last} }}");
        let types = format!("placement.types=[{{ of = {of}, type = \"{of_type}\" }}]");
        let machine = Machine::find_with("tiny", &[&types]).unwrap();
        let results = run(&machine, 1, |_, i| {
            let kind = [OpKind::NtStore, OpKind::Store][(i % 2) as usize];
            (i < 8 * LINES).then_some((kind, i * 64, 8))
        });
        let sent: u64 = results.memories.iter().map(|m| m.write_bytes).sum();
        assert_eq!(results.bytes["L2_to_memory"], sent, "{of_type}");
    }
}
