//! Words become the executions and calls that the block descriptions say.
#![allow(clippy::unwrap_used)] // helpers of tests, too

mod common;

use common::{block, plain};
use prestore_trace::block::{Block, BlockEnd, BlockTable};
use prestore_trace::record::{Special, header};
use prestore_trace::replay::{CallStack, CallTree, ExecSink, NodeId, Replayer, Row};
use prestore_trace::{EventKind, SiteId};

#[derive(Default)]
struct Log(Vec<String>);

impl ExecSink for Log {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        self.0
            .push(format!("{before}: {} {values:?} {executed}", block.id));
    }
    fn special(&mut self, before: u64, special: Special) {
        self.0.push(format!("{before}: {special:?}"));
    }
}

#[test]
fn instructions_are_counted_over_blocks_cuts_and_skips() {
    let mut table = BlockTable::default();
    table.put(block(70, 1, vec![plain(EventKind::Store, 0, 0, 0); 3]));
    let start = 70 * 0x100;
    let words = [
        vec![header(70, 0), 7],
        vec![header(70, 0), 8, header(1, 1), start + 8],
        vec![header(4, 1), 100],
        vec![header(60, 2), 1, 2],
        vec![header(70, 0), 9, 0, header(70, 0)],
    ];
    let mut log = Log::default();
    let mut replayer = Replayer::starting_at(1000);
    assert_eq!(replayer.replay(&words.concat(), &table, &mut log), Ok(13));
    let expected = [
        "1000: 70 [7] 4",
        "1004: 70 [8] 2",
        "1006: Skip { instrs: 100 }",
        "1106: Unknown { id: 60 }",
        "1106: 70 [9] 4",
    ];
    assert_eq!(log.0, expected);
    assert_eq!(replayer.instrs(), 1110);
}

/// As [`Log`], of a sink that takes executions in rows.
#[derive(Default)]
struct RowLog {
    log: Log,
    rows: Vec<usize>,
}

impl ExecSink for RowLog {
    const IN_ROWS: bool = true;

    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        self.log.exec(before, block, values, executed);
    }
    fn row(&mut self, before: u64, block: &Block, row: Row<'_>) {
        self.rows.push(row.executions().len());
        for (values, n) in row.executions().zip(0..) {
            self.log.exec(before + n * 4, block, values, 4);
        }
    }
    fn special(&mut self, before: u64, special: Special) {
        self.log.special(before, special);
    }
}

#[test]
fn rows_are_the_executions_one_by_one_however_they_end() {
    let mut table = BlockTable::default();
    table.put(block(70, 1, vec![plain(EventKind::Store, 0, 0, 0); 3]));
    table.put(block(71, 0, vec![plain(EventKind::Store, 0, 0, 0); 3]));
    let start = 70 * 0x100;
    let (once, empty) = (|value| vec![header(70, 0), value], header(71, 0));
    let three = [once(1), once(2), once(3)].concat();
    let ends = [
        (vec![], vec![2]),
        (vec![header(1, 1), start + 8], vec![2]),
        (vec![header(4, 1), 100], vec![2]),
        (vec![empty, empty, empty], vec![2, 2]),
        (vec![header(70, 0)], vec![2]),
        (vec![0, header(70, 0), 5], vec![2]),
    ];
    for (end, rows) in ends {
        let words = [three.clone(), end].concat();
        let (mut one_by_one, mut in_rows) = (Log::default(), RowLog::default());
        let mut replayers = (Replayer::default(), Replayer::default());
        let taken = replayers.0.replay(&words, &table, &mut one_by_one);
        assert_eq!(replayers.1.replay(&words, &table, &mut in_rows), taken);
        assert_eq!(in_rows.log.0, one_by_one.0);
        assert_eq!(replayers.0.instrs(), replayers.1.instrs());
        assert_eq!(in_rows.rows, rows);
    }
}

#[test]
fn a_torn_cut_does_not_take_the_words_behind_it() {
    let mut table = BlockTable::default();
    table.put(block(70, 0, vec![]));
    let mut log = Log::default();
    let words = [header(70, 0), header(1, 1)];
    assert_eq!(Replayer::default().replay(&words, &table, &mut log), Ok(1));
    assert_eq!(log.0, ["0: 70 [] 1"]);
}

/// A block that ends with this, `next_pc` behind it.
fn at(id: u32, end: BlockEnd, next_pc: u64, site: u32) -> Block {
    Block {
        end,
        next_pc,
        last_site: SiteId(site),
        ..block(id, 0, vec![])
    }
}

#[test]
fn contexts_follow_calls_and_returns() {
    let main = at(64, BlockEnd::Call, 65 * 0x100, 1);
    let after = block(65, 0, vec![]);
    let leaf = at(66, BlockEnd::Ret, 0, 2);
    let (mut tree, mut stack) = (CallTree::default(), CallStack::default());
    let mut nodes = Vec::new();
    for b in [&main, &leaf, &after, &main, &leaf, &after, &leaf, &main] {
        stack.enter(b, &mut tree);
        nodes.push(stack.node());
    }
    let (root, call) = (NodeId::ROOT, NodeId(1));
    assert_eq!(nodes, [root, call, root, root, call, root, root, root]);
    assert_eq!(tree.chain(call).collect::<Vec<_>>(), [SiteId(1)]);
    assert_eq!(tree.len(), 2, "the same call is the same context");
}

