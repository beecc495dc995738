//! Scope `functions`: what is kept, and that nothing of the rest is forgotten.
#![allow(clippy::expect_used, clippy::unwrap_used)] // tests

mod common;

use common::{block_frame, module_frame, process_frame};
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::filter::{Choice, ScopeFilter, ScopeOracle};
use prestore_trace::record::{Special, header, id};
use prestore_trace::replay::{EventContext, ExecSink, Replayer, for_each_event};
use prestore_trace::{Event, EventKind, ProcessId, SiteId, SiteTable, ThreadId};

const LOAD: u8 = 0;
const STORE: u8 = 1;
const SFENCE: u8 = 12;
/// Blocks: the chosen writer, a reader, a fence, and one that is chosen from its second instruction on.
const WRITER: u32 = 100;
const READER: u32 = 101;
const FENCE: u32 = 102;
const HALF: u32 = 103;
const CODE: u64 = 0x1000;

struct ByAddress;

impl ScopeOracle for ByAddress {
    fn choose(&mut self, site: SiteId, sites: &SiteTable) -> Choice {
        let offset = sites.get(site).map_or(0, |s| s.offset);
        if offset < 0x10 || (0x304..0x400).contains(&offset) {
            Choice::Chosen
        } else {
            Choice::Other
        }
    }
}

fn log() -> Vec<u8> {
    [
        process_frame(1, 0, 0),
        module_frame(CODE, CODE + 0x1000, "/bin/made-up", &[]),
        block_frame(WRITER, 1, CODE, &[(STORE, 0)]),
        block_frame(READER, 2, CODE + 0x100, &[(LOAD, 0), (LOAD, 1)]),
        block_frame(FENCE, 0, CODE + 0x200, &[(SFENCE, 0xffff)]),
        block_frame(HALF, 3, CODE + 0x300, &[(STORE, 0), (STORE, 1), (LOAD, 2)]),
    ]
    .concat()
}

#[derive(Default)]
struct Seen {
    events: Vec<(u64, EventKind, u64)>,
    instrs: u64,
}

struct Collect<'a>(&'a mut Seen, &'a BlockTable);

impl ExecSink for Collect<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        let context = EventContext {
            thread: ThreadId(0),
            xsave: self.1.xsave(),
        };
        let seen = &mut *self.0;
        for_each_event(
            context,
            before,
            block,
            values,
            executed,
            &mut |e: &Event<'_>| {
                seen.events.push((e.instr, e.kind, e.addr));
            },
        );
    }

    fn special(&mut self, _before: u64, _special: Special) {}
}

fn replay(words: &[u64], table: &BlockTable) -> Seen {
    let mut seen = Seen::default();
    let mut replayer = Replayer::default();
    let taken = replayer.replay(words, table, &mut Collect(&mut seen, table));
    assert_eq!(taken.expect("replayable"), words.len());
    seen.instrs = replayer.instrs();
    seen
}

/// Filters `words`, stores frames as a reader would see them, and replays the result.
fn filtered(words: &[u64]) -> Seen {
    let mut sites = SiteTable::default();
    let mut table = BlockTable::default();
    table.feed(&log(), &mut sites).expect("well-formed");
    let mut filter = ScopeFilter::new(ByAddress);
    let process = ProcessId(0);
    let mut stored = filter.meta(process, None, &log()).to_vec();
    let kept = filter
        .words(process, ThreadId(0), words, &table, &mut sites)
        .expect("filters");
    stored.extend(kept.frames);
    let mut read_back = BlockTable::default();
    read_back
        .feed(&stored, &mut SiteTable::default())
        .expect("stored frames are well-formed");
    replay(kept.words, &read_back)
}

fn exec(block: u32, values: &[u64]) -> Vec<u64> {
    [&[header(block, 0)], values].concat()
}

#[test]
fn only_what_concerns_the_chosen_writes_is_kept_at_its_time() {
    let words = [
        exec(READER, &[0x8000, 0x9000]), // nobody has written there yet
        exec(WRITER, &[0x8000]),
        exec(READER, &[0x8008, 0x9000]), // the first is the written line
        exec(FENCE, &[]),
        exec(READER, &[0xa000, 0x9000]),
    ]
    .concat();
    let seen = filtered(&words);
    let expected = [
        (3, EventKind::Store, 0x8000),
        (5, EventKind::Load, 0x8008),
        (8, EventKind::Fence(prestore_trace::FenceKind::Store), 0),
    ];
    assert_eq!(seen.events, expected);
    assert_eq!(seen.instrs, 3 + 2 + 3 + 2 + 3);
}

#[test]
fn a_fault_cuts_a_kept_block_where_it_cut_the_recorded_one() {
    let fault = CODE + 0x100 + 4; // the reader's second load
    let words = [
        exec(WRITER, &[0x8000]),
        exec(READER, &[0x8008, 0x8010]),
        vec![header(id::CUT, 1), fault],
        exec(WRITER, &[0x8040]),
    ]
    .concat();
    let seen = filtered(&words);
    let expected = [
        (0, EventKind::Store, 0x8000),
        (2, EventKind::Load, 0x8008),
        (3, EventKind::Store, 0x8040),
    ];
    assert_eq!(seen.events, expected);
}

#[test]
fn skipped_instructions_of_the_recording_are_not_forgotten() {
    let mut words = exec(READER, &[0x8000, 0x9000]);
    Special::Skip { instrs: 1000 }.write(&mut words);
    words.extend(exec(WRITER, &[0x8000]));
    let seen = filtered(&words);
    assert_eq!(seen.events, [(1003, EventKind::Store, 0x8000)]);
    assert_eq!(seen.instrs, 1005);
}

#[test]
fn of_a_block_that_is_chosen_in_part_that_part_is_kept() {
    let words = [
        exec(HALF, &[0x8000, 0x9000, 0xa000]),
        exec(READER, &[0x8008, 0x9008]), // the line of the store that is not chosen, and that of the one that is
        exec(HALF, &[0x9010, 0xb000, 0xa000]), // into the line that the chosen store wrote
    ]
    .concat();
    let seen = filtered(&words);
    let expected = [
        (1, EventKind::Store, 0x9000),
        (2, EventKind::Load, 0xa000),
        (5, EventKind::Load, 0x9008),
        (7, EventKind::Store, 0x9010),
        (8, EventKind::Store, 0xb000),
        (9, EventKind::Load, 0xa000),
    ];
    assert_eq!(seen.events, expected);
    assert_eq!(seen.instrs, 4 + 3 + 4);
}
