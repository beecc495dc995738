//! The events of one thread, on their way to its file.

use std::path::PathBuf;
use std::sync::Arc;

use super::encoders::{Encoders, Task};
use super::encoding::Encoding;
use super::file::EventsFile;
use super::{Shared, WriteError};
use crate::block::BlockTable;
use crate::container::codec::BLOCK_WORDS;
use crate::container::manifest::Totals;
use crate::{ProcessId, ThreadId};

/// As many words are encoded by who brings them: that is sooner done than handed over.
const FEW: usize = BLOCK_WORDS / 8;

/// Writes the stream of one thread. May be used on another thread than the
/// [`super::TraceWriter`] it came from.
///
/// Words are gathered, and when they are enough for a stored block encoded and written beside; what goes wrong there is told
/// by a later call. Those of regular programs are sooner encoded than gathered, and are encoded as they come.
///
/// Memory: the words of one stored block, fewer where many streams gather at once, and those of the blocks that are being
/// encoded.
pub struct StreamWriter {
    file: Arc<EventsFile>,
    encoders: Arc<Encoders>,
    gathered: Vec<u64>,
    /// Instead of them, where they are encoded as they come; and how many have come.
    encoding: Option<Encoding>,
    come: usize,
    /// Of the process, as of the last words.
    table: Arc<BlockTable>,
    /// Parts handed over.
    parts: u64,
    /// Words of all.
    words: u64,
}

impl StreamWriter {
    pub(super) fn create(
        path: PathBuf,
        process: ProcessId,
        thread: ThreadId,
        shared: Shared,
        encoders: Arc<Encoders>,
    ) -> Result<Self, WriteError> {
        Ok(Self {
            file: Arc::new(EventsFile::create(path, process, thread, shared)?),
            encoders,
            gathered: Vec::new(),
            encoding: None,
            come: 0,
            table: Arc::default(),
            parts: 0,
            words: 0,
        })
    }

    /// Whose stream it is.
    pub fn thread(&self) -> ThreadId {
        self.file.thread
    }

    /// The process of the thread.
    pub fn process(&self) -> ProcessId {
        self.file.process
    }

    /// Bytes in its file, so far.
    pub fn bytes(&self) -> u64 {
        self.file.size().0
    }

    /// Bytes that its file comes to with what is not in it yet, if that takes as much as what is.
    pub fn expected_bytes(&self) -> u64 {
        let (bytes, words) = self.file.size();
        let missing = u128::from(self.words.saturating_sub(words));
        bytes + (u128::from(bytes) * missing / u128::from(words.max(1))) as u64
    }

    /// Appends `words`, which are whole records (see [`crate::record`]). `table` must describe all blocks
    /// they refer to, and its meta log must have been given to the trace writer.
    ///
    /// # Errors
    /// What went wrong with these words or earlier ones: [`WriteError::Encode`], the records before the bad one were
    /// written; [`WriteError::Full`] and [`WriteError::Io`], the stream ends at its last whole stored
    /// block. Every later call fails with [`WriteError::Failed`].
    pub fn words(&mut self, words: &[u64], table: &BlockTable) -> Result<(), WriteError> {
        self.file.check()?;
        // The first tells soon what kind of words they are.
        let most = if self.parts == 0 { FEW } else { BLOCK_WORDS };
        if self.come + words.len() > most {
            self.hand_over(false);
        }
        if self.come == 0 && self.file.is_regular() {
            self.encoding = Some(self.encoders.encoding(self.file.thread));
        }
        self.come += words.len();
        self.words += words.len() as u64;
        match &mut self.encoding {
            Some(encoding) => encoding.add(words, table),
            None => self.gather(words, table),
        }
        Ok(())
    }

    fn gather(&mut self, words: &[u64], table: &BlockTable) {
        if self.gathered.capacity() == 0 {
            self.gathered = self.encoders.room();
        }
        self.gathered.extend_from_slice(words);
        if self.table.changes() != table.changes() {
            self.table = Arc::new(table.clone());
        }
        if self.encoders.gather(words.len()) && self.gathered.len() > FEW {
            self.hand_over(false);
        }
    }

    /// Has encoded what has gathered, so that it outlives the recorder. Each call may end a stored
    /// block early: once a second is often enough.
    pub fn flush(&mut self) {
        self.hand_over(false);
    }

    /// Waits until all that was handed over is in the file.
    ///
    /// # Errors
    /// As [`StreamWriter::words`].
    pub fn sync(&self) -> Result<(), WriteError> {
        self.file.wait(self.parts)
    }

    /// Ends the stream and returns what it holds. A torn record at its end is left out.
    ///
    /// # Errors
    /// As [`StreamWriter::words`].
    pub fn finish(mut self) -> Result<Totals, WriteError> {
        self.hand_over(true);
        self.sync()?;
        Ok(self.file.close())
    }

    fn hand_over(&mut self, last: bool) {
        if std::mem::take(&mut self.come) == 0 {
            return;
        }
        if let Some(encoding) = self.encoding.take() {
            let part = self.encoders.end(encoding, last);
            self.file.take(self.parts, part);
            self.parts += 1;
            return;
        }
        let words = std::mem::take(&mut self.gathered);
        self.encoders.let_go(words.len());
        let few = words.len() <= FEW && self.file.has_all(self.parts);
        let task = Task {
            number: self.parts,
            words,
            table: Arc::clone(&self.table),
            last,
            file: Arc::clone(&self.file),
            part: None,
        };
        self.parts += 1;
        if few {
            self.encoders.here(task);
        } else {
            self.encoders.beside(task);
        }
    }
}

impl Drop for StreamWriter {
    /// One that nobody finished gathers nothing any more.
    fn drop(&mut self) {
        self.encoders.let_go(self.gathered.len());
    }
}

impl std::fmt::Debug for StreamWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamWriter")
            .field("thread", &self.file.thread)
            .field("path", &self.file.path)
            .finish_non_exhaustive()
    }
}
