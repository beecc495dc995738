use prestore_machine::device::Device as Described;
use prestore_machine::quantity::Size;

use super::Cxl;
use crate::Time;
use crate::memory::device::Device;
use crate::memory::fixtures::{cached, cxl, ns, pcm, read, write};

/// Units of 256 bytes, that is 4 lines.
fn units() -> prestore_machine::device::Cxl {
    prestore_machine::device::Cxl {
        unit: Size(256),
        ..cxl()
    }
}

#[test]
fn a_read_crosses_the_link_twice() {
    let mut d = Cxl::new(&cxl(), 0);
    assert_eq!(read(&mut d, 0, 0), 50 + 34 + 50);
}

#[test]
fn each_direction_has_its_own_bandwidth() {
    let mut slow = cxl();
    slow.to_host = prestore_machine::quantity::Rate(6.4);
    let mut d = Cxl::new(&slow, 0);
    let done: Vec<_> = (0..3).map(|line| read(&mut d, 0, line * 64)).collect();
    assert_eq!(done, [134, 144, 154], "10 ns a line");
    assert_eq!(
        write(&mut d, 1000, 0),
        1050 + 24,
        "towards the device it is not slow"
    );
}

#[test]
fn a_whole_unit_is_written_as_it_is() {
    let mut d = Cxl::new(&cxl(), 0);
    write(&mut d, 0, 0);
    let counted = d.counters();
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (64, 0)
    );
    assert_eq!(counted.read_modify_writes, 0);
}

#[test]
fn part_of_a_unit_costs_a_read_modify_write() {
    let mut d = Cxl::new(&units(), 0);
    // Read: tRCD, tCL, 16 ns for 256 bytes; write: 3 ns to turn the bus, 16 ns.
    assert_eq!(write(&mut d, 0, 64), 50 + 46 + 20 + 16);
    let counted = d.counters();
    assert_eq!(counted.write_bytes, 64);
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (256, 256)
    );
    assert_eq!(counted.read_modify_writes, 1);
}

#[test]
fn part_of_a_line_costs_a_read_modify_write() {
    let mut d = Cxl::new(&cxl(), 0);
    d.write(Time::ZERO, 0, 0xff);
    let counted = d.counters();
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (64, 64)
    );
    assert_eq!(counted.read_modify_writes, 1);
}

#[test]
fn a_cached_unit_is_read_once() {
    let mut d = Cxl::new(&cached(units()), 0);
    assert_eq!(
        read(&mut d, 0, 0),
        50 + 10 + 46 + 50,
        "the whole unit is fetched"
    );
    assert_eq!(read(&mut d, 1000, 192), 1000 + 50 + 10 + 50);
    assert_eq!(d.counters().media_read_bytes, 256);
}

#[test]
fn a_written_unit_is_not_fetched_and_goes_out_whole() {
    let mut d = Cxl::new(&cached(units()), 0);
    for line in 0..4 {
        assert_eq!(write(&mut d, 1000 * line, line * 64), 1000 * line + 60);
    }
    assert_eq!(d.counters().media_write_bytes, 0, "it waits in the cache");
    d.drain(ns(10_000));
    let counted = d.counters();
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (256, 0)
    );
}

#[test]
fn an_evicted_unit_that_was_written_in_part_is_read_first_and_written_whole() {
    let mut d = Cxl::new(&cached(units()), 0);
    // 16 sets of 2 ways: units 0, 16 and 32 share one.
    write(&mut d, 0, 0);
    read(&mut d, 1000, 16 * 256);
    let before = d.counters();
    read(&mut d, 2000, 32 * 256);
    let after = d.counters();
    assert_eq!(after.media_write_bytes - before.media_write_bytes, 256);
    assert_eq!(after.media_read_bytes - before.media_read_bytes, 2 * 256);
    assert_eq!(after.read_modify_writes, 1);
}

#[test]
fn the_least_recently_used_unit_is_evicted() {
    let mut d = Cxl::new(&cached(units()), 0);
    read(&mut d, 0, 0);
    read(&mut d, 1000, 16 * 256);
    read(&mut d, 2000, 0);
    read(&mut d, 3000, 32 * 256);
    let read_bytes = d.counters().media_read_bytes;
    read(&mut d, 4000, 0);
    assert_eq!(
        d.counters().media_read_bytes,
        read_bytes,
        "unit 0 is still there"
    );
}

#[test]
fn a_line_that_was_written_is_read_without_the_rest_of_its_unit() {
    let mut d = Cxl::new(&cached(units()), 0);
    write(&mut d, 0, 64);
    assert_eq!(read(&mut d, 1000, 64), 1110);
    assert_eq!(d.counters().media_read_bytes, 0);
    read(&mut d, 2000, 128);
    assert_eq!(d.counters().media_read_bytes, 256);
}

#[test]
fn units_are_spread_over_backing_channels() {
    let mut two = cxl();
    two.channels = 2;
    let mut d = Cxl::new(&two, 0);
    assert_eq!(read(&mut d, 0, 0), 134);
    assert_eq!(read(&mut d, 0, 64), 136, "only the link is shared");
}

#[test]
fn what_is_behind_it_may_write_less_than_units() {
    let mut behind = cxl();
    behind.backing = Described::Pcm(pcm());
    let mut d = Cxl::new(&behind, 0);
    write(&mut d, 0, 0);
    assert_eq!(d.counters().media_write_bytes, 0, "its row is open");
    d.drain(ns(1000));
    assert_eq!(
        (d.counters().media_write_bytes, d.counters().row_writes),
        (64, 1)
    );
}
