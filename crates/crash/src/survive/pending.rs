//! What waits to become persistent, event by event.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::log::{Happening, Log, WORD};
use crate::image::Domain;
use crate::line::LINE;

/// Stores to one line that are told apart while they wait. Of more, the oldest survive together: every
/// image that is given is possible, not every possible one is given.
pub const MOST_STORES: usize = 256;

/// Part of a store: the bytes in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Offset by 8.
    pub(super) place: u64,
    /// Its bytes' bits.
    pub(super) mask: u64,
    /// Zero elsewhere.
    pub(super) value: u64,
    /// The store.
    pub(super) event: u32,
}

/// What one store has left in a line.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) words: Vec<Word>,
    pub(super) thread: u32,
    pub(super) around: bool,
    /// Its words survive together: several old stores in one.
    pub(super) whole: bool,
}

impl Waiting {
    fn newest(&self) -> u32 {
        self.words.iter().map(|w| w.event).max().unwrap_or(0)
    }
}

/// A line of which something waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) waiting: Vec<Waiting>,
    /// Who has flushed it since its last fence: what was stored before this event.
    flushed: Vec<(u32, u32)>,
}

/// All that waits.
#[derive(Clone, Debug)]
pub(super) struct Pending<'l> {
    log: &'l Log,
    domain: Domain,
    pub(super) lines: BTreeMap<u64, Line>,
    /// Lines that a thread's next fence is about.
    fenced: FxHashMap<u32, Vec<u64>>,
    /// With persistent caches: the lines of the last store.
    last: Vec<u64>,
    pub(super) events: usize,
}

impl<'l> Pending<'l> {
    pub(super) fn new(log: &'l Log, domain: Domain) -> Self {
        Self {
            log,
            domain,
            lines: BTreeMap::new(),
            fenced: FxHashMap::default(),
            last: Vec::new(),
            events: 0,
        }
    }

    /// The next event happens. `persistent` gets the words that become persistent by it, in their order.
    pub(super) fn step(&mut self, persistent: &mut impl FnMut(&Word)) {
        let Some(event) = self.log.events().get(self.events) else {
            return;
        };
        let number = self.events as u32;
        self.events += 1;
        for line in std::mem::take(&mut self.last) {
            self.settle(line, persistent, |w| !w.around);
        }
        let eadr = self.domain == Domain::Eadr;
        match &event.happening {
            Happening::Store {
                offset,
                bytes,
                around,
            } => self.store(
                *offset,
                self.log.stored(bytes),
                (number, event.thread),
                *around,
            ),
            Happening::Flush { .. } | Happening::FlushNow { .. } if eadr => {}
            Happening::Flush { line } => {
                if let Some(waits) = self.lines.get_mut(line) {
                    waits.flushed.push((event.thread, number));
                    self.fenced.entry(event.thread).or_default().push(*line);
                }
            }
            Happening::FlushNow { line } => self.settle(*line, persistent, |w| !w.around),
            Happening::Fence => {
                for line in self.fenced.remove(&event.thread).unwrap_or_default() {
                    self.fence(line, event.thread, persistent);
                }
            }
            Happening::Sync { offset, len } => {
                let last = offset.saturating_add(*len).div_ceil(LINE);
                let lines: Vec<u64> = (self.lines.range(offset / LINE..last.max(offset / LINE)))
                    .map(|l| *l.0)
                    .collect();
                for line in lines {
                    self.settle(line, persistent, |_| true);
                }
            }
        }
    }

    fn store(&mut self, offset: u64, bytes: &[u8], (event, thread): (u32, u32), around: bool) {
        let mut at = 0;
        while at < bytes.len() {
            let first = offset + at as u64;
            let size = (LINE - first % LINE).min((bytes.len() - at) as u64) as usize;
            let number = first / LINE;
            let line = self.lines.entry(number).or_default();
            line.waiting.push(Waiting {
                words: words(first, &bytes[at..at + size], event),
                thread,
                around,
                whole: false,
            });
            line.join_oldest();
            if around {
                self.fenced.entry(thread).or_default().push(number);
            } else if self.domain == Domain::Eadr {
                self.last.push(number);
            }
            at += size;
        }
    }

    /// `thread` fences: what it had flushed of the line is persistent.
    fn fence(&mut self, number: u64, thread: u32, persistent: &mut impl FnMut(&Word)) {
        let Some(line) = self.lines.get_mut(&number) else {
            return;
        };
        let flushed = line.flushed.iter().rev().find(|f| f.0 == thread);
        let before = flushed.map_or(0, |f| f.1);
        line.flushed.retain(|f| f.0 != thread);
        self.settle(number, persistent, |w| match w.around {
            true => w.thread == thread,
            false => w.newest() < before,
        });
    }

    fn settle(
        &mut self,
        number: u64,
        persistent: &mut impl FnMut(&Word),
        which: impl Fn(&Waiting) -> bool,
    ) {
        let Some(line) = self.lines.get_mut(&number) else {
            return;
        };
        line.settle(persistent, which);
        if line.waiting.is_empty() {
            self.lines.remove(&number);
        }
    }
}

impl Line {
    fn settle(&mut self, persistent: &mut impl FnMut(&Word), which: impl Fn(&Waiting) -> bool) {
        let mut i = 0;
        while i < self.waiting.len() {
            if !which(&self.waiting[i]) {
                i += 1;
                continue;
            }
            let done = self.waiting.remove(i);
            for word in &done.words {
                persistent(word);
                // What was stored there before, around the caches or into them, is over.
                for older in &mut self.waiting[..i] {
                    for old in older.words.iter_mut().filter(|w| w.place == word.place) {
                        old.mask &= !word.mask;
                        old.value &= !word.mask;
                    }
                }
            }
        }
    }

    /// Two of the oldest become one where there are too many, unless a fence may part them.
    fn join_oldest(&mut self) {
        if self.waiting.len() <= MOST_STORES {
            return;
        }
        let together = |w: &[Waiting]| {
            let (old, next) = (w[0].newest(), w[1].newest());
            let parted = self.flushed.iter().any(|f| old < f.1 && f.1 <= next);
            !w[0].around && !w[1].around && !parted
        };
        let Some(first) = self.waiting.windows(2).position(together) else {
            return;
        };
        let old = self.waiting.remove(first);
        let next = &mut self.waiting[first];
        next.whole = true;
        for word in old.words {
            match next.words.iter_mut().find(|w| w.place == word.place) {
                Some(over) => {
                    over.value |= word.value & !over.mask;
                    over.mask |= word.mask;
                }
                None => next.words.insert(0, word),
            }
        }
    }
}

/// The words of `bytes` at `offset`.
fn words(offset: u64, bytes: &[u8], event: u32) -> Vec<Word> {
    let mut all: Vec<Word> = Vec::with_capacity(bytes.len() / WORD as usize + 1);
    for (at, byte) in (offset..).zip(bytes) {
        let (place, shift) = (at / WORD, at % WORD * 8);
        if all.last().is_none_or(|w| w.place != place) {
            all.push(Word {
                place,
                mask: 0,
                value: 0,
                event,
            });
        }
        if let Some(word) = all.last_mut() {
            word.mask |= 0xff << shift;
            word.value |= u64::from(*byte) << shift;
        }
    }
    all
}
