//! Encoding in parallel with the thread that brings the words, on as many CPUs as help.
//!
//! A stored block is encoded from nothing but its words and the descriptions of the blocks in them, so that those of one
//! thread, too, can be encoded at the same time.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle, available_parallelism};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::encoding::Encoding;
use super::file::{EventsFile, Part};
use super::{WriteError, lock};
use crate::ThreadId;
use crate::block::BlockTable;
use crate::container::codec::{BLOCK_WORDS, Encoder};

/// So many keep up with one thread that brings words: on one machine, copying was about four times as fast as encoding
/// irregular ones.
const MOST: usize = 4;

/// Words that all streams of a recording may have gathered before stored blocks become smaller: 128 MiB, what 32 threads need.
const GATHERED: usize = 32 * BLOCK_WORDS;

/// Some of a stream's words.
pub(super) struct Task {
    /// Number of the part in its stream.
    pub(super) number: u64,
    /// Whole records.
    pub(super) words: Vec<u64>,
    /// Of its process, as of then.
    pub(super) table: Arc<BlockTable>,
    /// The last of the stream: a record at its end may be torn.
    pub(super) last: bool,
    pub(super) file: Arc<EventsFile>,
    /// What it came to.
    pub(super) part: Option<Part>,
}

impl Drop for Task {
    /// Its part is written, or that it is lost: whoever waits for it must not wait for ever.
    fn drop(&mut self) {
        let lost = || Part {
            error: Some(WriteError::Failed {
                thread: self.file.thread,
                cause: "what encoded it ended".to_owned(),
            }),
            ..Part::default()
        };
        let part = self.part.take().unwrap_or_else(lost);
        self.file.take(self.number, part);
    }
}

/// Who encodes a recording's streams.
#[derive(Default)]
pub(super) struct Encoders {
    beside: Mutex<Option<Beside>>,
    shared: Arc<Spares>,
    gathered: AtomicUsize,
}

/// What is used again.
#[derive(Default)]
struct Spares {
    encoders: Mutex<Vec<Encoder>>,
    words: Mutex<Vec<Vec<u64>>>,
}

/// The threads, and the way to them.
struct Beside {
    tasks: Sender<Task>,
    threads: Vec<JoinHandle<()>>,
}

impl Encoders {
    /// Room for words.
    pub(super) fn room(&self) -> Vec<u64> {
        lock(&self.shared.words).pop().unwrap_or_default()
    }

    /// A stream has gathered so many words more; true: all together have too many.
    pub(super) fn gather(&self, words: usize) -> bool {
        self.gathered.fetch_add(words, Ordering::Relaxed) + words > GATHERED
    }

    /// They are gathered no more.
    pub(super) fn let_go(&self, words: usize) {
        self.gathered.fetch_sub(words, Ordering::Relaxed);
    }

    /// Has it encoded beside; waits where the encoders are behind.
    pub(super) fn beside(&self, task: Task) {
        let mut beside = lock(&self.beside);
        if beside.is_none() {
            *beside = Some(Beside::start(&self.shared));
        }
        let way = beside.as_ref().filter(|b| !b.threads.is_empty());
        let tasks = way.map(|b| b.tasks.clone());
        drop(beside);
        let left = match tasks {
            Some(tasks) => tasks.send(task).err().map(|e| e.0),
            None => Some(task),
        };
        if let Some(task) = left {
            self.here(task);
        }
    }

    /// Encodes it before it returns.
    pub(super) fn here(&self, task: Task) {
        self.shared.encode(task);
    }

    /// For who encodes as the words come.
    pub(super) fn encoding(&self, thread: ThreadId) -> Encoding {
        self.shared.encoding(thread)
    }

    /// Ends that.
    pub(super) fn end(&self, encoding: Encoding, last: bool) -> Part {
        self.shared.end(encoding, last)
    }
}

impl std::fmt::Debug for Encoders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoders")
            .field("gathered", &self.gathered)
            .finish_non_exhaustive()
    }
}

impl Drop for Encoders {
    fn drop(&mut self) {
        if let Some(Beside { tasks, threads }) = lock(&self.beside).take() {
            drop(tasks);
            for thread in threads {
                // One that panicked has told its stream.
                drop(thread.join());
            }
        }
    }
}

impl Beside {
    /// With no thread where the system gives none.
    fn start(shared: &Arc<Spares>) -> Self {
        let number = available_parallelism().map_or(1, NonZero::get).min(MOST);
        let (tasks, waiting) = bounded::<Task>(number);
        let one = |_| {
            let (waiting, shared) = (waiting.clone(), Arc::clone(shared));
            let thread = Builder::new().name("encoder".to_owned());
            thread.spawn(move || work(&waiting, &shared)).ok()
        };
        let threads = (0..number).filter_map(one).collect();
        Self { tasks, threads }
    }
}

fn work(waiting: &Receiver<Task>, shared: &Spares) {
    for task in waiting {
        shared.encode(task);
    }
}

impl Spares {
    fn encoding(&self, thread: ThreadId) -> Encoding {
        let spare = lock(&self.encoders).pop();
        Encoding::new(thread, spare)
    }

    fn encode(&self, mut task: Task) {
        let mut encoding = self.encoding(task.file.thread);
        encoding.add(&task.words, &task.table);
        task.part = Some(self.end(encoding, task.last));
        let mut words = std::mem::take(&mut task.words);
        drop(task);
        words.clear();
        let mut spare = lock(&self.words);
        if spare.len() < 2 * MOST {
            spare.push(words);
        }
    }

    fn end(&self, encoding: Encoding, last: bool) -> Part {
        let (part, encoder) = encoding.end(last);
        lock(&self.encoders).extend(encoder);
        part
    }
}
