//! Virtual pre-stores stand where a `prestore()` after the writing loop would act.

mod ways;

use prestore_sim::{Mechanism, Op, OpKind, PreStore, REACH, Rule, VirtualPrestores};
use prestore_trace::{DemoteKind, FenceKind, FlushKind, SiteId};
use proptest::prelude::*;

const WRITER: SiteId = SiteId(7);
const OTHER: SiteId = SiteId(8);

pub(crate) fn op(instr: u64, kind: OpKind, addr: u64, size: u32, site: SiteId) -> Op {
    Op {
        instr,
        addr,
        size,
        site,
        kind,
        after: 0,
    }
}

pub(crate) fn store(instr: u64, addr: u64) -> Op {
    op(instr, OpKind::Store, addr, 32, WRITER)
}

pub(crate) fn load(instr: u64) -> Op {
    op(instr, OpKind::Load, 0x9000, 8, OTHER)
}

fn apply(prestore: PreStore, ops: &[Op], chunk: usize) -> Vec<Op> {
    let rule = Rule::new(vec![WRITER], prestore);
    let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]);
    let mut out = Vec::new();
    for part in ops.chunks(chunk) {
        mechanism.ops(0, part, &mut out);
    }
    mechanism.end(0, &mut out);
    out
}

/// Each pre-store with the index of the program's operation that it stands behind.
fn placed(out: &[Op]) -> Vec<(usize, OpKind, u64)> {
    let mut before = 0;
    let mut found = Vec::new();
    for o in out {
        match o.kind {
            OpKind::Flush(_) | OpKind::Demote(_) => found.push((before - 1, o.kind, o.addr)),
            _ => before += 1,
        }
    }
    found
}

const CLWB: OpKind = OpKind::Flush(FlushKind::Clwb);

#[test]
fn a_line_is_cleaned_behind_its_last_store() {
    let ops: Vec<_> = (0..8).map(|i| store(i, 0x1000 + 32 * i)).collect();
    let out = apply(PreStore::Clean, &ops, 100);
    assert_eq!(
        placed(&out),
        [
            (1, CLWB, 0x1000),
            (3, CLWB, 0x1040),
            (5, CLWB, 0x1080),
            (7, CLWB, 0x10c0)
        ]
    );
}

#[test]
fn a_line_stored_to_again_soon_is_cleaned_once() {
    let ops = [store(0, 0x1000), store(1, 0x1040), store(2, 0x1000)];
    let out = apply(PreStore::Clean, &ops, 100);
    assert_eq!(placed(&out), [(2, CLWB, 0x1000), (2, CLWB, 0x1040)]);
}

/// As `memcpy` of the C library does: the first part last.
#[test]
fn neighbours_are_cleaned_in_the_order_of_their_addresses() {
    let parts = [1, 2, 3, 0];
    let ops: Vec<_> = (0..)
        .zip(parts)
        .map(|(i, part)| op(i, OpKind::Store, 0x1000 + 64 * part, 64, WRITER))
        .collect();
    let out = apply(PreStore::Clean, &ops, 100);
    let expected = [0x1000, 0x1040, 0x1080, 0x10c0].map(|line| (3, CLWB, line));
    assert_eq!(placed(&out), expected);
}

#[test]
fn what_another_instruction_writes_once_more_is_the_same_run() {
    let again = op(1, OpKind::Store, 0x1000, 64, SiteId(9));
    let first = op(0, OpKind::Store, 0x1000, 64, WRITER);
    let rule = Rule::new(vec![WRITER, SiteId(9)], PreStore::Clean);
    let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]);
    let mut out = Vec::new();
    mechanism.ops(0, &[first, again, first], &mut out);
    mechanism.end(0, &mut out);
    assert_eq!(placed(&out), [(1, CLWB, 0x1000), (2, CLWB, 0x1000)]);
}

#[test]
fn a_line_written_whole_and_again_is_cleaned_each_time() {
    let halves = [0x1000, 0x1020, 0x1000, 0x1020, 0x1000];
    let ops: Vec<_> = (0..).zip(halves).map(|(i, at)| store(i, at)).collect();
    let out = apply(PreStore::Clean, &ops, 100);
    assert_eq!(
        placed(&out),
        [(1, CLWB, 0x1000), (3, CLWB, 0x1000), (4, CLWB, 0x1000)]
    );
}

#[test]
fn a_line_stored_to_again_late_is_cleaned_each_time() {
    let mut ops = vec![store(0, 0x1000)];
    ops.extend((0..=REACH as u64).map(load));
    ops.push(store(1000, 0x1000));
    let again = ops.len() - 1;
    let out = apply(PreStore::Clean, &ops, 100);
    assert_eq!(placed(&out), [(0, CLWB, 0x1000), (again, CLWB, 0x1000)]);
}

