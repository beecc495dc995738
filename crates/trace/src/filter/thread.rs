//! One thread: what of each block execution is kept.

use super::process::ProcessFilter;
use super::{Choice, Chooser, Passed, ScopeOracle};
use crate::SiteTable;
use crate::block::{Block, BlockEnd, MetaError, Ref, XsaveComponent};
use crate::content::{Content, Why};
use crate::record::{Special, header, id};
use crate::replay::{CallStack, ExecSink, Replayer, each_touch};

/// What is remembered between a thread's buffers.
#[derive(Debug, Default)]
pub(super) struct ThreadFilter {
    pub(super) replayer: Replayer,
    stack: CallStack,
    /// Instructions left out since the last record.
    skipped: u64,
    /// The block before this one was a return: this one says where to.
    after_return: bool,
    /// Something of the last execution was kept.
    kept: bool,
}

impl ThreadFilter {
    /// Writes down what was left out, so that a buffer's words account for all of its time.
    pub(super) fn settle(&mut self, words: &mut Vec<u64>) {
        let instrs = std::mem::take(&mut self.skipped);
        if instrs > 0 {
            Special::Skip { instrs }.write(words);
        }
    }
}

/// One buffer being filtered.
pub(super) struct Execution<'a, O> {
    pub(super) thread: &'a mut ThreadFilter,
    pub(super) process: &'a mut ProcessFilter,
    pub(super) chooser: &'a mut Chooser<O>,
    pub(super) passed: &'a mut Passed,
    pub(super) sites: &'a mut SiteTable,
    pub(super) xsave: &'a [XsaveComponent],
    pub(super) frames: &'a mut Vec<u8>,
    pub(super) words: &'a mut Vec<u64>,
    pub(super) broken: Option<MetaError>,
}

/// References beyond this share the last bit.
fn bit(i: usize) -> u64 {
    1 << i.min(63)
}

impl<O: ScopeOracle> Execution<'_, O> {
    fn is_chosen(&mut self, block: &Block) -> bool {
        match self.chooser.choice(block.start_site, self.sites) {
            Choice::Chosen => true,
            Choice::Other => false,
            Choice::Generic => {
                let node = self.thread.stack.node();
                self.chooser.chosen_from(node, self.sites)
            }
        }
    }

    /// Which references of other code are kept: fences, atomics and region marks, and accesses
    /// to what the chosen functions wrote.
    fn kept(&self, block: &Block, values: &[u64], executed: u32) -> u64 {
        let done = |r: &&Ref| u32::from(r.instr) < executed;
        let mut keep = 0;
        for (i, r) in block.refs.iter().take_while(done).enumerate() {
            if r.is_addressless() || r.kind.orders_stores() {
                keep |= bit(i);
                continue;
            }
            each_touch(self.xsave, r, values, |addr, size| {
                if self.process.written.touches(addr, size) {
                    keep |= bit(i);
                }
            });
        }
        keep
    }

    fn note_writes(&mut self, block: &Block, values: &[u64], executed: u32) {
        for r in block.refs.iter().filter(|r| r.kind.writes()) {
            if u32::from(r.instr) < executed {
                let written = &mut self.process.written;
                each_touch(self.xsave, r, values, |addr, size| written.add(addr, size));
            }
        }
    }

    fn emit(&mut self, block: &Block, values: &[u64], executed: u32, keep: u64) {
        let number = self
            .process
            .block(block.id, keep, self.sites, self.frames)
            .unwrap_or_else(|error| {
                self.broken.get_or_insert(error);
                None
            });
        let Some(number) = number else {
            self.thread.skipped += u64::from(executed);
            return;
        };
        self.thread.settle(self.words);
        self.words.push(header(number, 0));
        self.words.extend_from_slice(values);
        if executed < block.instrs {
            let lengths = block.lengths.iter().take(executed as usize);
            let done: u64 = lengths.map(|l| u64::from(*l)).sum();
            let pc = block.start_pc.wrapping_add(done);
            self.words.extend([header(id::CUT, 1), pc]);
        }
    }
}

impl<O: ScopeOracle> ExecSink for Execution<'_, O> {
    fn exec(&mut self, _before: u64, block: &Block, values: &[u64], executed: u32) {
        self.thread.stack.enter(block, &mut self.chooser.tree);
        self.passed.instructions += u64::from(executed);
        let done = |r: &&Ref| u32::from(r.instr) < executed;
        let stores = block
            .refs
            .iter()
            .take_while(done)
            .filter(|r| r.kind.writes());
        self.passed.stores += stores.count() as u64;
        let keep = if self.is_chosen(block) {
            self.note_writes(block, values, executed);
            u64::MAX
        } else {
            self.kept(block, values, executed)
        };
        let turns = matches!(block.end, BlockEnd::Call | BlockEnd::Ret);
        let after_return =
            std::mem::replace(&mut self.thread.after_return, block.end == BlockEnd::Ret);
        if keep != 0 || turns || after_return {
            self.thread.kept = keep != 0;
            self.emit(block, values, executed, keep);
        } else {
            self.thread.kept = false;
            self.thread.skipped += u64::from(executed);
        }
    }

    fn content(&mut self, _before: u64, content: Content<'_>) {
        // What else is in memory cannot be told from some of the stores.
        if content.why == Why::Stored && self.thread.kept {
            content.write(self.words);
        }
    }

    fn special(&mut self, _before: u64, special: Special) {
        if let Special::Skip { instrs } = special {
            self.passed.instructions += instrs;
            self.thread.skipped += instrs;
            return;
        }
        self.thread.settle(self.words);
        special.write(self.words);
    }
}
