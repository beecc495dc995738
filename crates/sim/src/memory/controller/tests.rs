//! What a controller does with reads and writes, seen from the caches.

use prestore_machine::device::Device as Described;
use prestore_machine::quantity::Nanos;
use prestore_machine::{Controller, WriteOrder, device};

use crate::Time;
use crate::memory::any::AnyDevice;
use crate::memory::channel::{Channel, whole_line};
use crate::memory::fixtures::{controller, dram, fpga, ns, optane, pcm};

const LINE: u64 = 64;

fn channel(controller: &Controller, device: &Described) -> Channel {
    Channel::new(controller, device, AnyDevice::new(device, None, 0), LINE, 1)
}

fn of_dram() -> Channel {
    channel(&controller(), &device::Device::Dram(dram()))
}

fn read(c: &mut Channel, at: u64, line: u64) -> u64 {
    c.read(ns(at), line * LINE).0 / 1000
}

fn write(c: &mut Channel, at: u64, line: u64) -> u64 {
    c.write(ns(at), line * LINE, whole_line(LINE)).0 / 1000
}

#[test]
fn a_read_goes_there_and_back() {
    assert_eq!(read(&mut of_dram(), 0, 0), 15 + 34 + 15);
}

#[test]
fn a_write_is_accepted_at_once() {
    assert_eq!(write(&mut of_dram(), 100, 0), 110);
}

#[test]
fn below_the_threshold_writes_wait_and_reads_do_not_notice() {
    let mut c = of_dram();
    // They come to the controller at the same time as the read.
    for line in 0..5 {
        write(&mut c, 5, 100 + line);
    }
    assert_eq!(c.counters().device.write_bytes, 0);
    assert_eq!(read(&mut c, 0, 0), 64);
}

#[test]
fn at_the_threshold_writes_drain_and_reads_wait_for_the_end() {
    let mut c = of_dram();
    for line in 0..6 {
        write(&mut c, 0, line);
    }
    // Four of six leave, 10 ns after the call: tRCD, tCL, then four bursts of 4 ns.
    assert_eq!(c.counters().device.write_bytes, 4 * LINE);
    let drained = 10 + 10 + 20 + 4 * 4;
    // A row hit in turn, after the bus turned round (its tCL covers that), and back.
    assert_eq!(read(&mut c, 0, 7), drained + 20 + 4 + 15);
}

#[test]
fn a_read_from_before_the_drain_goes_first() {
    let mut c = of_dram();
    for line in 0..6 {
        write(&mut c, 500, line + 16);
    }
    assert_eq!(read(&mut c, 0, 0), 64);
}

#[test]
fn a_full_queue_pushes_back_until_a_line_has_left() {
    let mut c = of_dram();
    let accepted: Vec<_> = (0..10).map(|line| write(&mut c, 0, line)).collect();
    // Two wait and four are on their way when the drain begins: two more entries. The next gets its
    // own when the first of the four is at the device.
    assert_eq!(accepted[..8], [10; 8]);
    assert_eq!(accepted[8], 10 + 10 + 20 + 4);
    assert_eq!(accepted[9], 10 + 10 + 20 + 8);
    assert_eq!(c.counters().queue_full, ns(34 + 38));
}

#[test]
fn a_read_of_a_waiting_line_is_answered_from_the_queue() {
    let mut c = of_dram();
    write(&mut c, 0, 3);
    assert_eq!(read(&mut c, 100, 3), 130);
    let counted = c.counters();
    assert_eq!((counted.forwarded_reads, counted.device.read_bytes), (1, 0));
}

#[test]
fn a_line_that_waits_in_part_is_read_from_the_device() {
    let mut c = of_dram();
    c.write(ns(0), 0, 0xff);
    assert_eq!(read(&mut c, 100, 0), 164);
    assert_eq!(c.counters().forwarded_reads, 0);
}

