//! Latency of a lone access.

use prestore_machine::device::{Device, Dram, PagePolicy};
use prestore_machine::quantity::{Nanos, Rate, Size};
use prestore_machine::{Machine, Memory};

/// How long a lone read of a random line takes from the last cache level and back, with nothing else
/// under way and no line met again: another row (closed clean) is open in its bank, no buffer or
/// cache of the device has it. Memory `memory` of `machine` (its index); `None` if there is none.
pub fn unloaded_read_latency(machine: &Machine, memory: usize) -> Option<Nanos> {
    let Memory {
        controller, device, ..
    } = machine.memories.get(memory)?;
    Some(Nanos(
        controller.read_latency.0 + random_read(device, machine.line),
    ))
}

/// Nanoseconds that `bytes` take at `rate`.
pub(super) fn transfer(bytes: Size, rate: Rate) -> f64 {
    bytes.0 as f64 / rate.0
}

/// Nanoseconds of a read of `bytes` that meets nothing.
fn random_read(device: &Device, bytes: Size) -> f64 {
    match device {
        Device::Dram(d) => {
            let close = match d.policy {
                PagePolicy::Open => d.t_rp.0,
                PagePolicy::Closed => 0.0,
            };
            close + d.t_rcd.0 + column(d, bytes)
        }
        Device::Pcm(p) => p.t_rp.0 + p.t_rcd.0 + p.t_cl.0 + transfer(bytes, p.bandwidth),
        Device::Optane(o) => transfer(bytes, o.bus) + o.read_miss.0,
        Device::Fpga(f) => f.read.0,
        Device::Cxl(c) => {
            let lookup = c.cache.map_or(0.0, |cache| cache.hit.0);
            c.link.0 + lookup + random_read(&c.backing, c.unit)
        }
    }
}

/// Nanoseconds of a read of `bytes` whose row is open, or whose unit is in the device's cache.
pub(super) fn hot_read(device: &Device, bytes: Size) -> f64 {
    match device {
        Device::Dram(d) => match d.policy {
            PagePolicy::Open => column(d, bytes),
            PagePolicy::Closed => d.t_rcd.0 + column(d, bytes),
        },
        Device::Pcm(p) => p.t_cl.0 + transfer(bytes, p.bandwidth),
        Device::Cxl(c) => match c.cache {
            Some(cache) => c.link.0 + cache.hit.0,
            None => c.link.0 + hot_read(&c.backing, c.unit),
        },
        Device::Optane(_) | Device::Fpga(_) => random_read(device, bytes),
    }
}

/// Nanoseconds until a write of `bytes` with an open row is at the device.
pub(super) fn hot_write(device: &Device, bytes: Size) -> f64 {
    match device {
        Device::Dram(_) => hot_read(device, bytes),
        Device::Pcm(p) => p.t_cwd.0 + transfer(bytes, p.bandwidth),
        Device::Optane(o) => transfer(bytes, o.bus),
        Device::Fpga(f) => f.read.0 / 2.0,
        Device::Cxl(c) => {
            let behind = match c.cache {
                Some(cache) => cache.hit.0,
                None if c.unit <= bytes => hot_write(&c.backing, c.unit),
                None => hot_read(&c.backing, c.unit) + hot_write(&c.backing, c.unit),
            };
            c.link.0 / 2.0 + behind
        }
    }
}

fn column(d: &Dram, bytes: Size) -> f64 {
    d.t_cl.0 + transfer(bytes, d.bandwidth)
}
