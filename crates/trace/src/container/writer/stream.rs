//! The events of one thread, on their way to its file.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use super::{Shared, WriteError, lock};
use crate::block::BlockTable;
use crate::container::codec::{BLOCK_WORDS, Encoder};
use crate::container::manifest::Totals;
use crate::container::stored::{HEADER, StoredBlock, chain};
use crate::{ProcessId, ThreadId};

/// Writes the stream of one thread. May be used on another thread than the
/// [`super::TraceWriter`] it came from.
///
/// Memory: one stored block encoded, and the predictions of the blocks executed in it.
pub struct StreamWriter {
    process: ProcessId,
    thread: ThreadId,
    path: PathBuf,
    file: File,
    encoder: Encoder,
    /// Header and payload of the stored block being written.
    buffer: Vec<u8>,
    instrs: u64,
    ticks: u64,
    bytes: u64,
    /// Of the next stored block.
    number: u64,
    shared: Shared,
    failed: Option<String>,
}

impl StreamWriter {
    pub(super) fn create(
        path: PathBuf,
        process: ProcessId,
        thread: ThreadId,
        shared: Shared,
    ) -> Result<Self, WriteError> {
        let file = File::create_new(&path).map_err(|e| WriteError::io(&path, e))?;
        let encoder = Encoder::new(BLOCK_WORDS);
        Ok(Self {
            process,
            thread,
            path,
            file,
            encoder: encoder.map_err(|source| WriteError::Encode { thread, source })?,
            buffer: Vec::new(),
            instrs: 0,
            ticks: 0,
            bytes: 0,
            number: 0,
            shared,
            failed: None,
        })
    }

    /// Whose stream it is.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The process of the thread.
    pub fn process(&self) -> ProcessId {
        self.process
    }

    /// Bytes in its file.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends the whole records at the front of `words`, up to their end (see
    /// [`crate::record`]), and returns how many words they are. `table` must describe all blocks
    /// they refer to, and its meta log must have been given to the trace writer.
    ///
    /// # Errors
    /// [`WriteError::Encode`]: the records before the bad one were taken;
    /// [`WriteError::Full`] and [`WriteError::Io`]: the stream ends at its last whole stored
    /// block, and every later call fails with [`WriteError::Failed`].
    pub fn words(&mut self, words: &[u64], table: &BlockTable) -> Result<usize, WriteError> {
        self.check()?;
        let thread = self.thread;
        let mut at = 0;
        loop {
            let pushed = self.encoder.push(&words[at..], table);
            let (taken, done) = pushed.map_err(|source| WriteError::Encode { thread, source })?;
            at += taken;
            if self.encoder.is_full() {
                self.close_block()?;
            }
            if done {
                return Ok(at);
            }
        }
    }

    /// Writes what has gathered, so that it outlives the recorder. Each call may end a stored
    /// block early: once a second is often enough.
    ///
    /// # Errors
    /// As [`StreamWriter::words`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        self.check()?;
        if self.encoder.pending() > 0 {
            self.close_block()?;
        }
        Ok(())
    }

    /// Ends the stream and returns what it holds.
    ///
    /// # Errors
    /// As [`StreamWriter::words`].
    pub fn finish(mut self) -> Result<Totals, WriteError> {
        self.flush()?;
        let mut state = lock(&self.shared);
        state.closed = true;
        Ok(state.totals)
    }

    fn check(&self) -> Result<(), WriteError> {
        match &self.failed {
            None => Ok(()),
            Some(cause) => Err(WriteError::Failed {
                thread: self.thread,
                cause: cause.clone(),
            }),
        }
    }

    fn close_block(&mut self) -> Result<(), WriteError> {
        let written = self.try_close_block();
        if let Err(error) = &written {
            self.failed = Some(error.to_string());
            // Readers pass over half a block at the end, but its space is better free.
            let _best_effort = self.file.set_len(self.bytes);
        }
        written
    }

    fn try_close_block(&mut self) -> Result<(), WriteError> {
        let thread = self.thread;
        self.buffer.clear();
        self.buffer.resize(HEADER, 0);
        let encoded = self.encoder.finish(&mut self.buffer);
        let encoded = encoded.map_err(|source| WriteError::Encode { thread, source })?;
        let payload = &self.buffer[HEADER..];
        let block = StoredBlock {
            process: self.process,
            thread,
            words: encoded.words,
            payload: payload.len(),
            instrs_before: self.instrs,
            instrs: encoded.instrs,
            execs: encoded.execs,
            start_ticks: encoded.begins.unwrap_or(self.ticks),
            last_ticks: encoded.ticks.map_or(self.ticks, |t| t.1),
            counts: encoded.counts,
            number: self.number,
            crc: crc32fast::hash(payload),
        };
        self.buffer[..HEADER].copy_from_slice(&block.to_bytes());
        let written = self.file.write_all(&self.buffer);
        written.map_err(|e| WriteError::io(&self.path, e))?;
        self.bytes += self.buffer.len() as u64;
        self.instrs = self.instrs.wrapping_add(block.instrs);
        self.ticks = block.last_ticks;
        self.number += 1;
        let mut state = lock(&self.shared);
        state.totals += Totals::of(&block);
        state.checksum = chain(state.checksum, block.own_crc());
        Ok(())
    }
}

impl std::fmt::Debug for StreamWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamWriter")
            .field("thread", &self.thread)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
