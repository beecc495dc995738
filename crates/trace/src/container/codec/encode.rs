//! Words to payloads.

mod known;

use rustc_hash::FxHashMap;
use thiserror::Error;

use super::bytes::Bytes;
use super::model::{Model, NEVER, NONE};
use super::pack::Packer;
use super::tally::Tally;
use super::*;
use crate::block::{Block, BlockTable};
use crate::container::EventCounts;
use crate::record::{FIRST_BLOCK, id};

/// Words that cannot be encoded.
#[derive(Debug, Error)]
pub enum EncodeError {
    /// A block that the process's table does not have (yet): its meta log must be fed first.
    #[error("the recording refers to block {id}, which its block log does not describe")]
    UnknownBlock {
        /// The id.
        id: u32,
    },
    /// A special record with more than [`MAX_RECORD`] payload words.
    #[error("a record of type {id} claims {words} words; the recording is corrupt")]
    Oversized {
        /// The record's type.
        id: u32,
        /// Words it claims to have.
        words: u32,
    },
    /// A buffer that does not end with a whole record.
    #[error(
        "a buffer ends within a record, {words} words behind its begin; the recording is corrupt"
    )]
    Torn {
        /// Words of the record that are there.
        words: usize,
    },
    /// zstd failed (out of memory).
    #[error("compression failed: {0}")]
    Compression(#[from] std::io::Error),
}

/// What a stored block holds, beside the payload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Words.
    pub words: usize,
    /// Instructions executed in it, skipped ones included.
    pub instrs: u64,
    /// Block executions.
    pub execs: u64,
    /// Ticks of its first and last [`crate::record::Special::Time`], where it has one.
    pub ticks: Option<(u64, u64)>,
    /// Ticks of the time record that it begins with, if it does.
    pub begins: Option<u64>,
    /// Its events.
    pub counts: EventCounts,
    /// Of its events' [`crate::container::further_lines`], the sum.
    pub further_lines: u64,
}

/// Encodes the words of one thread, stored block after stored block.
pub struct Encoder {
    model: Model,
    streams: Streams<Bytes>,
    packer: Packer,
    tally: Tally,
    /// State of each block, by block id: generation in the high half, index in the low one.
    by_block: Vec<u64>,
    by_special: FxHashMap<u64, u32>,
    generation: u32,
    cur: u32,
    run: u64,
    words: usize,
    limit: usize,
}

impl Encoder {
    /// An encoder that is full after `limit` words (1 to [`BLOCK_WORDS`]).
    ///
    /// # Errors
    /// [`EncodeError::Compression`] where zstd finds no memory.
    pub fn new(limit: usize) -> Result<Self, EncodeError> {
        Ok(Self {
            model: Model::new(),
            streams: Streams::default(),
            packer: Packer::new()?,
            tally: Tally::default(),
            by_block: Vec::new(),
            by_special: FxHashMap::default(),
            generation: 1,
            cur: NONE,
            run: 0,
            words: 0,
            limit: limit.clamp(1, BLOCK_WORDS),
        })
    }

    /// Words taken since the last [`Encoder::finish`].
    pub fn pending(&self) -> usize {
        self.words
    }

    /// Is it time to [`Encoder::finish`]?
    pub fn is_full(&self) -> bool {
        self.words >= self.limit
    }

    /// Takes whole records from the front of `words` until it is full, and returns how many words
    /// they are and whether the end of the words was reached: the end of the slice, an
    /// [`id::END`] header or a torn record.
    ///
    /// # Errors
    /// [`EncodeError`]; the records before the bad one were taken.
    pub fn push(
        &mut self,
        words: &[u64],
        table: &BlockTable,
    ) -> Result<(usize, bool), EncodeError> {
        let mut at = 0;
        let before = self.words;
        let limit = self.limit.saturating_sub(before);
        // Words of the record that was written explicitly last: by so much a run may go beyond the limit.
        let mut last = 0;
        let result = loop {
            self.known_ones(words, &mut at, limit, &mut last);
            self.words = before + at;
            if at >= limit && !is_cut(words, at) {
                break Ok(false);
            }
            match self.record(&words[at..], table) {
                Ok(0) => break Ok(true),
                Ok(n) => (at, last) = (at + n, n),
                Err(e) => break Err(e),
            }
        };
        self.words = before + at;
        result.map(|done| (at, done))
    }

