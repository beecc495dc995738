//! A traced process as the host sees it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use prestore_trace::block::BlockTable;
use prestore_trace::{ProcessId, SiteTable};

use crate::RecordError;

/// A process and its meta log.
pub(super) struct Process {
    pub(super) id: ProcessId,
    pub(super) pid: u32,
    pub(super) stamp: u64,
    pub(super) table: BlockTable,
    /// Another image runs under its pid now (`execve`).
    pub(super) replaced: bool,
    log: File,
    tail: Vec<u8>,
}

impl Process {
    pub(super) fn open(path: &Path, id: ProcessId, pid: u32, stamp: u64) -> io::Result<Self> {
        let log = File::open(path)?;
        Ok(Self {
            id,
            pid,
            stamp,
            table: BlockTable::default(),
            replaced: false,
            log,
            tail: Vec::new(),
        })
    }

    /// Reads what the client has appended and returns the whole frames among it.
    pub(super) fn read_log(&mut self, sites: &mut SiteTable) -> Result<Vec<u8>, RecordError> {
        self.log
            .read_to_end(&mut self.tail)
            .map_err(RecordError::Channel)?;
        if self.tail.is_empty() {
            return Ok(Vec::new());
        }
        let whole = self
            .table
            .feed(&self.tail, sites)
            .map_err(|cause| RecordError::Damaged {
                pid: self.pid,
                cause: cause.to_string(),
            })?;
        let rest = self.tail.split_off(whole);
        Ok(std::mem::replace(&mut self.tail, rest))
    }

    /// Is there nobody left who could write?
    pub(super) fn is_dead(&self) -> bool {
        self.replaced || !alive(self.pid)
    }
}

/// Does the process run (and is no zombie)?
fn alive(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    // The state follows the command's name, which ends at the last parenthesis.
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|s| s.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}
