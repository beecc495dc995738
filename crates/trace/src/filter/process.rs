//! One process: its blocks before and after, and what its chosen functions wrote.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::frames;
use super::lines::Lines;
use super::thread::Chosen;
use crate::SiteTable;
use crate::block::{BlockTable, MetaError, meta};
use crate::record::FIRST_BLOCK;

/// Blocks of the tracer by id, and those of the filter made from them.
#[derive(Debug, Default)]
pub(super) struct ProcessFilter {
    /// The filter's blocks.
    pub(super) table: BlockTable,
    /// What the chosen functions wrote.
    pub(super) written: Lines,
    /// What of each of the tracer's blocks is chosen.
    pub(super) chosen: FxHashMap<u32, Chosen>,
    /// Frames of the tracer's blocks.
    blocks: FxHashMap<u32, Arc<[u8]>>,
    /// (tracer's block, references kept) -> filter's block.
    ids: FxHashMap<(u32, u64), u32>,
    /// Frames stored but not yet taken into `table`.
    untaken: Vec<u8>,
}

impl ProcessFilter {
    /// A forked child begins with its parent's code and data.
    pub(super) fn fork(&self) -> Self {
        Self {
            written: self.written.clone(),
            blocks: self.blocks.clone(),
            ..Self::default()
        }
    }

    pub(super) fn meta(&mut self, mut log: &[u8], out: &mut Vec<u8>) {
        let before = out.len();
        while let Some((kind, frame, rest)) = frames::next(log) {
            log = rest;
            match kind {
                meta::BLOCK => {
                    if let Some(id) = frames::block_id(frame) {
                        self.blocks.insert(id, frame.into());
                    }
                }
                meta::PROCESS => out.extend(frames::process(frame)),
                _ => out.extend(frame),
            }
        }
        self.untaken.extend(&out[before..]);
    }

    /// The filter's block for the tracer's block `raw` with the references in `keep`; a new one's
    /// description goes into `out`. `None` for a block that was never described.
    pub(super) fn block(
        &mut self,
        raw: u32,
        keep: u64,
        sites: &mut SiteTable,
        out: &mut Vec<u8>,
    ) -> Result<Option<u32>, MetaError> {
        if let Some(id) = self.ids.get(&(raw, keep)) {
            return Ok(Some(*id));
        }
        let id = FIRST_BLOCK + self.ids.len() as u32;
        let frame = self
            .blocks
            .get(&raw)
            .and_then(|f| frames::block(f, id, keep));
        let Some(frame) = frame else {
            return Ok(None);
        };
        self.table.feed(&std::mem::take(&mut self.untaken), sites)?;
        self.table.feed(&frame, sites)?;
        self.ids.insert((raw, keep), id);
        out.extend(frame);
        Ok(Some(id))
    }
}
