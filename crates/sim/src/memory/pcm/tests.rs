use prestore_machine::device::Recovery;
use prestore_machine::quantity::Nanos;

use super::Pcm;
use crate::Time;
use crate::memory::device::Device;
use crate::memory::fixtures::{ns, pcm, read, write};

/// The next row of the bank of address 0: 4 banks of 1 KB rows.
const NEXT: u64 = 4 * 1024;

#[test]
fn a_row_is_read_from_the_array_then_hit() {
    let mut d = Pcm::new(&pcm());
    assert_eq!(read(&mut d, 0, 0), 50 + 20 + 4, "tRCD, tCL, burst");
    assert_eq!(read(&mut d, 1000, 64), 1000 + 20 + 4);
    assert_eq!(d.counters().media_read_bytes, 1024, "one row");
}

#[test]
fn a_clean_row_is_closed_quickly_and_writes_nothing() {
    let mut d = Pcm::new(&pcm());
    read(&mut d, 0, 0);
    assert_eq!(
        read(&mut d, 1000, NEXT),
        1000 + 5 + 50 + 20 + 4,
        "tRP first"
    );
    assert_eq!(
        (d.counters().row_writes, d.counters().media_write_bytes),
        (0, 0)
    );
}

#[test]
fn a_dirty_row_is_written_to_the_array_when_it_is_closed() {
    let mut d = Pcm::new(&pcm());
    assert_eq!(write(&mut d, 0, 0), 50 + 10 + 4, "tRCD, tCWD, burst");
    assert_eq!(d.counters().row_writes, 0, "not yet");
    assert_eq!(
        read(&mut d, 1000, NEXT),
        1000 + 150 + 50 + 20 + 4,
        "tWR first"
    );
    assert_eq!(d.counters().row_writes, 1);
}

fn recovering_behind_data() -> Pcm {
    let mut parameters = pcm();
    parameters.recovery = Recovery::BehindData;
    Pcm::new(&parameters)
}

#[test]
fn recovery_behind_data_is_over_where_nobody_wanted_the_bank() {
    let mut d = recovering_behind_data();
    assert_eq!(write(&mut d, 0, 0), 64);
    assert_eq!(read(&mut d, 1000, NEXT), 1000 + 5 + 50 + 20 + 4, "tRP");
    assert_eq!(d.counters().row_writes, 1, "it is one all the same");
}

#[test]
fn recovery_behind_data_keeps_a_row_open_until_it_is_over() {
    let mut d = recovering_behind_data();
    assert_eq!(write(&mut d, 0, 0), 64);
    assert_eq!(write(&mut d, 100, 64), 100 + 10 + 4, "its own row goes on");
    let recovered = 114 + 150;
    assert_eq!(read(&mut d, 120, NEXT), recovered + 5 + 50 + 20 + 4);
}

#[test]
fn who_came_before_a_write_does_not_wait_for_its_recovery() {
    let mut d = recovering_behind_data();
    write(&mut d, 500, 0);
    assert_eq!(read(&mut d, 0, NEXT), 5 + 50 + 20 + 4);
}

#[test]
fn draining_waits_for_recovery_behind_data() {
    let mut d = recovering_behind_data();
    write(&mut d, 0, 0);
    assert_eq!(d.drain(ns(100)), ns(64 + 150));
}

#[test]
fn only_dirty_bytes_of_a_row_are_written() {
    let mut d = Pcm::new(&pcm());
    d.write(Time::ZERO, 128, 0xffff);
    d.write(ns(100), 136, 0xffff);
    d.write(ns(200), 960, u64::MAX.into());
    d.drain(ns(1000));
    let counted = d.counters();
    assert_eq!(
        (counted.row_writes, counted.media_write_bytes),
        (1, 24 + 64)
    );
}

#[test]
fn another_banks_row_stays_open() {
    let mut d = Pcm::new(&pcm());
    write(&mut d, 0, 0);
    read(&mut d, 1000, 1024);
    assert_eq!(read(&mut d, 2000, 64), 2024);
    assert_eq!(d.counters().row_hits, 1);
}

#[test]
fn draining_closes_all_rows() {
    let mut d = Pcm::new(&pcm());
    write(&mut d, 0, 0);
    write(&mut d, 0, 1024);
    assert_eq!(d.drain(ns(1000)), ns(1150));
    assert_eq!(d.counters().row_writes, 2);
    assert_eq!(d.drain(ns(2000)), ns(2000), "nothing is left");
}

#[test]
fn the_fifth_row_waits_for_the_window() {
    let mut parameters = pcm();
    parameters.banks = 8;
    parameters.t_faw = Some(Nanos(60.0));
    let mut d = Pcm::new(&parameters);
    let done: Vec<_> = (0..5).map(|bank| read(&mut d, 0, bank * 1024)).collect();
    assert_eq!(done, [74, 78, 82, 86, 60 + 74]);
}

#[test]
fn writes_then_reads_turn_the_bus_round() {
    let mut parameters = pcm();
    parameters.t_wtr = Nanos(30.0);
    let mut d = Pcm::new(&parameters);
    assert_eq!(write(&mut d, 0, 0), 64);
    assert_eq!(read(&mut d, 54, 64), 64 + 30 + 4);
}
