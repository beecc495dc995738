//! Small memories with round numbers, for tests.

use prestore_machine::Controller;
use prestore_machine::device::{
    Cxl, Device as Described, DeviceCache, Dram, Fpga, Optane, PagePolicy, Pcm,
};
use prestore_machine::quantity::{Nanos, Rate, Share, Size};
use prestore_trace::Bytes;

use super::device::Device;
use crate::Time;

/// Round numbers: 10 ns a line on the way in, 100 ns a unit write, 1000 ns until it is done.
pub(crate) fn optane() -> Optane {
    Optane {
        unit: Size(256),
        buffer: Size(16 * 1024),
        read_hit: Nanos(50.0),
        read_miss: Nanos(200.0),
        media_read: Rate(6.4),
        media_write: Rate(2.56),
        bus: Rate(64.0),
        random_eviction: Share(0.0),
        accept: Rate(6.4),
        read_ports: 4,
        read_buffer: Size(16 * 1024),
        line_queue: 8,
        media_queue: 4,
        settle: Nanos(100.0),
        write_latency: Nanos(1000.0),
        read_delays_write: Nanos(0.0),
        background_write: Rate(0.0),
        block: Size(4096),
        migration: None,
    }
}

/// 4 banks of 1 KB rows; a burst of 64 B takes 4 ns.
pub(crate) fn dram() -> Dram {
    Dram {
        banks: 4,
        row: Size(1024),
        t_rcd: Nanos(10.0),
        t_cl: Nanos(20.0),
        t_rp: Nanos(30.0),
        t_wr: Nanos(15.0),
        t_wtr: Nanos(7.0),
        t_rtw: Nanos(3.0),
        bandwidth: Rate(16.0),
        efficiency: Share(1.0),
        policy: PagePolicy::Open,
    }
}

/// 4 banks of 1 KB rows; a burst of 64 B takes 4 ns.
pub(crate) fn pcm() -> Pcm {
    Pcm {
        banks: 4,
        row: Size(1024),
        t_rcd: Nanos(50.0),
        t_cl: Nanos(20.0),
        t_cwd: Nanos(10.0),
        t_rp: Nanos(5.0),
        t_wr: Nanos(150.0),
        recovery: prestore_machine::device::Recovery::AtClose,
        t_wtr: Nanos(7.0),
        t_faw: None,
        bandwidth: Rate(16.0),
    }
}

/// One read takes 100 ns; 128 B take 16 ns on the link.
pub(crate) fn fpga() -> Fpga {
    Fpga {
        read: Nanos(100.0),
        bandwidth: Rate(8.0),
        controllers: 2,
        interleave: Size(128),
        unit: Size(128),
    }
}

/// 100 ns there and back, a line of 64 B takes 2 ns each way; one channel of [`dram`] in units of 64
/// bytes, no cache.
pub(crate) fn cxl() -> Cxl {
    Cxl {
        link: Nanos(100.0),
        to_host: Rate(32.0),
        to_device: Rate(32.0),
        unit: Size(64),
        cache: None,
        backing: Described::Dram(dram()),
        channels: 1,
    }
}

/// The same with a cache of 8 KB, 2-way, in which a hit takes 10 ns.
pub(crate) fn cached(device: Cxl) -> Cxl {
    Cxl {
        cache: Some(DeviceCache {
            size: Size(8192),
            ways: 2,
            hit: Nanos(10.0),
        }),
        ..device
    }
}

/// 30 ns there and back, 10 ns to acceptance; 8 writes, drained from 6 to 2.
pub(crate) fn controller() -> Controller {
    Controller {
        read_latency: Nanos(30.0),
        write_latency: Nanos(10.0),
        read_queue: 4,
        write_queue: 8,
        drain_high: 6,
        drain_low: 2,
        drain_batch: None,
        write_order: prestore_machine::WriteOrder::Rows,
        line_gap: Nanos(0.0),
        bus: None,
        persistent: true,
    }
}

pub(crate) fn ns(n: u64) -> Time {
    Time(n * 1000)
}

/// Reads a line of 64 bytes; answers when it is there, in ns.
pub(crate) fn read(device: &mut impl Device, at: u64, addr: u64) -> u64 {
    device.read(ns(at), addr, Bytes(64)).0 / 1000
}

/// Writes a whole line of 64 bytes; answers when it is taken, in ns.
pub(crate) fn write(device: &mut impl Device, at: u64, addr: u64) -> u64 {
    device.write(ns(at), addr, u64::MAX.into()).0 / 1000
}
