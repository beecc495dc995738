//! What holds for every thread on every core.

use std::collections::BTreeMap;

use prestore_machine::quantity::{Cycles, Nanos};
use prestore_machine::{Demote, Machine, WriteCombining};
use prestore_sim::{ByteMask, Core, Op, OpKind, Time};
use prestore_trace::{DemoteKind, FenceKind, FlushKind, SiteId};
use proptest::prelude::*;

use crate::machine::{tso, weak};
use crate::mock::{Call, Mock};

fn kind() -> impl Strategy<Value = OpKind> {
    use FlushKind::{Clflush, Clflushopt, Clwb, DcCivac, DcCvac, DcCvap};
    prop_oneof![
        6 => Just(OpKind::Load),
        6 => Just(OpKind::Store),
        2 => Just(OpKind::NtStore),
        1 => Just(OpKind::Atomic),
        1 => Just(OpKind::Demote(DemoteKind::Cldemote)),
        2 => prop::sample::select(vec![Clflush, Clflushopt, Clwb, DcCivac, DcCvac, DcCvap])
            .prop_map(OpKind::Flush),
        1 => prop::sample::select(vec![FenceKind::Store, FenceKind::Load, FenceKind::Full])
            .prop_map(OpKind::Fence),
    ]
}

/// Operations on a dozen lines, some across lines, some long.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let size = prop_oneof![4 => 1u32..=16, 1 => Just(64u32), 1 => 100u32..400];
    let op = (
        kind(),
        0u64..768,
        size,
        prop_oneof![8 => 0u64..4, 1 => 0u64..300],
    );
    prop::collection::vec(op, 1..200).prop_map(|ops| {
        let mut instr = 0;
        let made = ops.into_iter().map(|(kind, addr, size, gap)| {
            instr += gap;
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
    })
}

prop_compose! {
    fn core(base: Machine)(
        rob in prop_oneof![Just(0u32), 1u32..100],
        width in 1u32..5,
        fills in 1u32..6,
        entries in 1u32..9,
        ahead in 1u32..6,
        combining in prop::option::of(1u32..5),
        hold in prop::option::of(0u32..100),
        hits_stay in any::<bool>(),
        drain_at in prop::option::of(1u32..6),
        timeout in prop::option::of(1u32..500),
        restarts in any::<bool>(),
        parallel in 1u32..4,
        retains in any::<bool>(),
        demote in prop::sample::select(vec![
            Demote::Nop, Demote::ToSharedLevel, Demote::FromWriteBuffer,
        ]),
        (when_granted, overlap, in_order) in any::<(bool, bool, bool)>(),
    ) -> Machine {
        let mut machine = base.clone();
        machine.core.rob = rob;
        machine.core.width = f64::from(width);
        machine.core.fill_buffers = fills;
        machine.core.write_combining = combining.map(|buffers| WriteCombining {
            hold: hold.map(|ns| Nanos(f64::from(ns))),
            hits_stay,
            ..crate::machine::combining(buffers)
        });
        machine.core.flush_hold = hold.map(|ns| Nanos(f64::from(ns)));
        machine.core.clwb_retains = retains;
        machine.core.demote = demote;
        machine.core.atomics_overlap = overlap;
        let stores = &mut machine.core.store_buffer;
        stores.entries = entries;
        stores.leaves_when_granted = when_granted;
        stores.flushes_in_order = in_order;
        stores.rfo_ahead = ahead;
        stores.drain_at = drain_at;
        stores.timeout = timeout.map(|t| Cycles(f64::from(t)));
        stores.merge_restarts_timer = restarts;
        stores.drain_parallel = parallel;
        machine
    }
}

fn any_core() -> impl Strategy<Value = Machine> {
    prop_oneof![core(tso()), core(weak())]
}

/// All bytes that came to each line, by whichever way.
fn written(below: &Mock) -> BTreeMap<u64, ByteMask> {
    let mut lines = BTreeMap::new();
    for (_, call) in &below.calls {
        if let Call::Write(line, bytes) | Call::Around(line, bytes) = call {
            *lines.entry(*line).or_default() |= bytes;
        }
    }
    lines
}

/// The bytes that the operations say they write.
fn meant(ops: &[Op]) -> BTreeMap<u64, ByteMask> {
    let mut lines: BTreeMap<u64, ByteMask> = BTreeMap::new();
    for op in ops {
        if matches!(op.kind, OpKind::Store | OpKind::NtStore | OpKind::Atomic) {
            for byte in op.addr..op.addr + u64::from(op.size) {
                *lines.entry(byte / 64).or_default() |= 1 << (byte % 64);
            }
        }
    }
    lines
}

fn run(machine: &Machine, ops: &[Op]) -> (Core, Mock) {
    let mut below = Mock::default();
    let mut core = Core::new(0, machine);
    for op in ops {
        core.step(op, &mut below);
    }
    core.finish(ops.last().map_or(0, |op| op.instr), &mut below);
    (core, below)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn winding_down_comes_to_an_end_and_loses_nothing(machine in any_core(), ops in ops()) {
        let mut below = Mock::default();
        let mut core = Core::new(0, &machine);
        for op in &ops {
            core.step(op, &mut below);
        }
        let instrs = ops.last().map_or(0, |op| op.instr);
        let mut clock = core.now();
        while core.wind_down(instrs, core.now(), &mut below) {
            prop_assert!(core.now() > clock, "{clock:?} again");
            clock = core.now();
        }
        core.finish(instrs, &mut below);
        prop_assert!(core.now() >= clock);
        prop_assert_eq!(written(&below), meant(&ops));
    }

    #[test]
    fn time_never_goes_back_and_is_all_accounted_for(machine in any_core(), ops in ops()) {
        let mut below = Mock::default();
        let mut core = Core::new(0, &machine);
        let mut before = Time::ZERO;
        for op in &ops {
            core.step(op, &mut below);
            prop_assert!(core.now() >= before);
            before = core.now();
            let results = core.results();
            let sum = results.busy + results.issue + results.stalls.total();
            prop_assert_eq!(sum, core.now());
        }
        let end = core.finish(ops.last().map_or(0, |op| op.instr), &mut below);
        prop_assert!(end >= before);
        let results = core.results();
        prop_assert_eq!(results.busy + results.issue + results.stalls.total(), end);
    }

    #[test]
    fn every_byte_stored_arrives_on_weak_and_ordered_cores(
        ordered in core(tso()), weak in core(weak()), ops in ops(),
    ) {
        prop_assert_eq!(written(&run(&ordered, &ops).1), meant(&ops));
        prop_assert_eq!(written(&run(&weak, &ops).1), meant(&ops));
    }

    #[test]
    fn ordered_stores_arrive_in_order(mut machine in core(tso()), mut ops in ops()) {
        machine.core.write_combining = None;
        let writes = |op: &Op| matches!(op.kind, OpKind::Store | OpKind::Atomic);
        ops.retain(|op| writes(op) || op.kind == OpKind::Load);
        let (_, below) = run(&machine, &ops);
        let arrived: Vec<u64> = below.calls.iter().filter_map(|(_, call)| match call {
            Call::Write(line, _) => Some(*line),
            _ => None,
        }).collect();
        let meant: Vec<u64> = ops.iter().filter(|op| writes(op)).flat_map(|op| {
            op.addr / 64..=(op.addr + u64::from(op.size) - 1) / 64
        }).collect();
        prop_assert_eq!(arrived, meant);
    }

    #[test]
    fn a_fence_leaves_nothing_pending(machine in any_core(), mut ops in ops()) {
        let instr = ops.last().map_or(0, |op| op.instr);
        ops.push(Op {
            instr,
            addr: 0,
            size: 0,
            site: SiteId::NONE,
            kind: OpKind::Fence(FenceKind::Full),
            after: 0,
        });
        let mut below = Mock::default();
        let mut core = Core::new(0, &machine);
        for op in &ops {
            core.step(op, &mut below);
        }
        let now = core.now();
        prop_assert_eq!(core.visible_at(&mut below), now);
        prop_assert_eq!(core.finish(instr, &mut below), now);
    }

    #[test]
    fn every_flush_reaches_the_caches(machine in any_core(), ops in ops()) {
        let (core, below) = run(&machine, &ops);
        let results = core.results();
        let found = results.flushed_dirty + results.flushed_clean + results.flushed_absent;
        prop_assert_eq!(found, results.ops.flushes);
        prop_assert_eq!(below.flushes().len() as u64, results.ops.flushes);
    }
}
