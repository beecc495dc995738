//! The words of one thread, segment after segment.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Damage, DamageKind, ReadError, Trace};
use crate::block::BlockTable;
use crate::container::codec::{Decoded, Decoder};
use crate::container::stored::{HEADER, StoredBlock};
use crate::{ProcessId, ThreadId};

/// Words of one thread, of which the first alone may be a time record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'a> {
    /// Whose blocks the words refer to.
    pub process: ProcessId,
    /// Whose words they are.
    pub thread: ThreadId,
    /// Ticks of the time record in effect.
    pub ticks: u64,
    /// Instructions the thread had executed before, where a stored block starts here.
    pub instrs: Option<u64>,
    /// Whole records.
    pub words: &'a [u64],
}

pub(super) const CHECKSUM: &str = "the checksum does not match";

/// Reads the words of one thread. From its first segment to its end it holds the block table of the
/// thread's process.
#[derive(Debug)]
pub struct StreamReader<'t> {
    trace: &'t Trace,
    path: PathBuf,
    thread: ThreadId,
    process: Option<ProcessId>,
    table: Option<(ProcessId, Arc<BlockTable>)>,
    blocks: &'t [(u64, StoredBlock)],
    current: Option<Current<'t>>,
    decoded: Decoded,
    damage: Vec<Damage>,
}

/// The stored block being read.
#[derive(Debug)]
struct Current<'t> {
    block: &'t StoredBlock,
    /// Words handed out.
    at: usize,
    /// Time records passed.
    times: usize,
    ticks: u64,
}

impl<'t> StreamReader<'t> {
    pub(super) fn new(
        trace: &'t Trace,
        path: PathBuf,
        thread: ThreadId,
        blocks: &'t [(u64, StoredBlock)],
    ) -> Self {
        Self {
            trace,
            path,
            thread,
            process: blocks.first().map(|b| b.1.process),
            table: None,
            blocks,
            current: None,
            decoded: Decoded::default(),
            damage: Vec::new(),
        }
    }

    /// Whose words they are.
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Whose thread it is; `None`: it has nothing.
    pub(super) fn process(&self) -> Option<ProcessId> {
        self.process
    }

    /// Its file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The stored blocks that come next.
    pub(super) fn ahead(&self) -> &'t [(u64, StoredBlock)] {
        self.blocks
    }

    /// Frees what is held at the end.
    pub(super) fn let_go(&mut self) {
        self.decoded = Decoded::default();
        self.table = None;
    }

    /// Corrupt stored blocks that were left out so far.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Ticks of the next segment (0: there was no time record yet), known without decoding it; `None`
    /// at the end.
    pub fn next_ticks(&self) -> Option<u64> {
        match &self.current {
            Some(current) => {
                let times = &self.decoded.times;
                let starts_here = times.get(current.times).filter(|t| t.0 == current.at);
                Some(starts_here.map_or(current.ticks, |t| t.1))
            }
            None => self.blocks.first().map(|b| b.1.start_ticks),
        }
    }

    /// The words up to the next time record or the end of the stored block; `None` at the end.
    ///
    /// # Errors
    /// [`ReadError::Io`], [`ReadError::Corrupt`] (not where corrupt blocks are left out).
    pub fn next_segment(
        &mut self,
        decoder: &mut Decoder,
    ) -> Result<Option<Segment<'_>>, ReadError> {
        self.is_at_end(decoder)?;
        let Some(current) = &mut self.current else {
            return Ok(None);
        };
        let (start, block) = (current.at, current.block);
        let times = &self.decoded.times;
        if let Some(&(_, ticks)) = times.get(current.times).filter(|t| t.0 == start) {
            current.ticks = ticks;
            current.times += 1;
        }
        let ticks = current.ticks;
        let words = self.decoded.words.len();
        let end = times.get(current.times).map_or(words, |t| t.0);
        current.at = end;
        if end == words {
            self.current = None;
        }
        Ok(Some(Segment {
            process: block.process,
            thread: self.thread,
            ticks,
            instrs: (start == 0).then_some(block.instrs_before),
            words: &self.decoded.words[start..end],
        }))
    }

    /// Makes sure that there is a segment to hand out; is there none any more?
    pub(super) fn is_at_end(&mut self, decoder: &mut Decoder) -> Result<bool, ReadError> {
        while self.current.is_none() {
            let Some(((offset, block), rest)) = self.blocks.split_first() else {
                self.let_go();
                return Ok(true);
            };
            self.blocks = rest;
            self.load(*offset, block, decoder)?;
        }
        Ok(false)
    }

    fn load(
        &mut self,
        offset: u64,
        block: &'t StoredBlock,
        decoder: &mut Decoder,
    ) -> Result<(), ReadError> {
        if self.table.as_ref().is_none_or(|t| t.0 != block.process) {
            self.table = Some((block.process, self.trace.table(block.process)?));
        }
        let payload = self.payload(offset, block)?;
        self.trace.tell_read(block.words);
        let what = if crc32fast::hash(&payload) == block.crc {
            let decoded = decoder.decode(&payload, block.words, &mut self.decoded);
            decoded.err().map(|e| e.to_string())
        } else {
            Some(CHECKSUM.to_owned())
        };
        match what {
            None => {
                self.current = Some(Current {
                    block,
                    at: 0,
                    times: 0,
                    ticks: block.start_ticks,
                });
            }
            Some(what) if self.trace.options.lenient => self.damage.push(Damage {
                path: self.path.clone(),
                offset,
                bytes: (HEADER + block.payload) as u64,
                what: DamageKind::Corrupt(what),
            }),
            Some(what) => {
                let path = self.path.clone();
                return Err(ReadError::Corrupt { path, offset, what });
            }
        }
        Ok(())
    }

    /// Opens the file each time: a trace may have more threads than a process may open files.
    pub(super) fn payload(&self, offset: u64, block: &StoredBlock) -> Result<Vec<u8>, ReadError> {
        let read = || {
            let mut file = File::open(&self.path)?;
            file.seek(SeekFrom::Start(offset + HEADER as u64))?;
            let mut payload = vec![0; block.payload];
            file.read_exact(&mut payload)?;
            Ok(payload)
        };
        read().map_err(|e| ReadError::io(&self.path, e))
    }
}
