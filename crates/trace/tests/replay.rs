//! Words become the events that the block descriptions say.
#![allow(clippy::unwrap_used)] // helpers of tests, too

mod common;

use common::{block, block_frame, frame, module_frame, plain, process_frame};
use prestore_trace::block::{
    Block, BlockEnd, BlockTable, Direction, MaskForm, MetaError, ModuleLoad, NO_SLOT, Ref, RefMode,
    XsaveComponent, meta,
};
use prestore_trace::record::{Special, header};
use prestore_trace::replay::{CallStack, CallTree, ExecSink, NodeId, Replayer, Row, each_touch};
use prestore_trace::{EventKind, SiteId, SiteTable};

fn touches(mode: RefMode, size: u32, values: &[u64]) -> Vec<(u64, u64)> {
    let xsave = [(0, 0), (0, 0), (576, 256), (1088, 64)];
    let xsave = xsave.map(|(offset, size)| XsaveComponent { offset, size });
    let r = Ref {
        mode,
        size,
        ..plain(EventKind::Store, 0, 0, 16)
    };
    let mut out = Vec::new();
    each_touch(&xsave, &r, values, |addr, bytes| out.push((addr, bytes)));
    out
}

#[test]
fn a_plain_reference_touches_base_plus_displacement() {
    assert_eq!(touches(RefMode::Plain, 8, &[0x1000]), [(0x1010, 8)]);
    let fixed = Ref {
        slot: NO_SLOT,
        ..plain(EventKind::Load, 0, 0, 0x40)
    };
    let mut out = Vec::new();
    each_touch(&[], &fixed, &[1], |addr, bytes| out.push((addr, bytes)));
    assert_eq!(out, [(0x40, 8)]);
}

#[test]
fn repeated_references_touch_one_stretch() {
    let rep = |direction| RefMode::Rep {
        count: 1,
        direction,
    };
    let (up, down, by_flags) = (Direction::Up, Direction::Down, Direction::ByFlags(2));
    assert_eq!(touches(rep(up), 4, &[0x1000, 3]), [(0x1010, 12)]);
    assert_eq!(touches(rep(down), 4, &[0x1000, 3]), [(0x1008, 12)]);
    assert_eq!(touches(rep(up), 4, &[0x1000, 0]), []);
    assert_eq!(
        touches(rep(by_flags), 4, &[0x1000, 3, 0x246]),
        [(0x1010, 12)]
    );
    assert_eq!(
        touches(rep(by_flags), 4, &[0x1000, 3, 0x646]),
        [(0x1008, 12)]
    );
    let until = RefMode::RepUntil {
        count: 1,
        left: 2,
        direction: Direction::Up,
    };
    assert_eq!(touches(until, 1, &[0x1000, 10, 6]), [(0x1010, 4)]);
}

#[test]
fn bits_lie_as_far_away_as_their_signed_number_says() {
    let bit = RefMode::Bit { number: 1 };
    assert_eq!(touches(bit, 8, &[0x1000, 63]), [(0x1010, 8)]);
    assert_eq!(touches(bit, 8, &[0x1000, 64]), [(0x1018, 8)]);
    let minus_one = u64::MAX;
    assert_eq!(touches(bit, 4, &[0x1000, minus_one]), [(0x100c, 4)]);
    assert_eq!(touches(bit, 2, &[0x1000, 0xffff]), [(0x100e, 2)]);
}

#[test]
fn masked_references_touch_runs_of_set_lanes() {
    let bits = RefMode::Masked {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 8,
    };
    let values = [0x1000, 0b1_1011_0011];
    assert_eq!(
        touches(bits, 8, &values),
        [(0x1010, 16), (0x1030, 16), (0x1048, 8)]
    );
    assert_eq!(touches(bits, 8, &[0x1000, 0]), []);
    let tops = RefMode::Masked {
        mask: 1,
        form: MaskForm::TopBits(4),
        lanes: 4,
    };
    let values = [0, 0x8000_0000_7fff_ffff, 0x8000_0000_8000_0000];
    assert_eq!(touches(tops, 4, &values), [(0x14, 12)]);
}

