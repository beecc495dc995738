use prestore_machine::device::PagePolicy;
use prestore_machine::quantity::Share;

use super::Dram;
use crate::memory::device::{Device, DeviceCounters};
use crate::memory::fixtures::{dram, read, write};

/// Another row of the bank that address 0 lies in.
fn neighbour(device: &Dram) -> u64 {
    let bank = device.rows.locate(0).bank;
    (1..100)
        .map(|row| row * 1024)
        .find(|addr| device.rows.locate(*addr).bank == bank)
        .unwrap()
}

fn rows(device: &Dram) -> (u64, u64, u64) {
    let DeviceCounters {
        row_hits,
        row_misses,
        row_conflicts,
        ..
    } = device.counters();
    (row_hits, row_misses, row_conflicts)
}

#[test]
fn a_row_is_opened_then_hit_then_in_the_way() {
    let mut d = Dram::new(&dram());
    assert_eq!(read(&mut d, 0, 0), 10 + 20 + 4, "tRCD, tCL, burst");
    assert_eq!(read(&mut d, 1000, 64), 1000 + 20 + 4, "tCL, burst");
    let other = neighbour(&d);
    assert_eq!(
        read(&mut d, 2000, other),
        2000 + 30 + 10 + 20 + 4,
        "tRP too"
    );
    assert_eq!(rows(&d), (1, 1, 1));
}

#[test]
fn hits_stream_at_the_rate_of_the_bus() {
    let mut d = Dram::new(&dram());
    let done: Vec<_> = (0..4).map(|i| read(&mut d, 0, i * 64)).collect();
    assert_eq!(done, [34, 38, 42, 46]);
}

#[test]
fn banks_open_their_rows_side_by_side() {
    let mut d = Dram::new(&dram());
    assert_eq!(read(&mut d, 0, 0), 34);
    assert_eq!(read(&mut d, 0, 1024), 38, "only the bus is shared");
}

#[test]
fn efficiency_takes_bus_time_and_no_latency() {
    let mut parameters = dram();
    parameters.efficiency = Share(0.5);
    let mut d = Dram::new(&parameters);
    let done: Vec<_> = (0..3).map(|i| read(&mut d, 0, i * 64)).collect();
    assert_eq!(done, [34, 42, 50]);
}

#[test]
fn a_closed_page_policy_opens_each_time_and_closes_behind_the_access() {
    let mut parameters = dram();
    parameters.policy = PagePolicy::Closed;
    let mut d = Dram::new(&parameters);
    assert_eq!(read(&mut d, 0, 0), 34);
    // The bank is free again after tRCD, the burst and tRP.
    assert_eq!(read(&mut d, 0, 64), 44 + 34);
    assert_eq!(rows(&d), (0, 2, 0));
}

#[test]
fn a_written_row_recovers_before_it_is_closed() {
    let mut d = Dram::new(&dram());
    assert_eq!(write(&mut d, 0, 0), 34);
    let other = neighbour(&d);
    // tWR after the data, then tRP, tRCD, tCL, burst.
    assert_eq!(read(&mut d, 34, other), 34 + 15 + 30 + 10 + 20 + 4);
}

#[test]
fn the_bus_turns_round() {
    let mut d = Dram::new(&dram());
    write(&mut d, 0, 0);
    // The write's data moves until 34; tWTR after that.
    assert_eq!(read(&mut d, 14, 64), 34 + 7 + 4);
    // The read's data moves until 45; tRTW after that.
    assert_eq!(write(&mut d, 20, 128), 45 + 3 + 4);
}

#[test]
fn a_call_from_before_is_not_held_up_by_what_lies_ahead() {
    let mut d = Dram::new(&dram());
    read(&mut d, 0, 0);
    assert_eq!(write(&mut d, 5000, 64), 5024);
    assert_eq!(read(&mut d, 1000, 128), 1024);
}

#[test]
fn part_of_a_line_is_written_without_a_read() {
    let mut d = Dram::new(&dram());
    d.write(crate::Time::ZERO, 0, 0xff);
    let counted = d.counters();
    assert_eq!(counted.media_write_bytes, 8);
    assert_eq!(
        (counted.media_read_bytes, counted.read_modify_writes),
        (0, 0)
    );
}
