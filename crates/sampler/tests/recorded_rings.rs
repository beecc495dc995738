//! Reading what kernels write: samples, mappings and losses from ring-buffer bytes.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests fail the test

mod abi;

use std::time::Duration;

use prestore_sampler::attr::{attributes, rate, variations};
use prestore_sampler::pmu::{CpuList, EventPlan};
use prestore_sampler::record::Decoder;
use prestore_sampler::ring::{ClockConversion, unread};
use prestore_sampler::session::{Collector, finish};
use prestore_sampler::{AccessKind, Options, Samples, Source};

fn plan(source: Source) -> EventPlan {
    EventPlan {
        source,
        name: "event//".into(),
        type_id: 4,
        config: [0; 3],
        cpus: CpuList(vec![0]),
        max_precise: if source == Source::IntelMemStores {
            3
        } else {
            0
        },
        filters_kernel: source != Source::AmdIbsOp,
        uses_aux: source == Source::ArmSpe,
    }
}

fn decoder(source: Source) -> Decoder {
    let plan = plan(source);
    let options = Options::default();
    let rate = rate(&plan, &options, None);
    Decoder::new(
        attributes(&plan, variations(&plan)[0], &options, rate),
        source,
    )
}

fn success() -> std::process::ExitStatus {
    std::os::unix::process::ExitStatusExt::from_raw(0)
}

fn read_with(source: Source, bytes: &[u8], cap: usize, root: Option<u32>) -> Samples {
    let mut collector = Collector::new(cap);
    collector
        .feed(bytes, &decoder(source), |_, _| Ok(()))
        .unwrap();
    let collected = collector.into_collected(root);
    finish(
        collected,
        &[plan(source)],
        3,
        success(),
        Duration::from_secs(1),
    )
    .unwrap()
}

fn read(source: Source, bytes: &[u8]) -> Samples {
    read_with(source, bytes, 1_000, None)
}

#[test]
fn pebs_samples_are_stores_with_address_time_and_chain() {
    let chain = [abi::CONTEXT_USER, 0x5010, 0x5200];
    let samples = read(
        Source::IntelMemStores,
        &abi::pebs_store(0x5010, 0x7fff_0000, 30, 1_000, &chain),
    );
    let sample = samples.events[0];
    assert!(sample.is_store());
    assert_eq!((sample.ip, sample.addr), (0x5010, Some(0x7fff_0000)));
    assert_eq!((sample.pid, sample.tid), (abi::PID, abi::TID));
    assert_eq!((sample.time, sample.period), (30, 1_000));
    assert_eq!(samples.chain(sample.chain), [0x5010, 0x5200]);
    assert!(samples.precise && samples.losses.is_empty());
}

#[test]
fn samples_become_stores_by_module_offset_and_by_call_path() {
    let chain = |caller| vec![abi::CONTEXT_USER, 0x5010, caller];
    let bytes = [
        // Out of order, as the buffers of two CPUs bring them.
        abi::pebs_store(0x5010, 0x10, 50, 300, &chain(0x5205)),
        abi::pebs_store(0x5010, 0x20, 40, 100, &chain(0x5305)),
        abi::pebs_store(0x5080, 0x30, 45, 100, &[]),
        abi::exec(abi::PID, 10, "prog"),
        abi::mmap2(abi::PID, 11, 0x5000, 0x1000, 0x2000, "/bin/prog"),
    ]
    .concat();
    let samples = read(Source::IntelMemStores, &bytes);
    assert_eq!(
        samples.events.iter().map(|s| s.time).collect::<Vec<_>>(),
        [40, 45, 50]
    );
    let module = &samples.spaces.modules()[0];
    assert_eq!(module.path, "/bin/prog");
    assert_eq!(module.build_id.as_deref(), Some(&[0xcd; 20][..]));
    let by_instruction = samples.by_instruction();
    assert_eq!(by_instruction[0].place.offset, 0x2010);
    assert_eq!(
        (by_instruction[0].samples, by_instruction[0].stores),
        (2, 400)
    );
    assert!((by_instruction[0].share - 0.8).abs() < 1e-9);
    let by_path = samples.by_path();
    assert_eq!(by_path.len(), 3);
    let offsets: Vec<_> = by_path[0].path.iter().map(|place| place.offset).collect();
    assert_eq!(
        offsets,
        [0x2010, 0x2204],
        "the caller's call, not the instruction after it"
    );
}

