//! Operations a second that a core steps through, above neighbours that answer at once: the core's
//! own share of a simulation. `cargo bench -p prestore-sim --bench core`; look at the Mitem/s.

use divan::counter::ItemsCount;
use prestore_machine::Machine;
use prestore_sim::{
    Below, ByteMask, Core, Flushed, LineState, Op, OpKind, Served, ServedBy, Stored, Time,
};
use prestore_trace::{FlushKind, LineAddr, SiteId};

#[path = "../tests/core_model/machine.rs"]
mod machine;

const OPS: u64 = 100_000;

fn main() {
    divan::main();
}

/// All lines are in the nearest cache, owned.
struct AllHits;

impl Below for AllHits {
    fn load(&mut self, _: u32, at: Time, _: LineAddr) -> Served {
        Served {
            done: at + Time(4000),
            granted: at + Time(4000),
            by: ServedBy::Cache(0),
        }
    }

    fn owned(&self, _: u32, _: LineAddr) -> bool {
        true
    }

    fn own(&mut self, _: u32, at: Time, _: LineAddr, _: bool) -> Served {
        Served {
            done: at,
            granted: at,
            by: ServedBy::Cache(0),
        }
    }

    fn write(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        at
    }

    fn write_around(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        at
    }

    fn flush(&mut self, _: u32, at: Time, _: LineAddr, _: FlushKind, _: bool) -> Flushed {
        Flushed {
            done: at,
            state: LineState::Clean,
        }
    }

    fn demote(&mut self, _: u32, at: Time, _: LineAddr) -> Time {
        at
    }
}

/// Every `stores`-th operation is a store, over 16 KB, with three instructions from one to the next.
fn ops(stores: u64) -> Vec<Op> {
    let op = |n: u64| Op {
        instr: n * 3,
        addr: n * 8 % (16 << 10),
        size: 8,
        site: SiteId::NONE,
        kind: if n.is_multiple_of(stores) {
            OpKind::Store
        } else {
            OpKind::Load
        },
        after: 0,
    };
    (1..=OPS).map(op).collect()
}

fn step(bencher: divan::Bencher<'_, '_>, machine: &Machine, stores: u64) {
    let ops = ops(stores);
    let mut machine = machine.clone();
    machine.core.width = 4.0;
    machine.core.store_buffer.entries = machine.core.store_buffer.entries.max(16);
    bencher.counter(ItemsCount::new(OPS)).bench_local(|| {
        let mut core = Core::new(0, &machine);
        for op in &ops {
            core.step(op, &mut AllHits);
        }
        core.now()
    });
}

/// Loads only.
#[divan::bench]
fn loads(bencher: divan::Bencher<'_, '_>) {
    step(bencher, &machine::tso(), 0);
}

/// A store in three, TSO.
#[divan::bench]
fn mixed_ordered(bencher: divan::Bencher<'_, '_>) {
    step(bencher, &machine::tso(), 3);
}

/// Stores only, TSO.
#[divan::bench]
fn stores_ordered(bencher: divan::Bencher<'_, '_>) {
    step(bencher, &machine::tso(), 1);
}

/// A store in three, weak.
#[divan::bench]
fn mixed_merging(bencher: divan::Bencher<'_, '_>) {
    step(bencher, &machine::weak(), 3);
}
