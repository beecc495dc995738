//! What a DIMM does, one behaviour a test.

use prestore_machine::quantity::{Nanos, Share};
use prestore_trace::Bytes;

use super::OptaneDimm;
use crate::memory::fixtures::optane as config;
use crate::{Device, Time};

fn ns(n: u64) -> Time {
    Time(n * 1000)
}

const LINE: u128 = u64::MAX as u128;

/// Writes whole lines, each as soon as the one before was taken, but `gap` ns after it at least.
fn write_all(dimm: &mut OptaneDimm, lines: impl Iterator<Item = u64>, gap: u64) -> Time {
    let mut now = Time::ZERO;
    for line in lines {
        now = dimm.write(now, line * 64, LINE).max(now + ns(gap));
    }
    dimm.drain(now);
    now
}

#[test]
fn the_lines_of_a_unit_become_one_write() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    write_all(&mut dimm, 0..400, 50);
    let counted = dimm.counters();
    assert_eq!(counted.write_bytes, 400 * 64);
    assert_eq!(counted.media_write_bytes, 400 * 64);
    assert_eq!(counted.read_modify_writes, 0);
}

#[test]
fn a_lone_line_costs_a_read_modify_write_of_its_unit() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    write_all(&mut dimm, (0..400).map(|i| i * 4), 50);
    let counted = dimm.counters();
    assert_eq!(counted.media_write_bytes, 400 * 256);
    assert_eq!(counted.read_modify_writes, 400);
    assert_eq!(counted.media_read_bytes, 400 * 256);
}

#[test]
fn a_line_written_in_part_is_not_whole() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    for line in 0..4 {
        dimm.write(ns(50 * line), line * 64, LINE >> 32);
    }
    dimm.drain(ns(1000));
    assert_eq!(dimm.counters().read_modify_writes, 1);
    assert_eq!(dimm.counters().row_writes, 1);
}

#[test]
fn halves_find_each_other_while_the_buffer_holds_all_first_halves() {
    let halves = |units: u64| {
        let first = (0..units).flat_map(|u| [4 * u, 4 * u + 1]);
        let second = (0..units).flat_map(|u| [4 * u + 2, 4 * u + 3]);
        let mut dimm = OptaneDimm::new(&config(), 1);
        write_all(&mut dimm, first.chain(second), 200);
        dimm.counters().row_writes
    };
    assert_eq!(halves(64), 64);
    assert_eq!(halves(100), 200);
}

#[test]
fn random_eviction_blurs_the_edge() {
    let mut config = config();
    config.random_eviction = Share(1.0);
    let first = (0..100).flat_map(|u| [4 * u, 4 * u + 1]);
    let second = (0..100).flat_map(|u| [4 * u + 2, 4 * u + 3]);
    let mut dimm = OptaneDimm::new(&config, 1);
    write_all(&mut dimm, first.chain(second), 200);
    let writes = dimm.counters().row_writes;
    assert!((110..190).contains(&writes), "{writes}");
}

#[test]
fn a_saturated_dimm_takes_what_its_media_write() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    let end = write_all(&mut dimm, 0..40_000, 0);
    let expected = 10_000.0 * 100.0;
    assert!((end.in_nanos() / expected - 1.0).abs() < 0.02, "{end:?}");
}

#[test]
fn many_saturating_streams_tear_units_apart_and_one_does_not() {
    let ewr = |streams: u64| {
        // Lines of streams in random order, as they meet in a controller.
        let mut dimm = OptaneDimm::new(&config(), 1);
        let mut random = crate::random::Random::new(5);
        let mut next: Vec<u64> = (0..streams).map(|s| s << 20).collect();
        let lines = (0..40_000).map(|_| {
            let stream = &mut next[random.below(streams) as usize];
            *stream += 1;
            *stream
        });
        write_all(&mut dimm, lines, 0);
        let counted = dimm.counters();
        counted.write_bytes as f64 / counted.media_write_bytes as f64
    };
    assert!(ewr(1) > 0.99, "{}", ewr(1));
    assert!(ewr(8) < 0.92, "{}", ewr(8));
    assert!(ewr(24) < ewr(8), "{}", ewr(24));
}

#[test]
fn a_unit_is_read_from_the_media_once_for_all_its_lines() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    let first = dimm.read(ns(0), 0, Bytes(64));
    assert_eq!(first, ns(201));
    let second = dimm.read(ns(1000), 64, Bytes(64));
    assert_eq!(second, ns(1051));
    assert_eq!(dimm.counters().media_read_bytes, 256);
}

#[test]
fn what_was_written_and_not_yet_sent_to_the_media_is_read_from_the_buffer() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    dimm.write(ns(0), 0, LINE);
    assert_eq!(dimm.read(ns(500), 0, Bytes(64)), ns(551));
    assert_eq!(dimm.counters().media_read_bytes, 0);
}

#[test]
fn a_unit_being_written_is_read_after_that() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    for line in 0..4 {
        dimm.write(ns(10 * line), line * 64, LINE);
    }
    // Whole at 31 ns (behind the line before it), settled 100 ns later, on the media in 1131 ns;
    // then it is read: 150 ns more than a hit.
    let done = dimm.read(ns(500), 0, Bytes(64));
    assert!(done > ns(1300) && done < ns(1350), "{done:?}");
}

