//! Machines made of caches, everything else plain: a clock of 1 GHz, so that a cycle is 1000 time units.

use prestore_machine::device::{Device, Dram, PagePolicy};
use prestore_machine::quantity::{Clock, Cycles, Nanos, Rate, Share, Size};
use prestore_machine::{
    CacheLevel, Controller, Core, Demote, Directory, DirectoryHome, Inclusion, Machine, Memory,
    MemoryModel, Placement, Prefetch, Replacement, Scope, SliceHash, StoreBuffer, Strings,
    WritePolicy,
};

/// A level of `sets` sets of `ways` ways, 64-byte lines, LRU, no limits.
pub fn level(scope: Scope, inclusion: Inclusion, sets: u64, ways: u32, latency: u32) -> CacheLevel {
    CacheLevel {
        name: format!("latency {latency}"),
        size: Size(sets * u64::from(ways) * 64),
        ways,
        latency: Cycles(f64::from(latency)),
        scope,
        inclusion,
        replacement: Replacement::Lru,
        hash: SliceHash::None,
        slices: 1,
        write: WritePolicy::Back,
        mshrs: None,
    }
}

/// `cores` cores with these caches, a directory on the chip, snoops of 60 cycles.
pub fn machine(cores: u32, caches: Vec<CacheLevel>) -> Machine {
    Machine {
        name: "test".into(),
        description: "Caches only.".into(),
        line: Size(64),
        core: core(cores),
        caches,
        directory: Directory {
            home: DirectoryHome::OnChip,
            snoop: Cycles(60.0),
            filter: None,
        },
        memories: vec![memory()],
        placement: Placement::default(),
    }
}

fn core(count: u32) -> Core {
    Core {
        count,
        clock: Clock(1.0),
        width: 1.0,
        rob: 0,
        loads_per_cycle: 1.0,
        strings: Strings::default(),
        stores_per_cycle: 1.0,
        fill_buffers: 1,
        flush_buffers: None,
        flush_hold: None,
        memory_types: None,
        memory_model: MemoryModel::Tso,
        store_buffer: StoreBuffer {
            entries: 1,
            rfo_ahead: 1,
            rfo_lines: None,
            leaves_when_granted: false,
            flushes_in_order: false,
            forward_misses: true,
            merge: None,
            drain_at: None,
            timeout: None,
            merge_restarts_timer: false,
            drain_parallel: 1,
            fence_parallel: None,
            push_parallel: None,
            drain: Cycles(0.0),
        },
        write_combining: None,
        atomic: Cycles(0.0),
        atomics_overlap: false,
        fence: Cycles(0.0),
        store_fence: None,
        clwb_retains: true,
        clwb_to_shared: false,
        flushes_ask_memory: false,
        flush_issue: Cycles(0.0),
        flushes: Vec::new(),
        demote: Demote::ToSharedLevel,
        demote_hold: None,
        prefetch: Prefetch::default(),
    }
}

fn memory() -> Memory {
    Memory {
        name: "dram".into(),
        capacity: None,
        channels: 1,
        interleave: Size(4096),
        controller: Controller {
            read_latency: Nanos(0.0),
            write_latency: Nanos(0.0),
            read_queue: 1,
            write_queue: 1,
            drain_high: 1,
            drain_low: 0,
            drain_batch: None,
            write_order: prestore_machine::WriteOrder::Rows,
            line_gap: Nanos(0.0),
            bus: None,
            persistent: false,
        },
        device: Device::Dram(Dram {
            banks: 1,
            row: Size(4096),
            t_rcd: Nanos(0.0),
            t_cl: Nanos(0.0),
            t_rp: Nanos(0.0),
            t_wr: Nanos(0.0),
            t_wtr: Nanos(0.0),
            t_rtw: Nanos(0.0),
            bandwidth: Rate(1.0),
            efficiency: Share(1.0),
            policy: PagePolicy::Open,
        }),
    }
}
