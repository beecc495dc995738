//! A process's meta log.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::Mmap;
use rustix::fs::{FlockOperation, flock};

const MAGIC: u64 = 0x474f_4c45_5254_5350;
const BYTES: usize = 8;
/// Where the frames begin.
const HEADER: u64 = 64;
const HEADER_PAGE: usize = 4096;

/// What the client of a process has said of it so far.
pub(crate) struct LogReader {
    file: File,
    head: Mmap,
    /// What was read.
    at: u64,
}

impl LogReader {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // Open here and there, it needs no name any more; without one it goes with the process.
        std::fs::remove_file(path)?;
        // SAFETY: the client sized the file before it got this name, and never shortens it.
        let head = unsafe { memmap2::MmapOptions::new().len(HEADER_PAGE).map(&file)? };
        if file.metadata()?.len() < HEADER_PAGE as u64 || head[..8] != MAGIC.to_le_bytes() {
            return Err(malformed());
        }
        Ok(Self {
            file,
            head,
            at: HEADER,
        })
    }

    /// Reads the whole frames that were appended since the last call.
    pub(crate) fn read(&mut self) -> io::Result<Vec<u8>> {
        let word = self.head[BYTES..BYTES + 8].as_ptr();
        // SAFETY: the offset is aligned and inside the mapping, which lives as long as `self`; the client changes the word only
        // by atomic stores.
        let complete = unsafe { AtomicU64::from_ptr(word.cast_mut().cast()) };
        let end = complete.load(Ordering::Acquire);
        if end == self.at {
            return Ok(Vec::new());
        }
        // The program, in whose memory the word lies too, may have overwritten it.
        if end < self.at || end > self.file.metadata()?.len() {
            return Err(malformed());
        }
        let mut frames = vec![0; (end - self.at) as usize];
        self.file.read_exact_at(&mut frames, self.at)?;
        self.at += frames.len() as u64;
        Ok(frames)
    }

    /// Is there nobody left who could write, and no forked child that has not shown itself? The
    /// client holds a lock on the log for as long; the kernel gives it up however it ends.
    pub(crate) fn is_abandoned(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }
}

fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "a process's log of blocks is malformed",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_that_the_program_overwrote_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut bytes = vec![0; HEADER_PAGE];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        let mut count = |n: u64| {
            bytes[BYTES..BYTES + 8].copy_from_slice(&n.to_le_bytes());
            std::fs::write(&path, &bytes).unwrap();
            LogReader::open(&path).unwrap().read()
        };
        assert_eq!(count(HEADER + 8).unwrap(), vec![0; 8]);
        assert!(count(HEADER).unwrap().is_empty());
        for wrong in [0, HEADER_PAGE as u64 + 1, u64::MAX] {
            let error = count(wrong).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{wrong}");
        }
    }
}
