//! A traced process as the host sees it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use prestore_trace::block::{BlockTable, whole_frames};
use prestore_trace::{ProcessId, SiteTable};
use rustix::fs::{FlockOperation, flock};

use super::build_ids::{BuildIds, add_build_ids};
use crate::RecordError;

/// A process and its meta log.
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) pid: u32,
    pub(super) stamp: u64,
    pub(super) table: BlockTable,
    /// Instructions of all its threads, as far as the taker counts.
    pub(super) executed: u64,
    log: File,
    tail: Vec<u8>,
}

impl Process {
    pub(super) fn open(path: &Path, id: ProcessId, pid: u32, stamp: u64) -> io::Result<Self> {
        let log = File::open(path)?;
        // Open here and there, it needs no name any more; without one it goes with the process.
        std::fs::remove_file(path)?;
        Ok(Self {
            id,
            pid,
            stamp,
            table: BlockTable::default(),
            executed: 0,
            log,
            tail: Vec::new(),
        })
    }

    /// Reads what the client has appended and returns the whole frames among it.
    pub(super) fn read_log(
        &mut self,
        sites: &mut SiteTable,
        build_ids: &mut BuildIds,
    ) -> Result<Vec<u8>, RecordError> {
        self.log
            .read_to_end(&mut self.tail)
            .map_err(RecordError::Channel)?;
        if self.tail.is_empty() {
            return Ok(Vec::new());
        }
        let whole = whole_frames(&self.tail);
        let rest = self.tail.split_off(whole);
        let frames = add_build_ids(&std::mem::replace(&mut self.tail, rest), build_ids);
        self.table
            .feed(&frames, sites)
            .map_err(|cause| RecordError::Damaged {
                pid: self.pid,
                cause: cause.to_string(),
            })?;
        Ok(frames)
    }

    /// Is there nobody left who could write, and no forked child that has not shown itself? The
    /// client holds a lock on the log for as long; the kernel gives it up however it ends.
    pub(super) fn is_dead(&self) -> bool {
        flock(&self.log, FlockOperation::NonBlockingLockExclusive).is_ok()
    }
}