#[test]
fn writes_to_one_line_become_one() {
    let mut c = of_dram();
    for byte in 0..64 {
        c.write(ns(0), 0, 1 << byte);
    }
    assert_eq!(read(&mut c, 100, 0), 130, "they are whole together");
    c.drain(ns(200));
    let counted = c.counters();
    assert_eq!((counted.writes, counted.merged_writes), (64, 63));
    assert_eq!(counted.device.media_write_bytes, 64);
}

#[test]
fn idle_time_is_used_down_to_the_lower_threshold() {
    let mut c = of_dram();
    for line in 0..5 {
        write(&mut c, 0, line);
    }
    assert_eq!(
        read(&mut c, 1000, 7),
        1000 + 15 + 24 + 15,
        "their row is open by then"
    );
    assert_eq!(c.counters().device.write_bytes, 3 * LINE);
}

fn of_batches() -> Channel {
    let mut batches = controller();
    batches.drain_batch = Some(3);
    channel(&batches, &device::Device::Dram(dram()))
}

#[test]
fn an_idle_device_gets_whole_batches_row_by_row() {
    let mut c = of_batches();
    // Two may wait. Line 64 is in another row of the bank.
    for line in [0, 64, 1] {
        write(&mut c, 0, line);
    }
    assert_eq!(c.counters().device.write_bytes, 0, "no time was idle yet");
    read(&mut c, 1000, 48);
    let counted = c.counters().device;
    assert_eq!(counted.write_bytes, 3 * LINE);
    assert_eq!(counted.row_hits, 1, "line 1 behind line 0");
}

#[test]
fn of_a_batch_those_go_first_whose_bank_is_ready() {
    let mut batches = controller();
    (batches.drain_batch, batches.write_order) = (Some(2), WriteOrder::FrFcfs);
    let mut c = channel(&batches, &device::Device::Pcm(pcm()));
    // Two rows of bank 0, one of bank 1: bank 1 need not wait for the first.
    for line in [0, 64, 16] {
        write(&mut c, 0, line);
    }
    // tRCD, tCWD and a burst from 10 on, then the other bank's burst: it has the read's row open.
    let drained = 10 + 50 + 10 + 4 + 4;
    assert_eq!(read(&mut c, 15, 17), drained + 20 + 4 + 15);
}

#[test]
fn at_the_threshold_one_batch_leaves() {
    let mut c = of_batches();
    for line in 0..6 {
        write(&mut c, 0, line);
    }
    assert_eq!(c.counters().device.write_bytes, 3 * LINE);
    let drained = 10 + 10 + 20 + 3 * 4;
    assert_eq!(read(&mut c, 0, 7), drained + 20 + 4 + 15);
}

#[test]
fn a_read_during_an_idle_batch_waits_for_its_end() {
    let mut c = of_batches();
    for line in 0..3 {
        write(&mut c, 0, line);
    }
    // They come at 10, and the third turns the controller; tRCD, tCL and three bursts take until 52.
    assert_eq!(read(&mut c, 15, 7), 52 + 20 + 4 + 15);
}

#[test]
fn lines_of_one_row_leave_together() {
    let mut c = of_dram();
    // Rows of 16 lines; lines of two rows in turn.
    for i in 0..3 {
        write(&mut c, 0, i);
        write(&mut c, 0, 64 + i);
    }
    let counted = c.counters().device;
    assert_eq!(counted.write_bytes, 4 * LINE);
    assert_eq!(
        (counted.row_misses + counted.row_conflicts, counted.row_hits),
        (2, 2)
    );
}

#[test]
fn the_read_queue_is_limited() {
    let mut c = of_dram();
    let done: Vec<_> = (0..5).map(|line| read(&mut c, 0, line)).collect();
    assert_eq!(done[..4], [64, 68, 72, 76]);
    // The fifth comes to the device when the first has left, at 49.
    assert_eq!(done[4], 49 + 24 + 15);
}

#[test]
fn a_bus_before_the_device_limits_the_rate() {
    let mut limited = controller();
    limited.bus = Some(prestore_machine::quantity::Rate(6.4));
    let mut c = channel(&limited, &device::Device::Dram(dram()));
    let done: Vec<_> = (0..3).map(|line| read(&mut c, 0, line)).collect();
    assert_eq!(done, [64, 74, 84]);
}

