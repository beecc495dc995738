//! A part of a stream while it is encoded.

use super::WriteError;
use super::file::{Part, Unnumbered};
use crate::ThreadId;
use crate::block::BlockTable;
use crate::container::codec::{BLOCK_WORDS, EncodeError, Encoder};
use crate::container::stored::HEADER;

/// The part so far.
pub(super) struct Encoding {
    thread: ThreadId,
    encoder: Option<Encoder>,
    blocks: Vec<Unnumbered>,
    /// Words of a record whose end was not there.
    torn: usize,
    error: Option<EncodeError>,
}

impl Encoding {
    /// With an encoder that was used before, if there is one.
    pub(super) fn new(thread: ThreadId, spare: Option<Encoder>) -> Self {
        let (encoder, error) = match spare.map_or_else(|| Encoder::new(BLOCK_WORDS), Ok) {
            Ok(encoder) => (Some(encoder), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            thread,
            encoder,
            blocks: Vec::new(),
            torn: 0,
            error,
        }
    }

    /// Adds whole records; the last may be torn where nothing comes behind them.
    pub(super) fn add(&mut self, words: &[u64], table: &BlockTable) {
        if self.error.is_none() {
            self.error = self.fill(words, table).err();
        }
    }

    fn fill(&mut self, words: &[u64], table: &BlockTable) -> Result<(), EncodeError> {
        self.whole()?;
        let mut at = 0;
        while let Some(encoder) = &mut self.encoder {
            let (taken, ended) = encoder.push(&words[at..], table)?;
            at += taken;
            if ended {
                break;
            }
            close(encoder, &mut self.blocks)?;
        }
        self.torn = words.len() - at;
        Ok(())
    }

    fn whole(&self) -> Result<(), EncodeError> {
        match self.torn {
            0 => Ok(()),
            words => Err(EncodeError::Torn { words }),
        }
    }

    /// What it came to, and the encoder, if it can be used again. `last`: of all in the stream.
    pub(super) fn end(mut self, last: bool) -> (Part, Option<Encoder>) {
        // What lies before a bad record is written, too.
        let encoder = self.encoder.as_mut();
        let closed = encoder.map_or(Ok(()), |e| close(e, &mut self.blocks));
        let whole = if last { Ok(()) } else { self.whole() };
        let error = self.error.or(closed.and(whole).err());
        // After an error nobody asks what it has kept.
        let spare = self.encoder.filter(|_| error.is_none());
        let thread = self.thread;
        let part = Part {
            blocks: self.blocks,
            error: error.map(|source| WriteError::Encode { thread, source }),
        };
        (part, spare)
    }
}

/// Ends the stored block that is being filled, if anything is in it.
fn close(encoder: &mut Encoder, blocks: &mut Vec<Unnumbered>) -> Result<(), EncodeError> {
    if encoder.pending() == 0 {
        return Ok(());
    }
    let mut bytes = vec![0; HEADER];
    let encoded = encoder.finish(&mut bytes)?;
    blocks.push(Unnumbered { encoded, bytes });
    Ok(())
}
