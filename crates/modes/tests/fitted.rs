//! What becomes of flushes and fences.
#![allow(missing_docs, clippy::unwrap_used)]

use prestore_machine::MemoryModel;
use prestore_modes::{Counts, Fitted, Mode, Ranges};
use prestore_sim::{Mechanism, Op, OpKind};
use prestore_trace::{FenceKind, FlushKind, SiteId};

const FULL: OpKind = OpKind::Fence(FenceKind::Full);
const SFENCE: OpKind = OpKind::Fence(FenceKind::Store);
const CLFLUSH: OpKind = OpKind::Flush(FlushKind::Clflush);
const CLWB: OpKind = OpKind::Flush(FlushKind::Clwb);

/// In the range, and in another that is write-back.
const IN: u64 = 0x1000;
const OUT: u64 = 0x9000;

fn op(kind: OpKind, addr: u64) -> Op {
    Op {
        instr: 0,
        addr,
        size: 8,
        site: SiteId::NONE,
        kind,
        after: 0,
    }
}

/// What is left of `ops` with the range in `mode`, each call with one operation.
fn left(mode: Mode, ops: &[(OpKind, u64)]) -> (Vec<(OpKind, u64)>, Counts) {
    left_on(MemoryModel::Tso, mode, ops)
}

fn left_on(model: MemoryModel, mode: Mode, ops: &[(OpKind, u64)]) -> (Vec<(OpKind, u64)>, Counts) {
    let range = std::slice::from_ref(&(IN..IN + 0x1000));
    let mut fitted = Fitted::new(Ranges::new([range]).unwrap(), vec![mode], model);
    let mut out = Vec::new();
    for &(kind, addr) in ops {
        fitted.ops(0, &[op(kind, addr)], &mut out);
    }
    fitted.end(0, &mut out);
    let kinds = out.iter().map(|op| (op.kind, op.addr)).collect();
    (kinds, fitted.counts())
}

const P1: [(OpKind, u64); 4] = [(OpKind::Store, IN), (FULL, 0), (CLFLUSH, IN), (FULL, 0)];

#[test]
fn under_write_through_flush_and_fences_go() {
    for mode in [
        Mode::WriteThrough,
        Mode::Uncacheable,
        Mode::PersistentCaches,
    ] {
        let (ops, counts) = left(mode, &P1);
        assert_eq!(ops, [(OpKind::Store, IN)], "{mode:?}");
        assert_eq!((counts.flushes, counts.fences), (1, 2));
    }
}

#[test]
fn under_write_combining_one_fence_stays() {
    let (ops, counts) = left(Mode::WriteCombining, &P1);
    assert_eq!(ops, [(OpKind::Store, IN), (FULL, 0)]);
    assert_eq!((counts.flushes, counts.fences), (1, 1));
    let (ops, counts) = left(Mode::NonTemporal, &P1);
    assert_eq!(ops, [(OpKind::NtStore, IN), (FULL, 0)]);
    assert_eq!(counts.stores, 1);
}

#[test]
fn on_a_weak_core_a_fence_keeps_the_order() {
    let (ops, _) = left_on(MemoryModel::Weak, Mode::Uncacheable, &P1);
    assert_eq!(ops, [(OpKind::Store, IN), (FULL, 0)]);
}

#[test]
fn write_back_stays_as_it_is() {
    assert_eq!(left(Mode::WriteBack, &P1).0, P1);
}

#[test]
fn a_fence_that_another_flush_needs_stays() {
    let ops = [
        (OpKind::Store, IN),
        (OpKind::Store, OUT),
        (CLWB, IN),
        (CLWB, OUT),
        (SFENCE, 0),
    ];
    let expected = [
        (OpKind::Store, IN),
        (OpKind::Store, OUT),
        (CLWB, OUT),
        (SFENCE, 0),
    ];
    assert_eq!(left(Mode::WriteThrough, &ops).0, expected);
}

#[test]
fn a_fence_that_the_programs_own_non_temporal_stores_need_stays() {
    let ops = [
        (OpKind::NtStore, OUT),
        (OpKind::Store, IN),
        (CLWB, IN),
        (SFENCE, 0),
    ];
    let expected = [(OpKind::NtStore, OUT), (OpKind::Store, IN), (SFENCE, 0)];
    assert_eq!(left(Mode::WriteThrough, &ops).0, expected);
}

#[test]
fn fences_without_a_flush_are_the_programs_own() {
    let ops = [
        (OpKind::Store, IN),
        (FULL, 0),
        (OpKind::Load, OUT),
        (FULL, 0),
        (SFENCE, 0),
    ];
    for mode in Mode::ALL {
        let (kept, counts) = left(mode, &ops);
        assert_eq!(kept.len(), ops.len(), "{mode:?}");
        assert_eq!(counts.fences, 0);
    }
}

#[test]
fn a_clflush_without_a_fence_becomes_one_where_stores_gather() {
    let ops = [
        (OpKind::Store, IN),
        (CLFLUSH, IN),
        (OpKind::Load, OUT),
        (OpKind::Store, OUT),
    ];
    let expected = [
        (OpKind::Store, IN),
        (OpKind::Load, OUT),
        (FULL, 0),
        (OpKind::Store, OUT),
    ];
    assert_eq!(left(Mode::WriteCombining, &ops).0, expected);
    // A clwb is ordered by nothing but a fence that comes some time.
    let ops = [(OpKind::Store, IN), (CLWB, IN), (OpKind::Store, OUT)];
    assert_eq!(left(Mode::WriteCombining, &ops).0.len(), 2);
}

#[test]
fn an_atomic_is_the_fence_and_hand_offs_are_not_overtaken() {
    let ops = [
        (OpKind::Store, IN),
        (FULL, 0),
        (OpKind::HandOff, 1),
        (CLFLUSH, IN),
        (OpKind::Atomic, OUT),
        (SFENCE, 0),
    ];
    let expected = [
        (OpKind::Store, IN),
        (FULL, 0),
        (OpKind::HandOff, 1),
        (OpKind::Atomic, OUT),
        (SFENCE, 0),
    ];
    assert_eq!(left(Mode::WriteThrough, &ops).0, expected);
}

#[test]
fn a_range_that_nothing_touches_is_known() {
    let range = std::slice::from_ref(&(IN..IN + 0x1000));
    let other = std::slice::from_ref(&(OUT..OUT + 0x1000));
    let ranges = Ranges::new([range, other]).unwrap();
    let mut fitted = Fitted::new(ranges, vec![Mode::WriteThrough; 2], MemoryModel::Tso);
    fitted.ops(0, &[op(OpKind::Load, IN)], &mut Vec::new());
    assert_eq!(fitted.untouched(), Some(1));
    fitted.ops(0, &[op(OpKind::Store, OUT)], &mut Vec::new());
    assert_eq!(fitted.untouched(), None);
}
