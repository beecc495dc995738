//! A traced process as the host sees it.

use std::io;
use std::path::Path;

use prestore_trace::block::BlockTable;
use prestore_trace::{ProcessId, SiteTable};

use super::build_ids::{BuildIds, add_build_ids};
use crate::RecordError;
use crate::channel::LogReader;

/// A process and its meta log.
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) pid: u32,
    pub(super) stamp: u64,
    pub(super) table: BlockTable,
    /// Instructions of all its threads, as far as the taker counts.
    pub(super) executed: u64,
    log: LogReader,
}

impl Process {
    pub(super) fn open(path: &Path, id: ProcessId, pid: u32, stamp: u64) -> io::Result<Self> {
        Ok(Self {
            id,
            pid,
            stamp,
            table: BlockTable::default(),
            executed: 0,
            log: LogReader::open(path)?,
        })
    }

    /// Reads what the client has appended and returns the frames.
    pub(super) fn read_log(
        &mut self,
        sites: &mut SiteTable,
        build_ids: &mut BuildIds,
    ) -> Result<Vec<u8>, RecordError> {
        let frames = self.log.read().map_err(RecordError::Channel)?;
        if frames.is_empty() {
            return Ok(frames);
        }
        let frames = add_build_ids(&frames, build_ids);
        self.table
            .feed(&frames, sites)
            .map_err(|cause| RecordError::Damaged {
                pid: self.pid,
                cause: cause.to_string(),
            })?;
        Ok(frames)
    }

    /// Is there nobody left who could write, and no forked child that has not shown itself?
    pub(super) fn is_dead(&self) -> bool {
        self.log.is_abandoned()
    }
}
