//! No block log and no words make the replay panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use prestore_trace::block::{Block, BlockTable};
use prestore_trace::record::Special;
use prestore_trace::replay::{
    CallStack, CallTree, EventContext, ExecSink, Replayer, for_each_event,
};
use prestore_trace::{Event, SiteTable, ThreadId};

struct Walk<'a> {
    table: &'a BlockTable,
    tree: CallTree,
    stack: CallStack,
    events: u64,
}

impl ExecSink for Walk<'_> {
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32) {
        self.stack.enter(block, &mut self.tree);
        let context = EventContext {
            thread: ThreadId(0),
            xsave: self.table.xsave(),
        };
        let mut count = |_: &Event<'_>| self.events += 1;
        for_each_event(context, before, block, values, executed, &mut count);
    }

    fn special(&mut self, _: u64, _: Special) {}
}

fuzz_target!(|data: &[u8]| {
    let Some((&split, data)) = data.split_first() else {
        return;
    };
    let split = (usize::from(split) * 8).min(data.len());
    let (words, log) = data.split_at(split);
    let mut table = BlockTable::default();
    let _ = table.feed(log, &mut SiteTable::default());
    let words: Vec<u64> = words
        .chunks_exact(8)
        .map(|c| u64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]))
        .collect();
    let mut walk = Walk {
        table: &table,
        tree: CallTree::default(),
        stack: CallStack::default(),
        events: 0,
    };
    let _ = Replayer::default().replay(&words, &table, &mut walk);
});