/// The frames of a parser stayed below those of what was executed after it.
#[test]
fn calls_before_something_was_left_out_are_there_once_it_returns_to_them() {
    let main = at(64, BlockEnd::Call, 65 * 0x100, 1);
    let outer = at(66, BlockEnd::Call, 67 * 0x100, 2);
    let other = at(68, BlockEnd::Call, 69 * 0x100, 3);
    let leaf = at(70, BlockEnd::Ret, 0, 4);
    let (in_outer, in_other) = (block(67, 0, vec![]), block(69, 0, vec![]));
    let (mut tree, mut stack) = (CallTree::default(), CallStack::default());
    let mut chain = |blocks: &[&Block], left_out: bool| -> Vec<u32> {
        blocks.iter().for_each(|b| stack.enter(b, &mut tree));
        if left_out {
            stack.leaves_out();
        }
        tree.chain(stack.node()).map(|site| site.0).collect()
    };
    assert_eq!(chain(&[&main, &outer, &leaf], false), [2, 1]);
    assert!(chain(&[], true).is_empty());
    // Called by who knows whom; and it returns to what was not there before.
    assert_eq!(chain(&[&other, &leaf], false), [3]);
    assert!(chain(&[&in_other, &leaf], true).is_empty());
    // Left out again, in no call; then it returns to where it was called before.
    assert_eq!(chain(&[&leaf, &in_outer], false), [1]);
}

/// Calls itself from four places, so deep: the functions that divide a picture, a grid or a tree do.
fn divide(tree: &mut CallTree, node: NodeId, depth: u32) {
    for call in 10..14 {
        let inner = tree.child(node, SiteId(call));
        assert_eq!(tree.call_site(inner), Some(SiteId(call)));
        if depth > 0 {
            divide(tree, inner, depth - 1);
        }
    }
}

#[test]
fn recursion_makes_no_new_contexts() {
    let mut tree = CallTree::default();
    let main = tree.child(NodeId::ROOT, SiteId(1));
    divide(&mut tree, main, 9);
    // Every order of up to four different calls, and the two above them.
    assert_eq!(tree.len(), 2 + 4 + 12 + 24 + 24);
    // A call from within is where it is, also below recursion.
    let mut node = main;
    for call in [10, 11, 10, 10, 11, 20] {
        node = tree.child(node, SiteId(call));
    }
    let chain: Vec<u32> = tree.chain(node).map(|site| site.0).collect();
    assert_eq!(chain, [20, 11, 10, 1]);
}

#[test]
fn a_return_past_frames_drops_them() {
    let call = |id: u32, next_pc| Block {
        end: BlockEnd::Call,
        next_pc,
        last_site: SiteId(id),
        ..block(id, 0, vec![])
    };
    let ret = Block {
        end: BlockEnd::Ret,
        ..block(70, 0, vec![])
    };
    let (mut tree, mut stack) = (CallTree::default(), CallStack::default());
    let landing = block(80, 0, vec![]);
    for b in [
        &call(64, 80 * 0x100),
        &call(65, 1),
        &call(66, 2),
        &ret,
        &landing,
    ] {
        stack.enter(b, &mut tree);
    }
    assert_eq!(
        stack.node(),
        NodeId::ROOT,
        "longjmp to where the first call returns to"
    );
}

#[test]
fn what_a_call_through_a_register_led_to_is_kept() {
    let call = |code: &[u8]| Block {
        end: BlockEnd::Call,
        next_pc: 65 * 0x100,
        last_site: SiteId(1),
        lengths: [3, code.len() as u8].into(),
        code: [&[0x48, 0x89, 0xd0], code].concat().into(),
        ..block(64, 0, vec![])
    };
    let (direct, indirect) = (call(&[0xe8, 0, 0, 0, 0]), call(&[0x41, 0xff, 0xd3]));
    let called = |id: u32| Block {
        end: BlockEnd::Ret,
        start_site: SiteId(id),
        ..block(id, 0, vec![])
    };
    let after = block(65, 0, vec![]);
    let (mut tree, mut stack) = (CallTree::default(), CallStack::default());
    let mut callers = |call: &Block, to: u32| -> Vec<u32> {
        stack.enter(call, &mut tree);
        stack.enter(&called(to), &mut tree);
        let all = tree.callers(stack.node()).map(|site| site.0).collect();
        stack.enter(&after, &mut tree);
        all
    };
    assert_eq!(callers(&direct, 70), [1]);
    assert_eq!(callers(&indirect, 71), [71, 1]);
    assert_eq!(callers(&indirect, 72), [72, 1]);
    assert_eq!(callers(&indirect, 71), [71, 1]);
    assert_eq!(tree.len(), 4);
}
