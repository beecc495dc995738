//! The file of one thread's events: stored blocks in the order of the thread, whoever encoded them, and when.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::{Shared, WriteError, lock};
use crate::container::codec::Encoded;
use crate::container::manifest::Totals;
use crate::container::stored::{HEADER, StoredBlock, chain};
use crate::{ProcessId, ThreadId};

/// Of a regular stored block so many words take less than a byte: nearly all were as predicted.
const REGULAR: usize = 100;

/// A stored block whose header is still to be filled in.
pub(super) struct Unnumbered {
    pub(super) encoded: Encoded,
    /// Room for the header, and the payload.
    pub(super) bytes: Vec<u8>,
}

/// What became of some of a stream's words.
#[derive(Default)]
pub(super) struct Part {
    pub(super) blocks: Vec<Unnumbered>,
    /// Why there are not more.
    pub(super) error: Option<WriteError>,
}

/// The file, and the parts that came before their turn.
pub(super) struct EventsFile {
    pub(super) thread: ThreadId,
    pub(super) process: ProcessId,
    pub(super) path: PathBuf,
    state: Mutex<State>,
    written: Condvar,
}

struct State {
    file: File,
    /// Number of the part whose turn it is, and those behind it that are there.
    turn: u64,
    early: BTreeMap<u64, Part>,
    instrs: u64,
    ticks: u64,
    bytes: u64,
    words: u64,
    /// Of the next stored block.
    number: u64,
    /// Was the last one regular?
    regular: bool,
    shared: Shared,
    /// What went wrong first, until somebody was told, and what to say after that.
    error: Option<WriteError>,
    failed: Option<String>,
}

impl EventsFile {
    pub(super) fn create(
        path: PathBuf,
        process: ProcessId,
        thread: ThreadId,
        shared: Shared,
    ) -> Result<Self, WriteError> {
        let file = File::create_new(&path).map_err(|e| WriteError::io(&path, e))?;
        Ok(Self {
            thread,
            process,
            path,
            state: Mutex::new(State {
                file,
                turn: 0,
                early: BTreeMap::new(),
                instrs: 0,
                ticks: 0,
                bytes: 0,
                words: 0,
                number: 0,
                regular: false,
                shared,
                error: None,
                failed: None,
            }),
            written: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Bytes and words in the file.
    pub(super) fn size(&self) -> (u64, u64) {
        let state = self.state();
        (state.bytes, state.words)
    }

    /// Takes part number `number` of the stream, which is written when those before it are.
    pub(super) fn take(&self, number: u64, part: Part) {
        let mut state = self.state();
        state.early.insert(number, part);
        loop {
            let turn = state.turn;
            let Some(part) = state.early.remove(&turn) else {
                break;
            };
            if state.failed.is_none() {
                state.write(self, part);
            }
            state.turn += 1;
        }
        self.written.notify_all();
    }

    /// Was its last stored block regular: soon encoded?
    pub(super) fn is_regular(&self) -> bool {
        self.state().regular
    }

    /// Are all parts before number `end` written, or lost to an error?
    pub(super) fn has_all(&self, end: u64) -> bool {
        self.state().turn >= end
    }

    /// Waits until they are.
    ///
    /// # Errors
    /// What went wrong with any so far; every later call fails with [`WriteError::Failed`].
    pub(super) fn wait(&self, end: u64) -> Result<(), WriteError> {
        let mut state = self.state();
        while state.turn < end {
            let waited = self.written.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        self.check()
    }

    /// # Errors
    /// As [`EventsFile::wait`].
    pub(super) fn check(&self) -> Result<(), WriteError> {
        let mut state = self.state();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        match &state.failed {
            None => Ok(()),
            Some(cause) => Err(WriteError::Failed {
                thread: self.thread,
                cause: cause.clone(),
            }),
        }
    }

    /// Nothing more will come: what the stream holds.
    pub(super) fn close(&self) -> Totals {
        let state = self.state();
        let mut shared = lock(&state.shared);
        shared.closed = true;
        shared.totals
    }
}

impl State {
    fn write(&mut self, of: &EventsFile, part: Part) {
        let written = part.blocks.into_iter().try_for_each(|b| self.append(of, b));
        if let Some(error) = written.err().or(part.error) {
            self.failed = Some(error.to_string());
            self.error = Some(error);
            // Readers pass over half a block at the end, but its space is better free.
            let _best_effort = self.file.set_len(self.bytes);
        }
    }

    fn append(&mut self, of: &EventsFile, block: Unnumbered) -> Result<(), WriteError> {
        let Unnumbered { encoded, mut bytes } = block;
        let payload = &bytes[HEADER..];
        let block = StoredBlock {
            process: of.process,
            thread: of.thread,
            words: encoded.words,
            payload: payload.len(),
            instrs_before: self.instrs,
            instrs: encoded.instrs,
            execs: encoded.execs,
            start_ticks: encoded.begins.unwrap_or(self.ticks),
            last_ticks: encoded.ticks.map_or(self.ticks, |t| t.1),
            counts: encoded.counts,
            further_lines: encoded.further_lines,
            number: self.number,
            crc: crc32fast::hash(payload),
        };
        bytes[..HEADER].copy_from_slice(&block.to_bytes());
        let written = self.file.write_all(&bytes);
        written.map_err(|e| WriteError::io(&of.path, e))?;
        self.bytes += bytes.len() as u64;
        self.words += block.words as u64;
        self.instrs = self.instrs.wrapping_add(block.instrs);
        self.ticks = block.last_ticks;
        self.number += 1;
        self.regular = block.payload * REGULAR < block.words;
        let mut shared = lock(&self.shared);
        shared.totals += Totals::of(&block);
        shared.checksum = chain(shared.checksum, block.own_crc());
        Ok(())
    }
}
