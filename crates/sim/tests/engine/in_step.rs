//! Real cores stay in step: whatever an operation drains, nobody asks far ahead of the others.

use prestore_machine::Machine;
use prestore_sim::{
    Below, ByteMask, Core, Flushed, Interest, Latencies, LineState, NoMechanism, Op, OpKind, Plan,
    Run, Served, ServedBy, Stored, SystemCounts, Time, Uncore,
};
use prestore_trace::{FenceKind, FlushKind, LineAddr, SiteId};
use proptest::prelude::*;

use crate::mock::{Script, ns};

/// How long everything takes.
const LATENCY: Time = Time(50_000);

/// Every line has to be fetched again and again; notes how far calls come behind later ones.
struct Far<'a> {
    latest: Time,
    furthest: &'a mut Time,
}

impl Far<'_> {
    fn called(&mut self, at: Time) -> Time {
        *self.furthest = self.latest.since(at).max(*self.furthest);
        self.latest = self.latest.max(at);
        at + LATENCY
    }

    fn serve(&mut self, at: Time) -> Served {
        Served {
            done: self.called(at),
            granted: self.called(at),
            by: ServedBy::Memory(0),
        }
    }
}

impl Below for Far<'_> {
    fn load(&mut self, _: u32, at: Time, _: LineAddr) -> Served {
        self.serve(at)
    }

    fn owned(&self, _: u32, _: LineAddr) -> bool {
        false
    }

    fn own(&mut self, _: u32, at: Time, _: LineAddr, _: bool) -> Served {
        self.serve(at)
    }

    fn write(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        self.called(at);
        at
    }

    fn write_around(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        self.called(at)
    }

    fn flush(&mut self, _: u32, at: Time, _: LineAddr, _: FlushKind, _: bool) -> Flushed {
        Flushed {
            done: self.called(at),
            state: LineState::Dirty,
        }
    }

    fn demote(&mut self, _: u32, at: Time, _: LineAddr) -> Time {
        self.called(at)
    }
}

impl Uncore for Far<'_> {
    fn allocated(&mut self, _: u32, _: Time, _: &Op) {}
    fn freed(&mut self, _: u32, _: Time, _: u64) {}
    fn drain(&mut self, _: Time) {}

    fn counts(&self) -> SystemCounts {
        SystemCounts::default()
    }

    fn read_latencies(&self) -> Vec<Latencies> {
        Vec::new()
    }
}

/// Threads that share no lines and hand nothing over; accesses of one operation lie in lines of their own, or
/// are strings.
fn threads() -> impl Strategy<Value = Vec<Vec<Op>>> {
    let kind = prop_oneof![
        4 => Just(OpKind::Load),
        8 => Just(OpKind::Store),
        2 => Just(OpKind::NtStore),
        1 => Just(OpKind::Atomic),
        2 => Just(OpKind::Flush(FlushKind::Clwb)),
        2 => Just(OpKind::Flush(FlushKind::Clflush)),
        1 => prop::sample::select(vec![FenceKind::Store, FenceKind::Full]).prop_map(OpKind::Fence),
    ];
    let size = prop_oneof![6 => Just(64u32), 1 => 100u32..40_000];
    let op = (kind, size, prop_oneof![4 => 0u64..8, 1 => 0u64..2000]);
    let thread = prop::collection::vec(op, 1..80).prop_map(|ops| {
        let (mut instr, mut addr) = (0, 0);
        let made = ops.into_iter().map(|(kind, size, gap)| {
            instr += gap;
            addr += 1 << 16;
            let size = match kind {
                OpKind::Load | OpKind::Store | OpKind::NtStore => size,
                _ => 64,
            };
            Op {
                instr,
                addr,
                size,
                site: SiteId::NONE,
                kind,
                after: 0,
            }
        });
        made.collect()
    });
    prop::collection::vec(thread, 2..4)
}

fn machine(name: &str) -> Machine {
    Machine::find_with(name, &["core.count=4"]).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn nobody_asks_ahead_of_others(threads in threads(), weak in any::<bool>()) {
        let machine = machine(if weak { "machine-b-fast" } else { "tiny" });
        let plan = Plan {
            interest: Interest::All,
            warmup: 0,
            quantum: ns(10),
            lenient: false,
        };
        let count = threads.len() as u32;
        let mut source = Script::new(threads);
        let mut furthest = Time::ZERO;
        let below = Far { latest: Time::ZERO, furthest: &mut furthest };
        let cores = (0..count).map(|id| Core::new(id, &machine));
        Run::new(&mut source, &mut NoMechanism, cores, below, plan).finish().unwrap();
        // What is dispatched waits for a load port, loads before it and a fill buffer, each a latency at
        // most; a drain of eight stores alone would take eight.
        let own = Time(4 * LATENCY.0);
        prop_assert!(furthest <= plan.quantum + own, "{furthest:?} behind");
    }
}
