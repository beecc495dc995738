//! The block log of one process, on its way to its file.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use super::WriteError;
use crate::block::whole_frames;
use crate::container::pieces::{LogTotals, MAX_BYTES, Piece};

/// A log that is appended to.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    totals: LogTotals,
    /// Bytes of a frame that has not come to its end yet.
    partial: Vec<u8>,
}

impl Log {
    pub(super) fn create(path: PathBuf) -> Result<Self, WriteError> {
        let file = File::create_new(&path).map_err(|e| WriteError::io(&path, e))?;
        Ok(Self {
            path,
            file,
            totals: LogTotals::default(),
            partial: Vec::new(),
        })
    }

    pub(super) fn totals(&self) -> LogTotals {
        self.totals
    }

    /// Appends bytes, which may end inside a frame, and returns the whole frames there are now.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
        self.partial.extend_from_slice(bytes);
        let rest = self.partial.split_off(whole_frames(&self.partial));
        let frames = std::mem::replace(&mut self.partial, rest);
        let mut at = 0;
        while at < frames.len() {
            let most = &frames[at..frames.len().min(at + MAX_BYTES)];
            let piece = &most[..whole_frames(most)];
            if piece.is_empty() {
                let source = std::io::Error::other("a frame of the block log is too long");
                return Err(WriteError::io(&self.path, source));
            }
            self.piece(piece)?;
            at += piece.len();
        }
        Ok(frames)
    }

    fn piece(&mut self, frames: &[u8]) -> Result<(), WriteError> {
        let mut bytes = Vec::new();
        let piece = Piece::write(frames, self.totals.pieces, &mut bytes);
        let written = piece.and_then(|p| self.file.write_all(&bytes).map(|()| p));
        match written {
            Ok(piece) => {
                self.totals.add(&piece);
                Ok(())
            }
            Err(e) => {
                // Readers pass over half a piece at the end, but its space is better free.
                let _best_effort = self.file.set_len(self.totals.bytes);
                Err(WriteError::io(&self.path, e))
            }
        }
    }
}
