//! Checks of devices.

use super::{MOST_CHANNELS, MOST_ENTRIES, MOST_FOLLOWED, above_zero, at_most};
use crate::device::{Cxl, Device, DeviceCache, Dram, Fpga, Optane, Pcm};
use crate::file::Sections;
use crate::quantity::Size;

/// Most banks of a channel.
const MOST_BANKS: u64 = 1 << 12;
/// Largest unit: 1 MiB.
const MOST_UNIT: u64 = 1 << 20;
/// Largest unit of an Optane DIMM: which of its lines are written is told by 64 bits.
const MOST_OPTANE_UNIT: u64 = 64 * 64;
/// Most units that a buffer of a DIMM has.
const MOST_BUFFERED: u64 = 1 << 20;

/// Adds what is wrong with the device at `key` of a machine with this line.
pub fn check(device: &Device, line: Size, key: &str, parts: &Sections) {
    match device {
        Device::Dram(dram) => check_dram(dram, line, key, parts),
        Device::Pcm(pcm) => check_pcm(pcm, line, key, parts),
        Device::Optane(optane) => check_optane(optane, line, key, parts),
        Device::Cxl(cxl) => check_cxl(cxl, line, key, parts),
        Device::Fpga(fpga) => check_fpga(fpga, line, key, parts),
    }
}

fn check_dram(dram: &Dram, line: Size, key: &str, parts: &Sections) {
    above_zero(
        parts,
        [
            (key, "banks", dram.banks.into()),
            (key, "bandwidth", dram.bandwidth.0),
            (key, "efficiency", dram.efficiency.0),
        ],
    );
    at_most(parts, MOST_BANKS, [(key, "banks", dram.banks.into())]);
    unit(dram.row, line, "row", key, parts);
}

fn check_pcm(pcm: &Pcm, line: Size, key: &str, parts: &Sections) {
    above_zero(
        parts,
        [
            (key, "banks", pcm.banks.into()),
            (key, "bandwidth", pcm.bandwidth.0),
        ],
    );
    at_most(parts, MOST_BANKS, [(key, "banks", pcm.banks.into())]);
    unit(pcm.row, line, "row", key, parts);
}

fn check_optane(optane: &Optane, line: Size, key: &str, parts: &Sections) {
    above_zero(
        parts,
        [
            (key, "media_read", optane.media_read.0),
            (key, "media_write", optane.media_write.0),
            (key, "bus", optane.bus.0),
            (key, "accept", optane.accept.0),
            (key, "read_ports", optane.read_ports.into()),
        ],
    );
    unit(optane.unit, line, "unit", key, parts);
    multiple(optane.buffer, optane.unit, "buffer", key, parts);
    multiple(optane.block, optane.unit, "block", key, parts);
    at_most(parts, MOST_OPTANE_UNIT, [(key, "unit", optane.unit.0)]);
    at_most(
        parts,
        MOST_BUFFERED.saturating_mul(optane.unit.0),
        [
            (key, "buffer", optane.buffer.0),
            (key, "read_buffer", optane.read_buffer.0),
        ],
    );
    at_most(
        parts,
        MOST_CHANNELS,
        [(key, "read_ports", optane.read_ports.into())],
    );
    at_most(
        parts,
        MOST_ENTRIES,
        [
            (key, "line_queue", optane.line_queue.into()),
            (key, "media_queue", optane.media_queue.into()),
        ],
    );
    if let Some(migration) = optane.migration {
        let key = &*format!("{key}.migration");
        let tracked = migration.tracked;
        above_zero(
            parts,
            [
                (key, "writes", migration.writes.into()),
                (key, "tracked", tracked.into()),
            ],
        );
        at_most(parts, MOST_BUFFERED, [(key, "tracked", tracked.into())]);
    }
    if optane.read_hit > optane.read_miss {
        let what = "is above read_miss: a buffer slower than its media";
        parts.wrong(&format!("{key}.read_hit"), what, "exchange the two");
    }
}

fn check_cxl(cxl: &Cxl, line: Size, key: &str, parts: &Sections) {
    above_zero(
        parts,
        [
            (key, "to_host", cxl.to_host.0),
            (key, "to_device", cxl.to_device.0),
            (key, "channels", cxl.channels.into()),
        ],
    );
    at_most(
        parts,
        MOST_CHANNELS,
        [(key, "channels", cxl.channels.into())],
    );
    unit(cxl.unit, line, "unit", key, parts);
    if let Some(cache) = cxl.cache {
        device_cache(cache, cxl.unit, &format!("{key}.cache"), parts);
    }
    check(&cxl.backing, line, &format!("{key}.backing"), parts);
}

fn device_cache(cache: DeviceCache, unit: Size, key: &str, parts: &Sections) {
    above_zero(parts, [(key, "ways", cache.ways.into())]);
    let of_a_set = u128::from(cache.ways) * u128::from(unit.0);
    if of_a_set == 0 {
        return;
    }
    let most = MOST_FOLLOWED.saturating_mul(unit.0);
    at_most(parts, most, [(key, "size", cache.size.0)]);
    let size = u128::from(cache.size.0);
    if size == 0 || !size.is_multiple_of(of_a_set) || !(size / of_a_set).is_power_of_two() {
        let what = format!(
            "{size} B are no power of two of sets with {} ways of {} B units",
            cache.ways, unit.0
        );
        parts.wrong(&format!("{key}.size"), what, "change size, ways or unit");
    }
}

fn check_fpga(fpga: &Fpga, line: Size, key: &str, parts: &Sections) {
    above_zero(
        parts,
        [
            (key, "bandwidth", fpga.bandwidth.0),
            (key, "controllers", fpga.controllers.into()),
        ],
    );
    at_most(
        parts,
        MOST_CHANNELS,
        [(key, "controllers", fpga.controllers.into())],
    );
    unit(fpga.unit, line, "unit", key, parts);
    multiple(fpga.interleave, fpga.unit, "interleave", key, parts);
}

/// A unit holds whole lines, and addresses are cut by it.
fn unit(unit: Size, line: Size, name: &str, key: &str, parts: &Sections) {
    at_most(parts, MOST_UNIT, [(key, name, unit.0)]);
    if !unit.0.is_power_of_two() || unit < line {
        let what = format!(
            "{} B is not a power of two of at least a line ({} B)",
            unit.0, line.0
        );
        let help = "a device reads and writes whole lines or more";
        parts.wrong(&format!("{key}.{name}"), what, help);
    }
}

fn multiple(size: Size, of: Size, name: &str, key: &str, parts: &Sections) {
    if of.0 != 0 && (size.0 == 0 || !size.0.is_multiple_of(of.0)) {
        let what = format!("{} B are not whole units of {} B", size.0, of.0);
        parts.wrong(
            &format!("{key}.{name}"),
            what,
            "give a multiple of the unit",
        );
    }
}
