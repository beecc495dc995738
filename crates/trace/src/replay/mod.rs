//! Words back to what happened: block executions, special records, events.

mod calls;
mod events;
mod stores;
mod xsave;

pub use calls::{CallStack, CallTree, NodeId, prefixes_of_call};
pub use events::{Context as EventContext, EventSink, each_touch, for_each_event};
pub use stores::{Store, Stores};

use crate::block::{Block, BlockTable};
use crate::content::Content;
use crate::record::{FIRST_BLOCK, Special, id};

/// Receives what a thread did, in its order.
pub trait ExecSink {
    /// One execution of `block` with its dynamic values. `before` instructions had been executed
    /// by the thread before it; the first `executed` of the block's instructions were (all, but
    /// for faults and signals).
    fn exec(&mut self, before: u64, block: &Block, values: &[u64], executed: u32);

    /// It takes executions of a block that follow one another at once, as a [`Row`].
    const IN_ROWS: bool = false;

    /// Whole executions of `block`, the first of which had `before` instructions before it. Only where it takes them at once.
    fn row(&mut self, before: u64, block: &Block, row: Row<'_>) {
        for (at, values) in row.executions().enumerate() {
            let before = before.wrapping_add(at as u64 * u64::from(block.instrs));
            self.exec(before, block, values, block.instrs);
        }
    }

    /// A record that is no block execution.
    fn special(&mut self, before: u64, special: Special);

    /// What memory holds, in recordings with values. Where an instruction stored it, behind the
    /// execution that ends with it, in the order of its references and within one upwards.
    fn content(&mut self, _before: u64, _content: Content<'_>) {}

    /// Asked before each record: has it enough for now?
    #[inline]
    fn full(&self) -> bool {
        false
    }
}

/// Executions of one block that follow one another.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whole records of as many words each.
    words: &'a [u64],
    size: usize,
}

impl<'a> Row<'a> {
    /// The executions' values, in their order.
    pub fn executions(self) -> impl ExactSizeIterator<Item = &'a [u64]> + DoubleEndedIterator {
        self.words
            .chunks_exact(self.size)
            .map(|record| &record[1..])
    }

    /// Words from the values of one to those of the next.
    pub fn distance(self) -> usize {
        self.size
    }

    /// The records like the one of `size` words before `end` that come there; the last one is left out, as it may be cut.
    #[inline]
    fn before(words: &'a [u64], end: usize, size: usize) -> Option<Self> {
        let (first, header) = (end - size, words[end - size]);
        // Mostly there is none.
        if words.get(end) != Some(&header) {
            return None;
        }
        let mut next = end;
        while words.get(next) == Some(&header) && words.len() - next >= size {
            next += size;
        }
        let words = &words[first..next - size];
        (!words.is_empty()).then_some(Self { words, size })
    }
}

/// Why words could not be replayed to their end.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReplayError {
    /// A block id that the process's table does not have.
    #[error("the trace refers to block {id}, which its block log does not describe")]
    UnknownBlock {
        /// The id.
        id: u32,
    },
}

/// Replays the words of one thread, buffer after buffer.
#[derive(Clone, Debug, Default)]
pub struct Replayer {
    instrs: u64,
}

impl Replayer {
    /// Starts with `instrs` instructions already executed (as a stored block of events says).
    pub fn starting_at(instrs: u64) -> Self {
        Self { instrs }
    }

    /// Instructions replayed so far, those outside the recording's scope included.
    pub fn instrs(&self) -> u64 {
        self.instrs
    }

    /// Replays `words` up to their end, an [`id::END`] header, or a torn last record, or until
    /// `sink` is full, and returns how many words were whole records. A cut record belongs into the buffer of the execution
    /// it cuts.
    ///
    /// # Errors
    /// [`ReplayError::UnknownBlock`]; what came before it was delivered.
    pub fn replay<S: ExecSink>(
        &mut self,
        words: &[u64],
        blocks: &BlockTable,
        sink: &mut S,
    ) -> Result<usize, ReplayError> {
        let mut at = 0;
        while at < words.len() && !sink.full() {
            let header = words[at];
            let block_id = header as u32;
            if block_id < FIRST_BLOCK {
                if block_id == id::END {
                    break;
                }
                let len = (header >> 32) as usize;
                let Some(payload) = words.get(at + 1..at + 1 + len) else {
                    break;
                };
                at += 1 + len;
                if block_id == id::CONTENT {
                    if let Some(content) = Content::parse(payload) {
                        sink.content(self.instrs, content);
                    }
                    continue;
                }
                let special = Special::parse(block_id, payload);
                sink.special(self.instrs, special);
                if let Special::Skip { instrs } = special {
                    self.instrs = self.instrs.wrapping_add(instrs);
                }
                continue;
            }
            let Some(block) = blocks.get(block_id) else {
                return Err(ReplayError::UnknownBlock { id: block_id });
            };
            let len = blocks.words(block_id);
            let Some(values) = words.get(at + 1..at + 1 + len) else {
                break;
            };
            at += 1 + len;
            if S::IN_ROWS
                && let Some(row) = Row::before(words, at, 1 + len)
            {
                at += row.words.len() - (1 + len);
                let executions = (row.words.len() / row.size) as u64;
                sink.row(self.instrs, block, row);
                let executed = executions.wrapping_mul(u64::from(block.instrs));
                self.instrs = self.instrs.wrapping_add(executed);
                continue;
            }
            let mut executed = block.instrs;
            if let Some((pc, len)) = cut_at(words, at) {
                executed = block.instrs_before(pc);
                at += len;
            }
            sink.exec(self.instrs, block, values, executed);
            self.instrs = self.instrs.wrapping_add(u64::from(executed));
        }
        Ok(at)
    }
}

/// The pc and the length in words of a whole cut record at `at`.
#[inline]
pub(crate) fn cut_at(words: &[u64], at: usize) -> Option<(u64, usize)> {
    let &header = words.get(at)?;
    if header as u32 != id::CUT {
        return None;
    }
    let len = (header >> 32) as usize;
    let pc = words.get(at + 1..at + 1 + len)?.first()?;
    Some((*pc, 1 + len))
}
