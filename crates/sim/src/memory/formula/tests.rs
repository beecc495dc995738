//! The formulas against the simulated memories of all shipped machines.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use prestore_machine::device::{Cxl, Device, Dram, PagePolicy};
use prestore_machine::quantity::{Nanos, Size};
use prestore_machine::{Machine, Machines, PageMapping};
use prestore_trace::LineAddr;

use super::{peak_read_bandwidth, peak_write_bandwidth, unloaded_read_latency};
use crate::memory::MemorySystem;
use crate::memory::channel::whole_line;
use crate::memory::fixtures::{cached, cxl, dram, pcm};
use crate::random::Random;
use crate::{MemoryPort, Time};

/// Issue 3's tolerance.
const TOLERANCE: f64 = 0.03;

/// Every memory of every shipped machine, each the only one in use, pages where their addresses say
/// (a shuffled order of pages keeps no row open, which the formulas ask for).
fn memories() -> Vec<(String, Machine, usize)> {
    let machines = Machines::shipped();
    let mut all = Vec::new();
    let names = machines.list().into_iter().map(|listed| listed.name);
    let shipped = names.map(|name| machines.describe(&name, &[]).unwrap().into_machine());
    for mut machine in shipped.chain(made()) {
        machine.placement.pages = PageMapping::Identity;
        for index in 0..machine.memories.len() {
            machine.placement.default_memory = index;
            let name = format!("{} {}", machine.name, machine.memories[index].name);
            all.push((name, machine.clone(), index));
        }
    }
    assert!(all.len() > 5, "the shipped machines were not found");
    all
}

/// Kinds of devices and shapes that are not shipped.
fn made() -> Vec<Machine> {
    let tiny = Machines::shipped()
        .describe("tiny", &[])
        .unwrap()
        .into_machine();
    let with = |name: &str, device| {
        let mut machine = tiny.clone();
        machine.name = name.into();
        machine.memories[0].controller.write_queue = 64;
        machine.memories[0].controller.read_queue = 64;
        machine.memories[0].device = device;
        machine
    };
    let closed = Dram {
        policy: PagePolicy::Closed,
        ..dram()
    };
    // A read's column latency is the time of a unit's burst, so that bursts fit without gaps.
    let no_turns = Dram {
        t_cl: Nanos(16.0),
        t_wtr: Nanos(0.0),
        t_rtw: Nanos(0.0),
        ..dram()
    };
    let units = Cxl {
        unit: Size(256),
        backing: Device::Dram(no_turns),
        ..cxl()
    };
    let cxl_of = |c: Cxl| Device::Cxl(Box::new(c));
    vec![
        with("pcm", Device::Pcm(pcm())),
        with("dram-closed", Device::Dram(closed)),
        with("cxl", cxl_of(cxl())),
        with("cxl-cache", cxl_of(cached(cxl()))),
        with("cxl-unit", cxl_of(units.clone())),
        with("cxl-unit-cache", cxl_of(cached(units))),
    ]
}

/// Says which memories are not as the formula says, all of them at once.
fn compare(
    what: &str,
    formula: fn(&Machine, usize) -> Option<f64>,
    measure: fn(&Machine, usize) -> f64,
) {
    let mut wrong = Vec::new();
    for (name, machine, index) in memories() {
        let expected = formula(&machine, index).unwrap();
        let measured = measure(&machine, index);
        println!("{what} {name}: formula {expected:.2}, simulated {measured:.2}");
        if (measured / expected - 1.0).abs() > TOLERANCE {
            wrong.push(format!(
                "{name}: formula {expected:.2}, simulated {measured:.2}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{what}\n{}", wrong.join("\n"));
}

#[test]
fn a_lone_read_takes_what_the_formula_says() {
    compare(
        "unloaded read latency, ns",
        |machine, index| Some(unloaded_read_latency(machine, index)?.0),
        |machine, _| {
            let mut memory = MemorySystem::new(machine, 1);
            let mut random = Random::new(2);
            let (warm, measured) = (2000, 3000);
            let mut at = Time::ZERO;
            let mut sum = Time::ZERO;
            for i in 0..warm + measured {
                let line = LineAddr(random.below((1 << 40) / machine.line.0));
                let done = memory.read(0, at, line).0;
                if i >= warm {
                    sum += done - at;
                }
                // The next read depends on this one, with some work between.
                at = done + Time(20_000_000);
            }
            sum.in_nanos() / f64::from(measured)
        },
    );
}

#[test]
fn many_reads_reach_the_peak_that_the_formula_says() {
    compare(
        "peak read bandwidth, GB/s",
        |machine, index| Some(peak_read_bandwidth(machine, index)?.0),
        |machine, index| {
            let peak = peak_read_bandwidth(machine, index).unwrap().0;
            let mut memory = MemorySystem::new(machine, 1);
            saturate(machine, index, peak, |at, line| memory.read(0, at, line).0)
        },
    );
}

#[test]
fn many_writes_reach_the_peak_that_the_formula_says() {
    compare(
        "peak write bandwidth, GB/s",
        |machine, index| Some(peak_write_bandwidth(machine, index)?.0),
        |machine, index| {
            let peak = peak_write_bandwidth(machine, index).unwrap().0;
            let mut memory = MemorySystem::new(machine, 1);
            let whole = whole_line(machine.line.0);
            saturate(machine, index, peak, |at, line| {
                memory.write(0, at, line, whole, crate::Sent::Evicted)
            })
        },
    );
}

/// Requesters with one request each take the lines of the memory's hot region in turn. Answers GB/s
/// of the second half.
fn saturate(
    machine: &Machine,
    index: usize,
    peak: f64,
    mut request: impl FnMut(Time, LineAddr) -> Time,
) -> f64 {
    let line = machine.line.0;
    let latency = unloaded_read_latency(machine, index).unwrap().0.max(100.0);
    let requesters = (3.0 * peak * latency / line as f64).ceil() as usize + 8;
    let lines = hot_bytes(machine, index) / line;
    let mut free: BinaryHeap<_> = (0..requesters).map(|_| Reverse(Time::ZERO)).collect();
    let total = 4 * lines.max(20_000);
    let (mut half, mut last) = (Time::ZERO, Time::ZERO);
    for n in 0..total {
        let Some(Reverse(at)) = free.pop() else { break };
        let done = request(at, LineAddr(n % lines));
        free.push(Reverse(done));
        last = last.max(done);
        if n == total / 2 {
            half = last;
        }
    }
    (total / 2 * line) as f64 / (last - half).in_nanos()
}

/// Bytes over which rows stay open, or that a device's cache holds.
fn hot_bytes(machine: &Machine, index: usize) -> u64 {
    let memory = &machine.memories[index];
    let of_device = |device: &Device| match device {
        Device::Dram(d) => d.row.0 * u64::from(d.banks),
        Device::Pcm(p) => p.row.0 * u64::from(p.banks),
        _ => 1 << 20,
    };
    let channel = match &memory.device {
        Device::Cxl(c) => match c.cache {
            Some(cache) => (cache.size.0 / 2).min(1 << 20),
            None => of_device(&c.backing) * u64::from(c.channels),
        },
        device => of_device(device),
    };
    let Size(interleave) = memory.interleave;
    let block = interleave * u64::from(memory.channels);
    (channel * u64::from(memory.channels)).next_multiple_of(block)
}
