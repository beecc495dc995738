//! What the source does in each way to skip the caches, and what it costs.

use prestore_sim::{Costs, Mechanism, Op, OpKind, PreStore, Rule, VirtualPrestores, Way};
use prestore_trace::FenceKind;
use proptest::prelude::*;

use super::{CLWB, OTHER, WRITER, arbitrary_op, op, store};

/// What `way` makes of `ops`, with these costs.
fn written(way: Way, ops: &[Op], costs: Costs) -> Vec<Op> {
    let rule = Rule {
        way,
        ..Rule::new(vec![WRITER], PreStore::Skip)
    };
    let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]).costs(costs);
    let mut out = Vec::new();
    mechanism.ops(0, ops, &mut out);
    mechanism.end(0, &mut out);
    out
}

/// Kinds, addresses (of buffers from their beginning) and sizes.
fn seen(ops: &[Op]) -> Vec<(OpKind, u64, u32)> {
    const BUFFERS: u64 = 0x7ff0_0000_0000;
    let near = |addr: u64| addr.checked_sub(BUFFERS).unwrap_or(addr);
    ops.iter().map(|o| (o.kind, near(o.addr), o.size)).collect()
}

use OpKind::{Load, NtStore, Store};

fn words(line: u64) -> Vec<Op> {
    let word = |i| op(i, Store, line + 8 * i, 8, WRITER);
    (0..8).map(word).collect()
}

#[test]
fn stores_in_place_become_non_temporal_one_by_one() {
    let mut ops = words(0x1000);
    ops.push(op(8, Store, 0x1040, 1, WRITER));
    let out = written(Way::InPlace, &ops, Costs::default());
    let kinds: Vec<OpKind> = out.iter().map(|o| o.kind).collect();
    let expected: Vec<OpKind> = [NtStore; 8].into_iter().chain([Store]).collect();
    assert_eq!(kinds, expected);
    assert!(
        (0..)
            .zip(&out)
            .all(|(i, o)| o.instr == i && o.addr == ops[i as usize].addr)
    );
}

/// In how many operations a string instruction comes does not change what the change costs.
#[test]
fn a_string_instruction_is_replaced_by_one_call() {
    let costs = Costs {
        copy: 45,
        copy_line: 2,
        ..Costs::default()
    };
    let last_of = |pieces: u64| {
        let bytes = 4096 / pieces;
        let piece = |i| op(0, Store, 0x10000 + i * bytes, bytes as u32, WRITER);
        let ops: Vec<Op> = (0..pieces)
            .map(piece)
            .chain([op(1, Load, 0, 8, OTHER)])
            .collect();
        let out = written(Way::Call, &ops, costs);
        out.last().map(|o| o.instr)
    };
    assert_eq!(last_of(1), Some(1 + 45 + 64 * 2));
    assert_eq!(last_of(16), last_of(1));
}

#[test]
fn what_has_no_non_temporal_form_is_counted() {
    let sizes = [1, 2, 4, 8, 16, 32, 64, 4096];
    let ops: Vec<Op> = (0..)
        .zip(sizes)
        .map(|(i, size)| op(i, Store, 0x10000 * i, size, WRITER))
        .collect();
    let rule = Rule {
        way: Way::InPlace,
        ..Rule::new(vec![WRITER], PreStore::Skip)
    };
    let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]);
    mechanism.ops(0, &ops, &mut Vec::new());
    assert_eq!(mechanism.not_in_place(), 3.0 / 8.0);
}

#[test]
fn the_writer_keeps_its_position_and_writes_whole_lines() {
    let mut ops = words(0x1000);
    ops.truncate(2);
    ops.extend([
        op(2, Store, 0x1010, 16, WRITER),
        op(3, Store, 0x1020, 32, WRITER),
    ]);
    let costs = Costs {
        put: 10,
        put_line: 100,
        ..Costs::default()
    };
    let out = written(Way::Writer, &ops, costs);
    let put = |at: u64, size: u32| [(Load, 128, 4), (Store, 128, 4), (Store, at, size)];
    let puts = [put(0, 8), put(8, 8), put(16, 16), put(32, 32)].concat();
    let line = [(Load, 0, 64), (NtStore, 0x1000, 64)];
    assert_eq!(seen(&out), [&puts[..], &line].concat());
    // What is put slowly: more than a word, or the end of a line.
    let instrs: Vec<u64> = out.iter().step_by(3).map(|o| o.instr).collect();
    assert_eq!(instrs, [10, 21, 122, 223, 223]);
}

#[test]
fn the_writer_writes_a_line_when_the_next_is_complete() {
    let ops: Vec<Op> = (0..3).flat_map(|line| words(0x1000 + 64 * line)).collect();
    let out = written(Way::Writer, &ops, Costs::default());
    let of_library = |o: &&(OpKind, u64, u32)| o.1 != 128;
    let seen: Vec<_> = seen(&out).iter().filter(of_library).copied().collect();
    let line = |half: u64| (0..8).map(move |i| (Store, half + 8 * i, 8));
    let mut expected: Vec<_> = line(0).chain(line(64)).collect();
    expected.extend([(Load, 0, 64), (NtStore, 0x1000, 64)]);
    expected.extend(line(0));
    expected.extend([(Load, 64, 64), (NtStore, 0x1040, 64)]);
    expected.extend([(Load, 0, 64), (NtStore, 0x1080, 64)]);
    assert_eq!(seen, expected);
}

#[test]
fn what_the_writer_has_of_a_line_in_the_end_is_stored() {
    let out = written(Way::Writer, &words(0x1000)[..2], Costs::default());
    let expected = [(Load, 0, 16), (Store, 0x1000, 16)];
    assert_eq!(seen(&out)[6..], expected);
}