#[test]
fn a_device_that_orders_itself_gets_writes_at_once() {
    let mut c = channel(&controller(), &device::Device::Fpga(fpga()));
    let accepted: Vec<_> = (0..9).map(|line| write(&mut c, 0, 2 * line)).collect();
    assert_eq!(accepted[..8], [10; 8]);
    // The first is at the device after half a round trip.
    assert_eq!(accepted[8], 60);
    assert_eq!(c.counters().device.write_bytes, 9 * LINE);
}

/// 10 ns a line into the DIMM; a line is sent again 100 ns after it has left.
fn of_optane() -> Channel {
    let mut with_gap = controller();
    with_gap.line_gap = Nanos(100.0);
    channel(&with_gap, &Described::Optane(optane()))
}

#[test]
fn what_is_written_to_a_line_that_waits_for_its_last_write_is_added() {
    let mut c = of_optane();
    // It comes at 10 and has left at 20. The second waits from 40 to 120, the third is added.
    for at in [0, 30, 60] {
        assert_eq!(write(&mut c, at, 0), at + 10, "the core does not wait");
    }
    assert_eq!(c.counters().device.write_bytes, 2 * LINE);
    assert_eq!(c.counters().merged_writes, 1);
    // Left at 130: the next is another one.
    write(&mut c, 130, 0);
    assert_eq!(c.counters().device.write_bytes, 3 * LINE);
    assert_eq!(c.counters().writes, 4);
    assert_eq!(c.counters().write_queue_time, ns(10 + 90 + 100));
}

#[test]
fn a_write_is_accepted_when_it_has_an_entry_and_not_before() {
    for seed in 0..20 {
        let described = Described::Optane(optane());
        let device = AnyDevice::new(&described, None, 0);
        let mut c = Channel::new(&controller(), &described, device, LINE, seed);
        let mut accepted: Vec<_> = (0..40).map(|unit| write(&mut c, 0, 4 * unit)).collect();
        accepted.sort_unstable();
        // Eight entries; then one as each of those leaves.
        assert_eq!(accepted[..8], [10; 8]);
        for (n, &at) in accepted.iter().enumerate().skip(8) {
            assert!(at >= 20 + 10 * (n as u64 - 8), "{n} accepted at {at}");
        }
    }
}

#[test]
fn what_is_added_to_a_line_without_an_entry_is_accepted_with_it() {
    let mut c = of_dram();
    for line in 0..9 {
        write(&mut c, 0, line);
    }
    // The ninth has its entry at 44 (see above), and what comes to it before with it.
    c.write(ns(5), 9 * LINE, 0xff);
    let last = write(&mut c, 0, 10);
    assert!(last >= 44, "{last}");
    assert_eq!(write(&mut c, 0, 10), last);
}

#[test]
fn only_bytes_that_wait_already_are_added() {
    let mut c = of_optane();
    for (at, mask) in [(0, u64::MAX), (30, 0xff), (60, 0xf), (70, 0xff00)] {
        c.write(ns(at), 0, u128::from(mask));
    }
    assert_eq!(c.counters().merged_writes, 1);
    assert_eq!(c.counters().device.write_bytes, 3 * LINE);
}

#[test]
fn another_unit_of_the_block_ends_the_wait_for_the_last_one() {
    let mut c = of_optane();
    for (at, line) in [(0, 0), (30, 4), (60, 0), (90, 64), (100, 0)] {
        write(&mut c, at, line);
    }
    // Line 64 is in another block: the last write waits for the one before it, left at 80.
    assert_eq!(c.counters().merged_writes, 0);
    assert_eq!(c.counters().write_queue_time, ns(10 + 10 + 10 + 10 + 80));
}

#[test]
fn draining_writes_all() {
    let mut c = of_dram();
    write(&mut c, 0, 0);
    assert!(c.drain(ns(100)) > ns(100));
    assert_eq!(c.counters().device.write_bytes, LINE);
    assert_eq!(c.counters().queue_full, Time::ZERO);
}
