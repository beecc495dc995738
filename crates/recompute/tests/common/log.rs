//! A medium that keeps a log of everything that reaches it.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use prestore_crash::Log;
use prestore_recompute::{Error, Medium, Memory};

/// What a thread did.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Stored these bytes.
    Store { at: usize, bytes: Vec<u8> },
    /// Flushed the lines of this range.
    Flush {
        thread: usize,
        at: usize,
        len: usize,
    },
    /// Fenced.
    Fence { thread: usize },
}

#[derive(Default)]
struct Entries {
    events: Vec<Event>,
    threads: HashMap<ThreadId, usize>,
}

/// Ordinary memory with a log.
pub struct Recorder {
    memory: Memory,
    entries: Mutex<Entries>,
}

impl Recorder {
    pub fn on(memory: Memory) -> Recorder {
        Recorder {
            memory,
            entries: Mutex::default(),
        }
    }

    fn push(&self, event: impl FnOnce(usize) -> Event) {
        let mut entries = self.entries.lock().unwrap();
        let next = entries.threads.len();
        let thread = *entries
            .threads
            .entry(thread::current().id())
            .or_insert(next);
        entries.events.push(event(thread));
    }

    pub fn into_events(self) -> Vec<Event> {
        self.entries.into_inner().unwrap().events
    }
}

// SAFETY: the memory's.
unsafe impl Medium for Recorder {
    fn base(&self) -> *mut u8 {
        self.memory.base()
    }

    fn len(&self) -> usize {
        self.memory.len()
    }

    fn stored(&self, at: usize, len: usize) {
        assert!(at + len <= self.len(), "a store outside");
        let mut bytes = vec![0; len];
        // SAFETY: within the memory, and this thread has just stored there.
        unsafe {
            self.base()
                .add(at)
                .copy_to_nonoverlapping(bytes.as_mut_ptr(), len)
        };
        self.push(|_| Event::Store { at, bytes });
    }

    fn flush(&self, at: usize, len: usize) {
        assert!(at + len <= self.len(), "a flush outside");
        self.push(|thread| Event::Flush { thread, at, len });
    }

    fn fence(&self) -> Result<(), Error> {
        self.push(|thread| Event::Fence { thread });
        Ok(())
    }
}

/// The same for the crate that says what a power cut leaves; memory held `before` when it began.
pub fn survivors_log(before: &[u8], events: &[Event]) -> Log {
    let mut log = Log::new(before.to_vec());
    for event in events {
        match event {
            Event::Store { at, bytes } => {
                log.store(*at as u64, bytes);
            }
            Event::Flush { thread, at, len } => {
                log.thread(*thread as u32);
                for line in at / 64..(at + len).div_ceil(64) {
                    log.flush(64 * line as u64);
                }
            }
            Event::Fence { thread } => {
                log.thread(*thread as u32).fence();
            }
        }
    }
    log
}