#[test]
fn what_the_kernel_lost_or_throttled_is_counted() {
    let bytes = [
        abi::lost(12),
        abi::throttle(5, 100),
        abi::throttle(6, 110),
        abi::lost_samples(3),
        abi::pebs_store(0x1, 0x2, 3, 4, &[]),
    ]
    .concat();
    let samples = read(Source::IntelMemStores, &bytes);
    assert_eq!((samples.losses.lost, samples.losses.throttled), (15, 1));
    assert_eq!(samples.events.len(), 1);
}

#[test]
fn samples_beyond_the_cap_are_counted_not_forgotten() {
    let bytes: Vec<u8> = (0..5)
        .flat_map(|time| abi::pebs_store(0x1, 0x2, time, 1, &[]))
        .collect();
    let samples = read_with(Source::IntelMemStores, &bytes, 2, None);
    assert_eq!((samples.events.len(), samples.losses.beyond_cap), (2, 3));
    assert_eq!(samples.overhead.samples, 5);
}

#[test]
fn a_record_across_the_end_of_the_ring_reads_as_one() {
    let record = abi::pebs_store(0x5010, 0x99, 7, 1, &[abi::CONTEXT_USER, 0x5010]);
    let size = 256usize;
    let tail = (size - 24) as u64;
    let mut ring = vec![0u8; size];
    for (i, byte) in record.iter().enumerate() {
        ring[(tail as usize + i) % size] = *byte;
    }
    let ranges = unread(size as u64, tail, tail + record.len() as u64).unwrap();
    assert!(!ranges[1].is_empty());
    let bytes: Vec<u8> = ranges.into_iter().flat_map(|r| ring[r].to_vec()).collect();
    assert_eq!(
        read(Source::IntelMemStores, &bytes).events[0].addr,
        Some(0x99)
    );
}

#[test]
fn ibs_tells_stores_from_loads_and_kernel_code_is_left_out() {
    let valid = 1 << 17;
    let bytes = [
        abi::ibs_op(0x1000, 0x70, 1, 0b10 | valid, abi::USER),
        abi::ibs_op(0x1004, 0x78, 2, 0b01 | valid, abi::USER),
        abi::ibs_op(0x1008, 0, 3, 0, abi::USER),
        abi::ibs_op(0xffff_ffff_8100_0000, 0, 4, 0b10, abi::KERNEL),
    ]
    .concat();
    let samples = read(Source::AmdIbsOp, &bytes);
    let kinds: Vec<_> = samples.events.iter().map(|s| (s.kind, s.addr)).collect();
    assert_eq!(
        kinds,
        [
            (AccessKind::Store, Some(0x70)),
            (AccessKind::Load, Some(0x78)),
            (AccessKind::Other, None)
        ]
    );
    assert_eq!(
        samples.by_instruction().len(),
        1,
        "only stores are aggregated"
    );
}

#[test]
fn cpu_wide_samples_keep_the_program_and_its_children_only() {
    let bytes = [
        abi::fork(abi::PID, 650, 5),
        abi::ibs_op(0x1000, 0, 10, 0b10, abi::USER),
    ]
    .concat();
    assert_eq!(
        read_with(Source::AmdIbsOp, &bytes, 10, Some(650))
            .events
            .len(),
        1
    );
    assert_eq!(
        read_with(Source::AmdIbsOp, &bytes, 10, Some(abi::PID))
            .events
            .len(),
        1
    );
    assert_eq!(
        read_with(Source::AmdIbsOp, &bytes, 10, Some(999))
            .events
            .len(),
        0
    );
}

/// Two SPE records, as the Arm ARM (DDI 0487) lays them out: a store at EL0 with timestamp, a store at
/// EL1 with END. Constructed, not recorded.
fn spe_area() -> Vec<u8> {
    let mut area = Vec::new();
    area.extend([0xb0, 0x10, 0x50, 0, 0, 0, 0, 0, 0x80]); // PC 0x5010, non-secure, EL0
    area.extend([0x65, 0xbc, 0x02, 0, 0]); // context
    area.extend([0x49, 0x01]); // store, general purpose register
    area.extend([0x52, 0x16, 0x00]); // events
    area.extend([0x98, 0x0a, 0x00, 0x99, 0x01, 0x00]); // total and issue latency
    area.extend([0xb2, 0x40, 0x00, 0xaa, 0, 0, 0, 0, 0x5a]); // data address with a tag byte
    area.extend([0x9a, 0x01, 0x00]); // translation latency
    area.extend([0x43, 0x00]); // data source
    area.extend([0x71, 0x05, 0, 0, 0, 0, 0, 0, 0]); // timestamp 5
    area.extend([0; 16]); // padding to the next record
    area.extend([0xb0, 0, 0, 0x80, 0, 0, 0, 0xff, 0xa0]); // PC at EL1
    area.extend([0x49, 0x01, 0x01]);
    area
}

