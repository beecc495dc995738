//! Words back to what happened: block executions, special records, events.

mod calls;
mod events;
mod stores;

pub use calls::{CallStack, CallTree, NodeId};
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
            let len = block.words as usize;
            let Some(values) = words.get(at + 1..at + 1 + len) else {
                break;
            };
            at += 1 + len;
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
