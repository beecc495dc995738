//! Which stores a write comes from.

use prestore_sim::Stored;
use prestore_trace::SiteId;

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock, Thread};

/// Thread's store `number`, at instruction (and site) `site`.
fn name(number: u64, site: u32, bytes: u128) -> Stored {
    Stored {
        number,
        site: SiteId(site),
        bytes,
    }
}

#[test]
fn each_store_of_a_store_buffer_has_its_name() {
    let mut below = Mock::owning([1, 2]);
    let thread = Thread::default().store(1).load(9).store_at(124, 8);
    thread.sfence().run(&tso(), &mut below);
    assert_eq!(
        below.names,
        [
            (Call::Write(1, 0xff), vec![name(0, 0, 0xff)]),
            // Across two lines: one store.
            (Call::Write(1, 0xf << 60), vec![name(1, 2, 0xf << 60)]),
            (Call::Write(2, 0xf), vec![name(1, 2, 0xf)]),
        ]
    );
}

#[test]
fn merged_stores_are_all_named_oldest_first() {
    let mut below = Mock::owning([1, 2]);
    let thread = Thread::default().store(1).store(2).store_at(72, 8);
    thread.finish(&weak(), &mut below);
    assert_eq!(
        below.names,
        [
            (
                Call::Write(1, 0xffff),
                vec![name(0, 0, 0xff), name(2, 2, 0xff00)]
            ),
            (Call::Write(2, 0xff), vec![name(1, 1, 0xff)]),
        ]
    );
}

#[test]
fn non_temporal_stores_are_named_with_the_buffer_that_gathered_them() {
    let mut below = Mock::default();
    let thread = Thread::default()
        .nt_store_at(64, 32)
        .nt_store_at(128, 8)
        .nt_store_at(96, 32);
    thread.sfence().run(&tso(), &mut below);
    let (low, high) = (u128::from(u32::MAX), u128::from(u32::MAX) << 32);
    assert_eq!(
        below.names,
        [
            (
                Call::Around(1, low | high),
                vec![name(0, 0, low), name(2, 2, high)]
            ),
            (Call::Around(2, 0xff), vec![name(1, 1, 0xff)]),
        ]
    );
}

#[test]
fn atomics_are_stores() {
    let mut below = Mock::owning([1]);
    Thread::default().store(1).atomic(1).run(&tso(), &mut below);
    let last = below.names.last().cloned();
    assert_eq!(last, Some((Call::Write(1, 0xff), vec![name(1, 1, 0xff)])));
}
