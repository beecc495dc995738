//! Dirty bytes of a line that has not come yet are written to memory no sooner than it comes.

use prestore_machine::Inclusion::NonInclusive;
use prestore_machine::{Scope, WritePolicy};
use prestore_sim::{Below, Hierarchy, Time};
use prestore_trace::{FlushKind, LineAddr};

use crate::machine::level;
use crate::memory::{Call, Log};
use crate::{WHOLE, caches, far, load, near, store};

const LINE: LineAddr = LineAddr(0);

/// Line 0 is at hand in a write-through level, and from 640 ns on in the shared one, where it was written.
fn written_beyond() -> Hierarchy<Log> {
    let mut through = near(2);
    through.write = WritePolicy::Through;
    let mut caches = caches(vec![through, far(NonInclusive, 1)]);
    load(&mut caches, 0, 0, 0);
    load(&mut caches, 0, 200, 1);
    assert_eq!(load(&mut caches, 0, 400, 0), 404, "still in the nearer one");
    assert_eq!(store(&mut caches, 0, 500, 0, 0xFF), 640);
    caches
}

#[test]
fn a_flush_waits_for_them() {
    let flushed = written_beyond().flush(0, Time(505_000), LINE, FlushKind::Clflushopt, false);
    assert_eq!(flushed.done, Time(660_000));
}

#[test]
fn non_temporal_bytes_wait_for_what_goes_along() {
    let at = Time(505_000);
    let around = |bytes| written_beyond().write_around(0, at, LINE, bytes, &[]);
    assert_eq!(around(0x0F), Time(660_000));
    assert_eq!(around(0xFF), Time(525_000), "nothing goes along");
}

#[test]
fn a_write_through_waits_for_what_goes_along() {
    let taken = written_beyond().write_through(0, Time(505_000), LINE, 0x0F, &[]);
    assert_eq!(taken, Time(660_000));
}

#[test]
fn a_load_around_waits_until_they_are_written() {
    let served = written_beyond().load_around(0, Time(505_000), LINE);
    assert_eq!(served.done, Time(760_000));
}

#[test]
fn a_demoted_line_is_no_sooner_beyond_a_write_through_level() {
    let mut through = level(Scope::Shared, NonInclusive, 1, 2, 14);
    through.write = WritePolicy::Through;
    let mut caches = caches(vec![near(2), through, far(NonInclusive, 1)]);
    assert_eq!(store(&mut caches, 0, 0, 0, WHOLE), 140);
    load(&mut caches, 1, 0, 1);
    assert_eq!(caches.demote(0, Time(10_000), LINE), Time(154_000));
    caches.own(1, Time(20_000), LineAddr(2), true);
    let last = caches.memory().0.last();
    assert_eq!(last, Some(&Call::Write(1, Time(154_000), 0, WHOLE)));
}