#[test]
fn spe_samples_come_from_the_aux_area_with_thread_and_converted_time() {
    let area = spe_area();
    let bytes = [
        abi::mmap2(abi::PID, 100, 0x5000, 0x1000, 0, "/bin/prog"),
        abi::aux(0, area.len() as u64, 0, 9_000),
        abi::aux(area.len() as u64, 0, 1, 9_500),
    ]
    .concat();
    let clock = ClockConversion {
        shift: 0,
        mult: 40,
        zero: 1_000,
    };
    let mut collector = Collector::new(100);
    collector
        .feed(&bytes, &decoder(Source::ArmSpe), |collector, chunk| {
            let (from, to) = (chunk.offset as usize, (chunk.offset + chunk.size) as usize);
            collector.feed_spe(&area[from..to], chunk, 4096, Some(clock));
            Ok(())
        })
        .unwrap();
    let plans = [plan(Source::ArmSpe)];
    let collected = collector.into_collected(None);
    let samples = finish(collected, &plans, 0, success(), Duration::from_secs(1)).unwrap();
    assert_eq!(samples.events.len(), 1, "the store at EL1 is kernel code");
    let sample = samples.events[0];
    assert!(sample.is_store() && samples.precise && !samples.callchains);
    assert_eq!((sample.ip, sample.addr), (0x5010, Some(0xaa_0040)));
    assert_eq!(
        (sample.tid, sample.time, sample.period),
        (abi::TID, 1_200, 4096)
    );
    assert_eq!(samples.losses.aux_gaps, 1, "the truncated chunk is told");
    assert_eq!(samples.by_instruction()[0].place.offset, 0x10);
}

#[test]
fn damaged_bytes_are_an_error_never_a_panic() {
    let record = abi::pebs_store(0x1, 0x2, 3, 4, &[1, 2, 3]);
    for cut in 1..record.len() {
        let mut collector = Collector::new(10);
        let fed = collector.feed(&record[..cut], &decoder(Source::IntelMemStores), |_, _| {
            Ok(())
        });
        assert!(fed.is_err(), "cut at {cut}");
    }
    // A chain that claims more entries than the record holds.
    let mut long = record.clone();
    long[56..64].copy_from_slice(&u64::MAX.to_ne_bytes());
    let mut collector = Collector::new(10);
    let fed = collector.feed(&long, &decoder(Source::IntelMemStores), |_, _| Ok(()));
    assert!(fed.is_err());
}

/// See `data/README.md` for where it comes from.
#[test]
#[cfg(target_endian = "little")]
fn a_real_recording_gives_parent_and_child_in_their_modules() {
    let samples = read(Source::CpuClock, include_bytes!("data/cpu-clock.ring"));
    assert_eq!(samples.events.len(), 24);
    assert!(samples.losses.is_empty() && !samples.precise);
    let mut processes: Vec<u32> = samples.events.iter().map(|s| s.pid).collect();
    processes.sort_unstable();
    processes.dedup();
    assert_eq!(processes.len(), 2);
    assert!(samples.spaces.descends_from(processes[1], processes[0]));
    let paths: Vec<_> = samples
        .spaces
        .modules()
        .iter()
        .map(|m| m.path.as_str())
        .collect();
    assert!(
        paths.contains(&"/usr/bin/dash") && paths.contains(&"[vdso]"),
        "{paths:?}"
    );
    for sample in &samples.events {
        let place = samples.spaces.locate(sample.pid, sample.time, sample.ip);
        let module = place.module.map(|m| &samples.spaces.modules()[m as usize]);
        assert!(module.is_some_and(|m| m.build_id.is_some()), "{sample:?}");
        assert!(
            place.offset < 4 << 20,
            "an offset in a file, not an address"
        );
    }
}

#[test]
fn records_read_the_same_wherever_they_lie_in_memory() {
    let record = abi::pebs_store(0x5010, 0x99, 7, 1, &[abi::CONTEXT_USER, 0x5010, 0x5200]);
    for shift in 0..8 {
        let shifted = [vec![0; shift], record.clone()].concat();
        let samples = read(Source::IntelMemStores, &shifted[shift..]);
        let chain = samples.chain(samples.events[0].chain);
        assert_eq!(chain, [0x5010, 0x5200], "shifted by {shift}");
    }
}