#[test]
fn a_buffer_is_built_and_copied_at_the_fence() {
    let mut ops = words(0x1000);
    ops.extend(words(0x1040).into_iter().map(|o| Op {
        instr: o.instr + 8,
        ..o
    }));
    ops.push(op(16, Store, 0x1080, 8, WRITER));
    let fence = op(17, OpKind::Fence(FenceKind::Store), 0, 0, OTHER);
    ops.push(fence);
    let costs = Costs {
        buffer: 40,
        buffer_line: 4,
        ..Costs::default()
    };
    let out = written(Way::Buffer, &ops, costs);
    let built: Vec<_> = (0..17).map(|i| (Store, 8 * i, 8)).collect();
    let copied = [
        (Load, 0, 64),
        (NtStore, 0x1000, 64),
        (Load, 64, 64),
        (NtStore, 0x1040, 64),
        (Load, 128, 8),
        (Store, 0x1080, 8),
        (fence.kind, 0, 0),
    ];
    assert_eq!(seen(&out), [&built[..], &copied].concat());
    let instrs: Vec<u64> = out[16..].iter().map(|o| o.instr).collect();
    assert_eq!(instrs, [16, 61, 61, 65, 65, 69, 69, 69]);
}

#[test]
fn a_buffer_is_copied_before_its_data_is_loaded() {
    let mut ops = words(0x1000);
    ops.push(op(8, Load, 0x1000, 8, OTHER));
    let out = written(Way::Buffer, &ops, Costs::default());
    let expected = [(Load, 0, 64), (NtStore, 0x1000, 64), (Load, 0x1000, 8)];
    assert_eq!(seen(&out)[8..], expected);
}

#[test]
fn what_is_changed_in_place_is_gathered_whole() {
    // Each word is loaded before it is stored.
    let in_place = |op: Op| [Op { kind: Load, ..op }, op];
    let ops: Vec<_> = words(0x1000).into_iter().flat_map(in_place).collect();
    let out = written(Way::Buffer, &ops, Costs::default());
    let expected = [(Load, 0, 64), (NtStore, 0x1000, 64)];
    assert_eq!(seen(&out)[16..], expected);
}

#[test]
fn a_load_waits_for_the_same_load_whatever_the_change_loads() {
    // A list whose nodes' data is written to a buffer meanwhile.
    let node = |i: u64| Op {
        after: 1,
        ..op(16 * i, Load, 0x8000 + 4096 * i, 8, OTHER)
    };
    let ops: Vec<_> = (0..20)
        .flat_map(|i| [vec![node(i)], words(0x1000 + 64 * i)].concat())
        .collect();
    for way in [Way::Writer, Way::Buffer] {
        let out = written(way, &ops, Costs::default());
        let loads: Vec<_> = out.iter().filter(|op| op.kind == Load).collect();
        assert!(loads.len() > 20);
        let before = |at: usize| loads[at - usize::from(loads[at].after)];
        let chain = (1..loads.len()).filter(|&at| loads[at].site == OTHER);
        for at in chain {
            assert_eq!(before(at).addr + 4096, loads[at].addr, "{way:?}");
        }
        let added = loads.iter().filter(|op| op.site != OTHER);
        assert!(added.into_iter().all(|op| op.after == 0), "{way:?}");
    }
}

#[test]
fn a_call_costs_its_instructions_and_those_of_each_line() {
    let costs = Costs {
        call: 9,
        line: 4,
        ..Costs::default()
    };
    let mut ops: Vec<_> = (0..4).map(|i| store(i, 0x1000 + 32 * i)).collect();
    ops.push(op(4, OpKind::Atomic, 0, 8, OTHER));
    let mut mechanism =
        VirtualPrestores::new("advised", 64, &[Rule::new(vec![WRITER], PreStore::Clean)])
            .costs(costs);
    let mut out = Vec::new();
    mechanism.ops(0, &ops, &mut out);
    let instrs: Vec<(OpKind, u64)> = out.iter().map(|o| (o.kind, o.instr)).collect();
    let expected = [
        (Store, 0),
        (Store, 1),
        (CLWB, 14),
        (Store, 15),
        (Store, 16),
        (CLWB, 29),
        (OpKind::Atomic, 30),
    ];
    assert_eq!(instrs, expected);
}

proptest! {
    /// However it is written, each byte that the program stores there is written in the end, behind its store.
    #[test]
    fn every_way_writes_what_was_stored(
        ops in prop::collection::vec(arbitrary_op(), 0..1500),
        way in prop::sample::select(vec![Way::InPlace, Way::Writer, Way::Buffer, Way::CopyCall]),
        chunk in 1usize..400,
    ) {
        let rule = Rule { way, ..Rule::new(vec![WRITER], PreStore::Skip) };
        let mut mechanism = VirtualPrestores::new("advised", 64, &[rule]);
        let mut out = Vec::new();
        for part in ops.chunks(chunk) {
            mechanism.ops(0, part, &mut out);
        }
        mechanism.end(0, &mut out);
        let bytes = |ops: &[Op]| -> std::collections::BTreeSet<u64> {
            ops.iter()
                .filter(|o| o.site == WRITER && matches!(o.kind, Store | NtStore) && o.addr < 0x10000)
                .flat_map(|o| o.addr..o.addr + u64::from(o.size))
                .collect()
        };
        prop_assert_eq!(bytes(&out), bytes(&ops));
        let others = |ops: &[Op]| -> Vec<Op> {
            ops.iter().filter(|o| o.site == OTHER).copied().collect()
        };
        prop_assert_eq!(others(&out), others(&ops));
    }
}