#[test]
fn a_fence_ends_a_run() {
    let fence = op(1, OpKind::Fence(FenceKind::Store), 0, 0, OTHER);
    let ops = [store(0, 0x1000), fence, store(2, 0x1000)];
    let out = apply(PreStore::Demote, &ops, 100);
    let demote = OpKind::Demote(DemoteKind::Cldemote);
    assert_eq!(placed(&out), [(0, demote, 0x1000), (2, demote, 0x1000)]);
}

#[test]
fn a_store_across_two_lines_cleans_both() {
    let ops = [store(0, 0x1030)];
    let out = apply(PreStore::Clean, &ops, 100);
    assert_eq!(placed(&out), [(0, CLWB, 0x1000), (0, CLWB, 0x1040)]);
}

#[test]
fn skipped_stores_become_non_temporal_and_others_stay() {
    let other = op(1, OpKind::Store, 0x2000, 8, OTHER);
    let out = apply(PreStore::Skip, &[store(0, 0x1000), other], 100);
    let expected = op(0, OpKind::NtStore, 0x1000, 32, WRITER);
    assert_eq!(out, [expected, other]);
}

#[test]
fn skipped_stores_gather_to_lines_in_the_order_of_addresses() {
    let parts = [2, 3, 2, 3, 0, 1];
    let ops: Vec<_> = (0..)
        .zip(parts)
        .map(|(i, part)| store(i, 0x1000 + 32 * part))
        .collect();
    // Written whole by the instruction that writes it once more: twice.
    let whole = |instr, addr| op(instr, OpKind::NtStore, addr, 64, WRITER);
    let out = apply(PreStore::Skip, &ops, 100);
    assert_eq!(out, [whole(1, 0x1040), whole(5, 0x1000), whole(5, 0x1040)]);
}

#[test]
fn a_load_of_what_was_gathered_makes_it_go() {
    let load = op(1, OpKind::Load, 0x1000, 8, OTHER);
    let ops = [store(0, 0x1000), load, store(2, 0x1020)];
    let out = apply(PreStore::Skip, &ops, 100);
    let part = |instr, addr| op(instr, OpKind::NtStore, addr, 32, WRITER);
    assert_eq!(out, [part(0, 0x1000), load, part(2, 0x1020)]);
}

#[test]
fn a_load_of_the_lines_other_bytes_lets_it_gather() {
    let load = op(1, OpKind::Load, 0x1020, 8, OTHER);
    let ops = [store(0, 0x1000), load, store(2, 0x1020)];
    let out = apply(PreStore::Skip, &ops, 100);
    assert_eq!(out, [load, op(2, OpKind::NtStore, 0x1000, 64, WRITER)]);
}

#[test]
fn nothing_before_a_hand_off_is_held_back() {
    let hand_off = op(1, OpKind::HandOff, 1, 0, OTHER);
    let rule = Rule::new(vec![WRITER], PreStore::Clean);
    let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]);
    let mut out = Vec::new();
    mechanism.ops(0, &[store(0, 0x1000), hand_off], &mut out);
    assert_eq!(out.len(), 3);
    assert_eq!(out[2], hand_off);
}

fn arbitrary_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0u64..64, 1u32..100, any::<bool>()).prop_map(|(slot, size, writer)| op(
            0,
            OpKind::Store,
            slot * 24,
            size,
            if writer { WRITER } else { OTHER }
        )),
        4 => Just(load(0)),
        1 => Just(op(0, OpKind::Atomic, 0, 8, OTHER)),
    ]
}

proptest! {
    #[test]
    fn batches_do_not_matter(
        ops in prop::collection::vec(arbitrary_op(), 0..1500),
        chunk in 1usize..400,
        prestore in prop::sample::select(vec![PreStore::Clean, PreStore::Demote, PreStore::Skip]),
    ) {
        prop_assert_eq!(apply(prestore, &ops, chunk), apply(prestore, &ops, ops.len().max(1)));
    }

    #[test]
    fn the_program_stays_and_every_line_written_is_left_once_at_least(
        ops in prop::collection::vec(arbitrary_op(), 0..1500),
    ) {
        let out = apply(PreStore::Clean, &ops, 64);
        let kept: Vec<_> = out.iter().filter(|o| o.kind != CLWB).copied().collect();
        prop_assert_eq!(&kept, &ops);
        for line in 0..40u64 {
            let last_store = out.iter().rposition(|o| {
                o.site == WRITER
                    && o.kind == OpKind::Store
                    && o.addr / 64 <= line
                    && (o.addr + u64::from(o.size) - 1) / 64 >= line
            });
            let last_clean = out.iter().rposition(|o| o.kind == CLWB && o.addr / 64 == line);
            prop_assert!(last_store <= last_clean, "line {line}: {last_store:?} {last_clean:?}");
            prop_assert_eq!(last_store.is_some(), last_clean.is_some());
        }
    }
}
