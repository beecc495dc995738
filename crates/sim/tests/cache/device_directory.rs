//! A directory on the device: gaining exclusivity is a round trip (P0, section 4.2).

use prestore_machine::DirectoryHome;
use prestore_machine::Inclusion::NonInclusive;
use prestore_sim::{Below, Hierarchy, Time};
use prestore_trace::LineAddr;

use crate::machine::machine;
use crate::memory::Log;
use crate::{WHOLE, build, far, load, near, store};

fn caches() -> Hierarchy<Log> {
    let mut machine = machine(2, vec![near(1), far(NonInclusive, 2)]);
    machine.directory.home = DirectoryHome::Device { upgrade: None };
    build(&machine)
}

fn own(caches: &mut Hierarchy<Log>, core: u32, at: u64, whole: bool) -> u64 {
    let owned = caches.own(core, Time(at * 1000), LineAddr(0), whole);
    owned.done.0 / 1000
}

#[test]
fn writing_a_part_reads_the_line_and_then_asks_the_device() {
    assert_eq!(own(&mut caches(), 0, 0, false), 40 + 100 + 80);
}

#[test]
fn writing_the_whole_line_only_asks_the_device() {
    assert_eq!(own(&mut caches(), 0, 0, true), 40 + 80);
}

#[test]
fn a_line_that_was_read_is_not_owned() {
    let mut caches = caches();
    load(&mut caches, 0, 0, 0);
    assert!(!caches.owned(0, LineAddr(0)));
    assert_eq!(own(&mut caches, 0, 500, false), 500 + 40 + 80);
}

#[test]
fn the_core_that_had_it_last_need_not_ask_while_it_is_on_the_chip() {
    let mut caches = caches();
    store(&mut caches, 0, 0, 0, WHOLE);
    load(&mut caches, 0, 500, 1);
    assert_eq!(own(&mut caches, 0, 800, false), 840);
    assert_eq!(caches.counters().coherence.device_upgrades, 1);
}

#[test]
fn another_core_asks_again() {
    let mut caches = caches();
    store(&mut caches, 0, 0, 0, WHOLE);
    assert_eq!(own(&mut caches, 1, 500, false), 500 + 40 + 80);
}

#[test]
fn once_read_by_another_core_it_is_asked_for_again() {
    let mut caches = caches();
    store(&mut caches, 0, 0, 0, WHOLE);
    load(&mut caches, 1, 500, 0);
    assert_eq!(own(&mut caches, 0, 700, false), 700 + 40 + 80);
}

#[test]
fn a_line_that_left_the_chip_is_nobodys() {
    let mut caches = caches();
    store(&mut caches, 0, 0, 0, WHOLE);
    for line in 1..4 {
        load(&mut caches, 0, 500 * line, line);
    }
    assert_eq!(own(&mut caches, 0, 5000, false), 5000 + 40 + 100 + 80);
}

#[test]
fn the_device_forgets_who_lost_the_line_to_a_write_through() {
    let mut machine = machine(2, vec![near(1)]);
    machine.directory.home = DirectoryHome::Device { upgrade: None };
    let mut caches = build(&machine);
    own(&mut caches, 1, 0, false);
    caches.write_through(0, Time(500_000), LineAddr(0), 1, &[]);
    assert_eq!(own(&mut caches, 1, 900, false), 900 + 4 + 100 + 80);
}