#[test]
fn what_is_rewritten_while_its_unit_is_being_written_is_read_after_that() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    for line in 0..4 {
        dimm.write(ns(10 * line), line * 64, LINE);
    }
    // On its way to the media since it settled at 131 ns; the rewritten line is in the buffer.
    dimm.write(ns(300), 0, LINE);
    let done = dimm.read(ns(500), 0, Bytes(64));
    assert!(done > ns(1131) && done < ns(1250), "{done:?}");
}

#[test]
fn a_small_region_is_rewritten_no_faster_than_the_media_write_it() {
    // Four units of a block: each is closed when the next one is written, and its next write waits
    // for the last one's end.
    let mut config = config();
    config.settle = Nanos(2000.0);
    let mut dimm = OptaneDimm::new(&config, 1);
    write_all(&mut dimm, (0..400).flat_map(|_| 0..16), 0);
    let counted = dimm.counters();
    let seconds_of_media = counted.row_writes as f64 * 100.0;
    let seconds_of_host = 400.0 * 16.0 * 10.0;
    assert!(
        seconds_of_media <= 1.01 * seconds_of_host + 400.0,
        "{counted:?}"
    );
    // A unit write each 1000 ns, a pass each 160 ns: about 6 passes a write.
    let passes_a_write = 1600.0 / counted.row_writes as f64;
    assert!((4.0..8.0).contains(&passes_a_write), "{passes_a_write}");
}

#[test]
fn of_rewritten_units_the_whole_ones_are_copied_and_parts_stay() {
    let rewrite = |lines: u64| {
        let mut dimm = OptaneDimm::new(&config(), 1);
        for i in 0..400 {
            dimm.write(ns(25 * i), i % lines * 64, LINE);
        }
        dimm.counters().row_writes
    };
    assert_eq!(rewrite(3), 0);
    // Whole at 86 ns, then copied by the first line that comes 100 ns after the last copy, which is the
    // fourth, until 9961 ns.
    assert_eq!(rewrite(4), 98);
}

#[test]
fn what_waited_for_the_media_goes_there_as_it_is() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    // The media are behind: of the units of a block, closed one after the other, some wait.
    for line in 0..64 {
        dimm.write(ns(10 * line), line * 64, LINE);
    }
    // So does a unit of another block, closed by a line of the next one.
    for line in 64..69 {
        dimm.write(ns(10 * line), line * 64, LINE);
    }
    // Its first line is written again: the unit goes, and the line behind it, though there is room for
    // more units. The rest comes when nothing waits any more, and finds nothing of it.
    dimm.write(ns(690), 64 * 64, LINE);
    for line in 65..68 {
        dimm.write(ns(20_000), line * 64, LINE);
    }
    dimm.drain(ns(40_000));
    let counted = dimm.counters();
    assert_eq!(
        (counted.row_writes, counted.read_modify_writes),
        (17 + 3, 3)
    );
}

#[test]
fn a_write_that_comes_earlier_than_the_one_before_is_not_held_up_by_it() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    dimm.write(ns(50_000), 1 << 20, LINE);
    for line in 0..4 {
        dimm.write(ns(100 + 10 * line), line * 64, LINE);
    }
    // Settled 100 ns after it was whole, on the media 1000 ns later.
    let done = dimm.read(ns(1300), 0, Bytes(64));
    assert!(done < ns(1600), "{done:?}");
    assert_eq!(dimm.counters().row_writes, 1);
}

#[test]
fn the_same_seed_gives_the_same_times() {
    let run = || {
        let mut config = config();
        config.random_eviction = Share(0.5);
        let mut dimm = OptaneDimm::new(&config, 9);
        let mut random = crate::random::Random::new(5);
        let lines = (0..10_000).map(|_| random.below(1 << 12));
        (write_all(&mut dimm, lines, 30), dimm.counters())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_block_that_moves_holds_its_writes_up() {
    let mut config = config();
    config.migration = Some(prestore_machine::device::Migration {
        writes: 10,
        pause: Nanos(50_000.0),
        tracked: 16,
    });
    let mut dimm = OptaneDimm::new(&config, 1);
    for unit in 0..10 {
        for line in 0..4 {
            dimm.write(ns(1000 * unit), unit * 256 + line * 64, LINE);
        }
    }
    let done = dimm.read(ns(20_000), 15 * 256, Bytes(64));
    assert!(done > ns(50_000), "{done:?}");
    let elsewhere = dimm.read(ns(20_000), 1 << 20, Bytes(64));
    assert!(elsewhere < ns(21_000), "{elsewhere:?}");
}

#[test]
fn a_read_does_not_wait_for_the_bus_of_a_later_write() {
    let mut dimm = OptaneDimm::new(&config(), 1);
    // Its core waits until then; the read that comes before is asked for afterwards.
    dimm.write(ns(5000), 1 << 20, LINE);
    let mut alone = OptaneDimm::new(&config(), 1);
    assert_eq!(
        dimm.read(ns(100), 0, Bytes(64)),
        alone.read(ns(100), 0, Bytes(64))
    );
}