    /// Encodes the record at the front of `words` explicitly and returns its length; 0 at the end.
    fn record(&mut self, words: &[u64], table: &BlockTable) -> Result<usize, EncodeError> {
        let Some(&header) = words.first() else {
            return Ok(0);
        };
        let block_id = header as u32;
        if block_id == id::END {
            return Ok(0);
        }
        let known = self.known(header);
        let len = match known {
            Some(index) => self.model.states[index as usize].words,
            None if block_id < FIRST_BLOCK => special_words(header)?,
            None => described(block_id, table)?.words,
        };
        let Some(values) = words.get(1..1 + len as usize) else {
            return Ok(0);
        };
        let rest = &words[1 + len as usize..];
        let next = match known {
            Some(next) => next,
            None => self.add(header, len, table)?,
        };
        if block_id < FIRST_BLOCK {
            self.tally.special(self.cur, block_id, values, table);
        } else if self.model.states[next as usize].run_words == NEVER {
            let block = described(block_id, table)?;
            self.tally.counted(block, table, values, rest);
        }
        self.event(next, known.is_none(), header, values);
        Ok(1 + len as usize)
    }

    /// The state of a record, if it has one. Asks what followed the current one before: in code that is large, each table
    /// that is looked into is a miss of the host's caches.
    fn known(&self, header: u64) -> Option<u32> {
        let block_id = header as u32;
        if block_id < FIRST_BLOCK {
            return self.by_special.get(&header).copied();
        }
        let states = &self.model.states;
        let cur = &states[self.cur as usize];
        let follows = [cur.succ, cur.alt].into_iter();
        if let Some(next) = { follows }.find(|&n| states[n as usize].header as u32 == block_id) {
            return Some(next);
        }
        let known = self.by_block.get(block_id as usize).copied().unwrap_or(0);
        ((known >> 32) as u32 == self.generation).then_some(known as u32)
    }

    fn add(&mut self, header: u64, words: u32, table: &BlockTable) -> Result<u32, EncodeError> {
        if (header as u32) < FIRST_BLOCK {
            let index = self.model.add(header, words, false);
            self.tally.add_special(header as u32);
            self.by_special.insert(header, index);
            return Ok(index);
        }
        let block = described(header as u32, table)?;
        let plain = self.tally.add_block(block);
        let index = self.model.add(u64::from(block.id), words, plain);
        let at = block.id as usize;
        if self.by_block.len() <= at {
            self.by_block.resize(at + 1, 0);
        }
        self.by_block[at] = (u64::from(self.generation) << 32) | u64::from(index);
        Ok(index)
    }

    fn event(&mut self, next: u32, is_new: bool, header: u64, values: &[u64]) {
        let cur = &self.model.states[self.cur as usize];
        let (succ, alt) = (cur.succ, cur.alt);
        let same_header = self.model.states[next as usize].header == header;
        let control = match next {
            _ if !same_header => SUCC_AUX,
            n if n == succ => SUCC_PREDICTED,
            n if n == alt => SUCC_ALT,
            _ => SUCC_AUX,
        };
        self.write_long_run();
        let state = &mut self.model.states[next as usize];
        let aux = &mut self.streams.aux;
        if control == SUCC_AUX {
            aux.varint((u64::from(next) << 1) | u64::from(!same_header));
            if is_new {
                aux.varint(u64::from(header as u32));
                aux.varint(u64::from(state.words));
            }
            if !same_header {
                aux.varint(header >> 32);
                state.header = header;
            }
        }
        if next != succ {
            self.model.learn_successor(self.cur, next);
        }
        self.behind_a_run(control, next, values);
    }

    /// Ends the stored block: appends its payload to `payload`, says what it holds, and starts
    /// anew.
    ///
    /// # Errors
    /// [`EncodeError::Compression`].
    pub fn finish(&mut self, payload: &mut Vec<u8>) -> Result<Encoded, EncodeError> {
        self.packer.pack(&self.streams, payload)?;
        let states = &self.model.states;
        let mut encoded = self.tally.total(|index| u64::from(states[index].execs));
        encoded.words = self.words;
        self.model.reset();
        let Streams {
            control,
            aux,
            codes,
            raw,
        } = &mut self.streams;
        for stream in [control, aux, codes, raw] {
            stream.clear();
        }
        self.tally = Tally::default();
        self.by_special.clear();
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.by_block.clear();
            self.generation = 1;
        }
        (self.cur, self.run, self.words) = (NONE, 0, 0);
        Ok(encoded)
    }
}

/// Does the execution before `at` end early?
fn is_cut(words: &[u64], at: usize) -> bool {
    words.get(at).is_some_and(|&w| w as u32 == id::CUT)
}

/// Payload words of a special record.
fn special_words(header: u64) -> Result<u32, EncodeError> {
    let (id, words) = (header as u32, (header >> 32) as u32);
    if words > MAX_RECORD {
        return Err(EncodeError::Oversized { id, words });
    }
    Ok(words)
}

fn described(id: u32, table: &BlockTable) -> Result<&Block, EncodeError> {
    table.get(id).ok_or(EncodeError::UnknownBlock { id })
}