#[test]
fn scattered_references_touch_each_set_lane() {
    let scatter = RefMode::Indexed {
        mask: 1,
        form: MaskForm::Bits,
        lanes: 4,
        index: 2,
        index_size: 4,
        scale: 8,
    };
    let index = |low: i32, high: i32| u64::from(low as u32) | u64::from(high as u32) << 32;
    let values = [0x1000, 0b1011, index(1, -1), index(9, 4)];
    assert_eq!(
        touches(scatter, 8, &values),
        [(0x1018, 8), (0x1008, 8), (0x1030, 8)]
    );
}

#[test]
fn packed_references_touch_as_many_elements_as_bits() {
    let packed = RefMode::Packed { mask: 1, lanes: 8 };
    assert_eq!(touches(packed, 4, &[0, 0xff05]), [(16, 8)]);
}

#[test]
fn xsave_touches_up_to_the_last_requested_component() {
    let xsave = |compacted| RefMode::Xsave {
        features: 1,
        compacted,
    };
    assert_eq!(touches(xsave(false), 4096, &[0, 0b0011]), [(16, 576)]);
    assert_eq!(touches(xsave(false), 4096, &[0, 0b1011]), [(16, 1152)]);
    assert_eq!(touches(xsave(true), 4096, &[0, 0b1011]), [(16, 640)]);
}

#[test]
fn tiles_touch_the_rows_that_their_configuration_has() {
    // Palette 1; tile 2 of 3 rows of 12 bytes.
    let config = |start_row: u64| [1 | start_row << 8, 0, 12 << 32, 0, 0, 0, 3 << 16, 0];
    let tile = |stride| RefMode::Tile {
        config: 2,
        tile: 2,
        stride,
        scale: 4,
    };
    let values = |stride: i64, start_row| {
        let mut values = vec![0x1000, stride as u64];
        values.extend(config(start_row));
        values
    };
    assert_eq!(
        touches(tile(1), 64, &values(16, 0)),
        [(0x1010, 12), (0x1050, 12), (0x1090, 12)]
    );
    assert_eq!(
        touches(tile(1), 64, &values(-16, 1)),
        [(0xfd0, 12), (0xf90, 12)]
    );
    // Without gaps, they are one stretch.
    assert_eq!(touches(tile(1), 64, &values(3, 0)), [(0x1010, 36)]);
    assert_eq!(touches(tile(1), 64, &values(3, 2)), [(0x1028, 12)]);
    assert_eq!(touches(tile(NO_SLOT), 64, &values(9, 2)), [(0x1010, 12)]);
    assert_eq!(touches(tile(1), 64, &values(3, 3)), []);
    // Of another tile there are none.
    let none = RefMode::Tile {
        config: 2,
        tile: 1,
        stride: 1,
        scale: 4,
    };
    assert_eq!(touches(none, 64, &values(16, 0)), []);
}

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

#[test]
fn contexts_follow_calls_and_returns() {
    let at = |id: u32, end, next_pc, site| Block {
        end,
        next_pc,
        last_site: SiteId(site),
        ..block(id, 0, vec![])
    };
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
fn a_block_log_may_come_in_any_parts() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[1, 2]));
    log.extend(block_frame(64, 1, 0x1100, &[(1, 0), (0, 0)]));
    log.extend(frame(99, vec![1, 2, 3]));
    let whole = log.len();
    let mut sites = SiteTable::default();
    let mut table = BlockTable::default();
    let mut waiting = Vec::new();
    for byte in &log {
        waiting.push(*byte);
        let n = table.feed(&waiting, &mut sites).unwrap();
        waiting.drain(..n);
    }
    assert_eq!(table.consumed(), whole as u64);
    assert_eq!((table.process().pid, table.process().parent), (7, 3));
    assert_eq!(table.process().inherited, 0);
    let b = table.get(64).unwrap();
    assert_eq!((b.instrs, b.words, b.refs.len()), (3, 1, 2));
    let site = sites.get(b.refs[1].site).unwrap();
    assert_eq!(
        (
            site.offset,
            sites.module(site.module).unwrap().build_id.as_str()
        ),
        (0x104, "0102")
    );
}

