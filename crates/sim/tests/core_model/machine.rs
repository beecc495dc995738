//! Machines to change.

use prestore_machine::quantity::{Clock, Cycles, Nanos, Size};
use prestore_machine::{
    CacheLevel, Core as Described, Demote, Directory, DirectoryHome, FlushInstruction, Inclusion,
    Machine, MemoryModel, Placement, Prefetch, Replacement, Scope, SliceHash, StoreBuffer, Strings,
    WriteCombining, WritePolicy,
};

/// One instruction a cycle, TSO, lines of 64 bytes, all flushes, demotion to the shared level.
pub fn tso() -> Machine {
    use FlushInstruction::{Clflush, Clflushopt, Clwb};
    Machine {
        name: "exact".into(),
        description: "A machine whose cycles can be counted.".into(),
        line: Size(64),
        core: Described {
            count: 1,
            clock: Clock(1.0),
            width: 1.0,
            rob: 64,
            loads_per_cycle: 1.0,
            strings: Strings::default(),
            stores_per_cycle: 1.0,
            fill_buffers: 10,
            flush_buffers: None,
            flush_hold: None,
            memory_types: None,
            memory_model: MemoryModel::Tso,
            store_buffer: StoreBuffer {
                entries: 8,
                rfo_ahead: 4,
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
            write_combining: Some(combining(4)),
            atomic: Cycles(18.0),
            atomics_overlap: false,
            fence: Cycles(0.0),
            store_fence: None,
            clwb_retains: true,
            clwb_to_shared: false,
            flushes_ask_memory: false,
            flush_issue: Cycles(1.0),
            flushes: vec![Clflush, Clflushopt, Clwb],
            demote: Demote::ToSharedLevel,
            demote_hold: None,
            prefetch: Prefetch::default(),
        },
        caches: vec![CacheLevel {
            name: "L1D".into(),
            size: Size(32 << 10),
            ways: 8,
            latency: Cycles(4.0),
            scope: Scope::Private,
            inclusion: Inclusion::NonInclusive,
            replacement: Replacement::Lru,
            hash: SliceHash::None,
            slices: 1,
            write: WritePolicy::Back,
            mshrs: None,
        }],
        directory: Directory {
            home: DirectoryHome::OnChip,
            snoop: Cycles(100.0),
            filter: None,
        },
        memories: Vec::new(),
        placement: Placement::default(),
    }
}

/// So many write-combining buffers, each taken until memory has its data.
pub fn combining(buffers: u32) -> WriteCombining {
    WriteCombining {
        buffers,
        delay: Nanos(0.0),
        rewrite: Nanos(0.0),
        hold: None,
        hits_stay: false,
        shares_fill_buffers: true,
    }
}

/// The same with a merging write buffer: in order, no timer, 4 lines, one drain at once taking 10
/// cycles on top of ownership, demotion out of the buffer.
pub fn weak() -> Machine {
    use FlushInstruction::{DcCivac, DcCvac};
    let mut machine = tso();
    machine.core.memory_model = MemoryModel::Weak;
    machine.core.rob = 0;
    machine.core.write_combining = None;
    machine.core.flushes = vec![DcCivac, DcCvac];
    machine.core.demote = Demote::FromWriteBuffer;
    machine.core.store_buffer.entries = 4;
    machine.core.store_buffer.drain = Cycles(10.0);
    machine
}
