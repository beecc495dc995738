//! Bandwidth with many accesses under way.

use prestore_machine::device::{Cxl, Device, PagePolicy};
use prestore_machine::quantity::{Rate, Size};
use prestore_machine::{Machine, Memory};

use super::latency::{hot_read, hot_write, transfer};

/// What memory `memory` of `machine` (its index) delivers at most, in bytes of lines read: enough
/// reads under way, spread over all channels, rows open and device caches warm. `None` if there is
/// no such memory.
pub fn peak_read_bandwidth(machine: &Machine, memory: usize) -> Option<Rate> {
    let m = machine.memories.get(memory)?;
    let device = read_rate(&m.device, machine.line);
    let queue = in_flight(
        m.controller.read_queue,
        machine.line,
        hot_read(&m.device, machine.line),
    );
    Some(all_channels(m, device.min(queue)))
}

/// What memory `memory` of `machine` (its index) takes at most, in bytes of whole lines written:
/// enough writes waiting, one after the other in address, spread over all channels, rows open and
/// device caches warm. `None` if there is no such memory.
pub fn peak_write_bandwidth(machine: &Machine, memory: usize) -> Option<Rate> {
    let m = machine.memories.get(memory)?;
    let line = machine.line;
    let device = write_rate(&m.device, line);
    let taken = hot_write(&m.device, line);
    let queue = match m.device {
        Device::Dram(_) | Device::Pcm(_) => drains(m, line, taken, device),
        _ => in_flight(m.controller.write_queue, line, taken),
    };
    Some(all_channels(m, device.min(queue)))
}

/// One channel's rate, its bus considered, times the channels.
fn all_channels(m: &Memory, rate: f64) -> Rate {
    let bus = m.controller.bus.map_or(f64::INFINITY, |bus| bus.0);
    Rate(rate.min(bus) * f64::from(m.channels))
}

/// GB/s with `entries` lines under way that take `nanos` each.
fn in_flight(entries: u32, line: Size, nanos: f64) -> f64 {
    f64::from(entries) * line.0 as f64 / nanos
}

/// GB/s of writes that leave in batches. A batch's first line takes `taken` to be at the device;
/// meanwhile writes go on only if the queue has room for the lines of the next batch above the
/// threshold.
fn drains(m: &Memory, line: Size, taken: f64, device: f64) -> f64 {
    let c = &m.controller;
    let each = line.0 as f64 / device;
    let batch = f64::from(c.drain_batch.unwrap_or(c.drain_high - c.drain_low));
    let room = f64::from(c.write_queue - c.drain_high);
    let bubble = (taken - (room + 1.0) * each).max(0.0);
    batch * line.0 as f64 / (batch * each + bubble)
}

/// GB/s that a device delivers in reads of `bytes`.
fn read_rate(device: &Device, bytes: Size) -> f64 {
    match device {
        Device::Dram(d) => {
            let bus = d.bandwidth.0 * d.efficiency.0;
            match d.policy {
                PagePolicy::Open => bus,
                PagePolicy::Closed => {
                    let busy = d.t_rcd.0 + d.t_rp.0 + transfer(bytes, Rate(bus));
                    bus.min(f64::from(d.banks) * bytes.0 as f64 / busy)
                }
            }
        }
        Device::Pcm(p) => p.bandwidth.0,
        Device::Optane(o) => o.media_read.0.min(o.bus.0),
        Device::Fpga(f) => f.bandwidth.0,
        Device::Cxl(c) => match c.cache {
            Some(_) => c.to_host.0,
            None => c
                .to_host
                .0
                .min(backing(c, bytes, read_rate(&c.backing, c.unit))),
        },
    }
}

/// GB/s that a device takes in writes of `bytes`.
fn write_rate(device: &Device, bytes: Size) -> f64 {
    match device {
        Device::Dram(_) | Device::Pcm(_) => read_rate(device, bytes),
        Device::Optane(o) => o.media_write.0.min(o.accept.0).min(o.bus.0),
        Device::Fpga(f) => f.bandwidth.0,
        Device::Cxl(c) => match c.cache {
            Some(_) => c.to_device.0,
            None => {
                let unit = write_rate(&c.backing, c.unit);
                // A unit that is larger than what is written is read first. Turning the backing bus
                // round between the two, and gaps too short for a unit, are left out.
                let moved = if c.unit <= bytes { unit } else { unit / 2.0 };
                c.to_device.0.min(backing(c, bytes, moved))
            }
        },
    }
}

/// GB/s of accesses of `bytes` where the backing devices move `rate` each in whole units.
fn backing(c: &Cxl, bytes: Size, rate: f64) -> f64 {
    let used = bytes.0 as f64 / c.unit.0.max(bytes.0) as f64;
    f64::from(c.channels) * rate * used
}