#[test]
fn code_outside_modules_and_after_an_unload_is_jit() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[]));
    let (mut sites, mut table) = (SiteTable::default(), BlockTable::default());
    table.feed(&log, &mut sites).unwrap();
    let module = |table: &BlockTable, sites: &mut SiteTable, pc| {
        let site = table.site_of(pc, sites);
        let module = sites.get(site).unwrap().module;
        sites.module(module).unwrap().path.clone()
    };
    assert_eq!(module(&table, &mut sites, 0x1fff), "/lib/a.so");
    assert_eq!(module(&table, &mut sites, 0x2000), "[jit:7]");
    table
        .feed(
            &frame(meta::UNLOAD, 0x1000u64.to_le_bytes().to_vec()),
            &mut sites,
        )
        .unwrap();
    assert_eq!(module(&table, &mut sites, 0x1fff), "[jit:7]");
}

#[test]
fn values_beyond_the_block_are_refused() {
    let mut table = BlockTable::default();
    let mut log = process_frame(7, 3, 0);
    let at = log.len() as u64;
    log.extend(block_frame(64, 1, 0x1100, &[(1, 1)]));
    let error = table.feed(&log, &mut SiteTable::default()).unwrap_err();
    let MetaError::Malformed {
        at: found, kind, ..
    } = error;
    assert_eq!((found, kind), (at, meta::BLOCK));
}

#[test]
fn modules_are_found_without_a_table() {
    let mut log = process_frame(7, 3, 0);
    log.extend(module_frame(0x1000, 0x2000, "/lib/a.so", &[0xcd]));
    let whole = log.len();
    log.extend(&module_frame(0, 1, "/cut", &[])[..20]);
    let (modules, consumed) = ModuleLoad::all_in(&log);
    assert_eq!(consumed, whole);
    assert_eq!(modules.len(), 1);
    assert_eq!(
        (modules[0].path.as_str(), modules[0].build_id.as_str()),
        ("/lib/a.so", "cd")
    );
}

#[test]
fn mapped_files_are_known_by_number() {
    let mut log = process_frame(1, 0, 0);
    for (number, path) in [(1u64, "/mnt/pool"), (7, "")] {
        let mut payload = number.to_le_bytes().to_vec();
        payload.extend((path.len() as u32).to_le_bytes());
        payload.extend([0; 4]);
        payload.extend(path.as_bytes());
        log.extend(frame(meta::FILE, payload));
    }
    let mut table = BlockTable::default();
    table.feed(&log, &mut SiteTable::default()).unwrap();
    assert_eq!(table.mapped_file(1).map(|p| &**p), Some("/mnt/pool"));
    assert_eq!(table.mapped_file(7).map(|p| &**p), Some(""));
    assert_eq!(table.mapped_file(2), None);
    // A length beyond the frame.
    let mut short = 1u64.to_le_bytes().to_vec();
    short.extend([9, 0, 0, 0, 0, 0, 0, 0]);
    let torn = frame(meta::FILE, short);
    let error = BlockTable::default().feed(&torn, &mut SiteTable::default());
    assert!(error.unwrap_err().to_string().contains("too short"));
}

#[test]
fn mappings_are_read_back_as_they_were_written() {
    for writable in [true, false] {
        for special in [
            Special::Mapped {
                addr: 0x7000,
                size: 4096,
                offset: 8192,
                file: 3,
                writable,
            },
            Special::Synced {
                addr: 0x7000,
                size: 4096,
            },
        ] {
            let mut words = Vec::new();
            special.write(&mut words);
            assert_eq!((words[0] >> 32) as usize, words.len() - 1);
            assert_eq!(Special::parse(words[0] as u32, &words[1..]), special);
        }
    }
}
