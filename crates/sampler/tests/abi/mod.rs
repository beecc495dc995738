//! Writes kernel records as bytes.
//!
//! Provenance: constructed, not recorded. The layouts are those of `linux/perf_event.h` (the comments
//! at `enum perf_event_type`, Linux 6.9) and `perf_event_open(2)`, with the `sample_type` that this
//! crate asks for: IP, TID, TIME, ADDR, CPU, PERIOD, CALLCHAIN, RAW, DATA_SRC in the kernel's order.
//! Machines with PEBS, IBS or SPE were not at hand; `data/cpu-clock.ring` is a real recording.

#![allow(dead_code)]

pub const MMAP_BUILD_ID: u16 = 1 << 14;
pub const COMM_EXEC: u16 = 1 << 13;
pub const USER: u16 = 2;
pub const KERNEL: u16 = 1;
pub const CONTEXT_USER: u64 = (-512i64) as u64;

pub const PID: u32 = 700;
pub const TID: u32 = 701;

/// Collects the fields of a record and gives it its header.
#[derive(Default)]
pub struct Body(Vec<u8>);

impl Body {
    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_ne_bytes());
        self
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// A name, with its terminator, padded to 8 bytes.
    pub fn name(mut self, name: &str) -> Self {
        self.0.extend(name.as_bytes());
        self.0.push(0);
        while !self.0.len().is_multiple_of(8) {
            self.0.push(0);
        }
        self
    }

    /// The trailer that `sample_id_all` adds: TID, TIME, CPU.
    pub fn sample_id(self, pid: u32, tid: u32, time: u64) -> Self {
        self.u32(pid).u32(tid).u64(time).u32(0).u32(0)
    }

    pub fn record(self, kind: u32, misc: u16) -> Vec<u8> {
        let size = (self.0.len() + 8) as u16;
        let mut record = kind.to_ne_bytes().to_vec();
        record.extend(misc.to_ne_bytes());
        record.extend(size.to_ne_bytes());
        record.extend(self.0);
        record
    }
}

/// PERF_RECORD_SAMPLE with ADDR, CALLCHAIN and DATA_SRC (Intel mem-stores).
pub fn pebs_store(ip: u64, addr: u64, time: u64, period: u64, chain: &[u64]) -> Vec<u8> {
    sample_head(ip, time, addr, period, chain)
        .u64(0x4 | 1 << 5) // data source: store, not available level
        .record(9, USER)
}

/// PERF_RECORD_SAMPLE of `ibs_op`, with the raw registers before the data source.
pub fn ibs_op(ip: u64, addr: u64, time: u64, data3: u64, misc: u16) -> Vec<u8> {
    let mut raw = 0x3ffu32.to_ne_bytes().to_vec();
    for register in [0x4_0001u64, ip, 0, 0, data3, addr, 0, 0] {
        raw.extend(register.to_ne_bytes());
    }
    // The kernel pads so that size field and data together are a multiple of 8 bytes.
    while !(raw.len() + 4).is_multiple_of(8) {
        raw.push(0);
    }
    sample_head(ip, time, 0, 16, &[CONTEXT_USER, ip])
        .u32(raw.len() as u32)
        .bytes(&raw)
        .u64(1) // data source: not available
        .record(9, misc)
}

fn sample_head(ip: u64, time: u64, addr: u64, period: u64, chain: &[u64]) -> Body {
    let body = Body::default()
        .u64(ip)
        .u32(PID)
        .u32(TID)
        .u64(time)
        .u64(addr);
    let body = body.u32(0).u32(0).u64(period).u64(chain.len() as u64);
    chain.iter().fold(body, |body, entry| body.u64(*entry))
}

/// PERF_RECORD_MMAP2 with a build id.
pub fn mmap2(pid: u32, time: u64, start: u64, length: u64, offset: u64, path: &str) -> Vec<u8> {
    Body::default()
        .u32(pid)
        .u32(pid)
        .u64(start)
        .u64(length)
        .u64(offset)
        .bytes(&[20, 0, 0, 0])
        .bytes(&[0xcd; 20])
        .u32(5)
        .u32(2)
        .name(path)
        .sample_id(pid, pid, time)
        .record(10, MMAP_BUILD_ID | USER)
}

/// PERF_RECORD_FORK.
pub fn fork(pid: u32, parent: u32, time: u64) -> Vec<u8> {
    let body = Body::default().u32(pid).u32(parent).u32(pid).u32(parent);
    body.u64(time).sample_id(parent, parent, time).record(7, 0)
}

/// PERF_RECORD_COMM of an exec.
pub fn exec(pid: u32, time: u64, name: &str) -> Vec<u8> {
    let body = Body::default().u32(pid).u32(pid).name(name);
    body.sample_id(pid, pid, time).record(3, COMM_EXEC)
}

/// PERF_RECORD_LOST.
pub fn lost(count: u64) -> Vec<u8> {
    let body = Body::default().u64(17).u64(count);
    body.sample_id(PID, TID, 1).record(2, 0)
}

/// PERF_RECORD_LOST_SAMPLES.
pub fn lost_samples(count: u64) -> Vec<u8> {
    Body::default()
        .u64(count)
        .sample_id(PID, TID, 1)
        .record(13, 0)
}

/// PERF_RECORD_THROTTLE (5) or PERF_RECORD_UNTHROTTLE (6).
pub fn throttle(kind: u32, time: u64) -> Vec<u8> {
    let body = Body::default().u64(time).u64(17).u64(17);
    body.sample_id(PID, TID, time).record(kind, 0)
}

/// PERF_RECORD_AUX.
pub fn aux(offset: u64, size: u64, flags: u64, time: u64) -> Vec<u8> {
    let body = Body::default().u64(offset).u64(size).u64(flags);
    body.sample_id(PID, TID, time).record(11, 0)
}
