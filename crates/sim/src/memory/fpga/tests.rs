use prestore_machine::quantity::Size;
use prestore_trace::Bytes;

use super::Fpga;
use crate::Time;
use crate::memory::device::Device;
use crate::memory::fixtures::{fpga, ns};

fn read(device: &mut Fpga, at: u64, addr: u64) -> u64 {
    device.read(ns(at), addr, Bytes(128)).0 / 1000
}

#[test]
fn reads_take_a_round_trip_and_follow_each_other_on_the_link() {
    let mut d = Fpga::new(&fpga(), None);
    let done: Vec<_> = (0..4).map(|i| read(&mut d, 0, i * 128)).collect();
    assert_eq!(done, [100, 116, 132, 148]);
}

#[test]
fn directions_do_not_hold_each_other_up() {
    let mut d = Fpga::new(&fpga(), None);
    assert_eq!(read(&mut d, 0, 0), 100);
    assert_eq!(d.write(ns(0), 128, u128::MAX), ns(50), "half a round trip");
    assert_eq!(d.write(ns(0), 256, u128::MAX), ns(66));
}

#[test]
fn an_upgrade_is_a_round_trip_that_waits_for_no_data() {
    let mut d = Fpga::new(&fpga(), None);
    assert_eq!(d.upgrade(ns(0), 0), ns(100));
    d.write(ns(0), 0, u128::MAX);
    assert_eq!(d.upgrade(ns(0), 128), ns(100));
    assert_eq!(Fpga::new(&fpga(), Some(ns(70))).upgrade(ns(5), 0), ns(75));
}

#[test]
fn an_upgrade_takes_nothing_from_the_link() {
    let mut d = Fpga::new(&fpga(), None);
    for _ in 0..10 {
        d.upgrade(ns(0), 0);
    }
    assert_eq!(d.write(ns(0), 0, u128::MAX), ns(50));
}

#[test]
fn a_whole_unit_is_written_as_it_is() {
    let mut d = Fpga::new(&fpga(), None);
    d.write(Time::ZERO, 0, u128::MAX);
    let counted = d.counters();
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (128, 0)
    );
}

#[test]
fn part_of_a_unit_costs_a_read_of_it() {
    let mut parameters = fpga();
    parameters.unit = Size(256);
    let mut d = Fpga::new(&parameters, None);
    d.write(Time::ZERO, 128, u128::MAX);
    let counted = d.counters();
    assert_eq!(
        (counted.media_write_bytes, counted.media_read_bytes),
        (256, 256)
    );
    assert_eq!(counted.read_modify_writes, 1);
}

#[test]
fn one_controller_alone_has_its_share() {
    let mut d = Fpga::new(&fpga(), None);
    // Both directions on one of two controllers, each 128 B: its rate is that of one direction.
    let mut last = Time::ZERO;
    for i in 0..100 {
        last = d.read(Time::ZERO, i * 256, Bytes(128));
        last = last.max(d.write(Time::ZERO, i * 256, u128::MAX) + ns(50));
    }
    let alone = last.0;
    let mut d = Fpga::new(&fpga(), None);
    for i in 0..100 {
        last = d.read(Time::ZERO, i * 128, Bytes(128));
        last = last.max(d.write(Time::ZERO, i * 128 + 128 * 101, u128::MAX) + ns(50));
    }
    assert!(alone > last.0 * 19 / 10, "{alone} {}", last.0);
}
