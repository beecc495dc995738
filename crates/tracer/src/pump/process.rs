//! A traced process as the host sees it.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use prestore_trace::block::BlockTable;
use prestore_trace::{ProcessId, SiteTable};

use super::build_ids::add_build_ids;
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
        let whole = whole_frames(&self.tail);
        let rest = self.tail.split_off(whole);
        let frames = add_build_ids(&std::mem::replace(&mut self.tail, rest));
        self.table
            .feed(&frames, sites)
            .map_err(|cause| RecordError::Damaged {
                pid: self.pid,
                cause: cause.to_string(),
            })?;
        Ok(frames)
    }

    /// Is there nobody left who could write?
    pub(super) fn is_dead(&self) -> bool {
        self.replaced || !alive(self.pid)
    }
}

/// How many bytes at the start of `log` are whole frames.
fn whole_frames(log: &[u8]) -> usize {
    let mut at = 0;
    while let Some(len) = log.get(at + 4..at + 8) {
        let end = at + 8 + u32::from_le_bytes([len[0], len[1], len[2], len[3]]) as usize;
        if end > log.len() {
            break;
        }
        at = end;
    }
    at
}

/// Does the process run (and is no zombie)? Where its first thread has ended before others, that
/// one alone looks like a zombie.
fn alive(pid: u32) -> bool {
    let process = format!("/proc/{pid}");
    if runs(Path::new(&process)) {
        return true;
    }
    let tasks = std::fs::read_dir(format!("{process}/task"));
    tasks
        .into_iter()
        .flatten()
        .flatten()
        .any(|task| runs(&task.path()))
}

/// Is there such a task, which has not ended?
fn runs(task: &Path) -> bool {
    let Ok(stat) = std::fs::read_to_string(task.join("stat")) else {
        return false;
    };
    // The state follows the command's name, which ends at the last parenthesis.
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|s| s.trim_start().chars().next());
    !matches!(state, Some('Z' | 'X') | None)
}
