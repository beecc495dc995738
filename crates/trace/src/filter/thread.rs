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

/// Which references of a block the scope chooses. A scope may name a line or an instruction in the middle of a block, so
/// each reference is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    /// Chosen wherever they are executed.
    always: u64,
    /// Of generic code: chosen where their caller is.
    generic: u64,
    /// All of the block is alike, also its code beside the references.
    alike: bool,
}

impl<O: ScopeOracle> Execution<'_, O> {
    /// Which references are chosen now; all bits where the whole block is.
    fn chosen(&mut self, block: &Block) -> u64 {
        let known = self.process.chosen.get(&block.id).copied();
        let chosen = known.unwrap_or_else(|| {
            let chosen = self.choose(block);
            self.process.chosen.insert(block.id, chosen);
            chosen
        });
        if chosen.generic == 0 {
            return chosen.always;
        }
        let node = self.thread.stack.node();
        match self.chooser.chosen_from(node, self.sites) {
            true if chosen.alike => u64::MAX,
            true => chosen.always | chosen.generic,
            false => chosen.always,
        }
    }

    fn choose(&mut self, block: &Block) -> Chosen {
        let first = self.chooser.choice(block.start_site, self.sites);
        let (mut always, mut generic, mut alike) = (0, 0, true);
        for (i, r) in block.refs.iter().enumerate() {
            let choice = self.chooser.choice(r.site, self.sites);
            alike &= choice == first;
            match choice {
                Choice::Chosen => always |= bit(i),
                Choice::Generic => generic |= bit(i),
                Choice::Other => {}
            }
        }
        match first {
            Choice::Chosen if alike => always = u64::MAX,
            Choice::Generic if alike => generic = u64::MAX,
            _ => {}
        }
        Chosen {
            always,
            generic,
            alike,
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

    fn note_writes(&mut self, block: &Block, values: &[u64], executed: u32, chosen: u64) {
        for (i, r) in block.refs.iter().enumerate() {
            if r.kind.writes() && u32::from(r.instr) < executed && chosen & bit(i) != 0 {
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
        let chosen = self.chosen(block);
        if chosen != 0 {
            self.note_writes(block, values, executed, chosen);
        }
        let keep = match chosen {
            u64::MAX => u64::MAX,
            some => some | self.kept(block, values, executed),
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
