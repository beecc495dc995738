//! What a power cut may leave: all that was flushed and fenced, and any part of the rest, where a line's stores arrive
//! in order and 8 bytes arrive whole or not at all.

use std::collections::BTreeMap;

use super::{Event, Random};

const LINE: usize = 64;
const WORD: usize = 8;

/// A store that has changed a word and may not be durable.
#[derive(Clone, Copy)]
struct Pending {
    number: u64,
    value: u64,
}

/// The memory's state at one moment of a log.
pub struct Crash {
    durable: Vec<u8>,
    /// By word.
    pending: BTreeMap<usize, Vec<Pending>>,
    /// By thread: words flushed, up to which store.
    flushed: Vec<Vec<(usize, u64)>>,
    stores: u64,
}

impl Crash {
    /// What is there before the log begins.
    pub fn before(durable: &[u8]) -> Crash {
        Crash {
            durable: durable.to_vec(),
            pending: BTreeMap::new(),
            flushed: Vec::new(),
            stores: 0,
        }
    }

    fn durable_word(&self, word: usize) -> u64 {
        let at = word * WORD;
        u64::from_le_bytes(self.durable[at..at + WORD].try_into().unwrap())
    }

    fn of_thread(&mut self, thread: usize) -> &mut Vec<(usize, u64)> {
        if self.flushed.len() <= thread {
            self.flushed.resize(thread + 1, Vec::new());
        }
        &mut self.flushed[thread]
    }

    /// Time goes on by one event.
    pub fn pass(&mut self, event: &Event) {
        match event {
            Event::Store { at, bytes } => self.store(*at, bytes),
            Event::Flush { thread, at, len } if *len > 0 => {
                let first = at / LINE * LINE / WORD;
                let last = (at + len).next_multiple_of(LINE) / WORD;
                let words: Vec<_> = self
                    .pending
                    .range(first..last)
                    .map(|(word, stores)| (*word, stores.last().unwrap().number))
                    .collect();
                self.of_thread(*thread).extend(words);
            }
            Event::Flush { .. } => {}
            Event::Fence { thread } => {
                for (word, number) in std::mem::take(self.of_thread(*thread)) {
                    self.arrive(word, number);
                }
            }
        }
    }

    fn store(&mut self, at: usize, bytes: &[u8]) {
        self.stores += 1;
        let mut done = 0;
        while done < bytes.len() {
            let (word, within) = ((at + done) / WORD, (at + done) % WORD);
            let part = (WORD - within).min(bytes.len() - done);
            let now = self.pending.get(&word).and_then(|stores| stores.last());
            let mut value = now
                .map_or_else(|| self.durable_word(word), |store| store.value)
                .to_le_bytes();
            value[within..within + part].copy_from_slice(&bytes[done..done + part]);
            let value = u64::from_le_bytes(value);
            let number = self.stores;
            self.pending
                .entry(word)
                .or_default()
                .push(Pending { number, value });
            done += part;
        }
    }

    fn arrive(&mut self, word: usize, number: u64) {
        let Some(stores) = self.pending.get_mut(&word) else {
            return;
        };
        let count = stores
            .iter()
            .take_while(|store| store.number <= number)
            .count();
        if count > 0 {
            let value = stores[count - 1].value;
            self.durable[word * WORD..][..WORD].copy_from_slice(&value.to_le_bytes());
            stores.drain(..count);
            if stores.is_empty() {
                self.pending.remove(&word);
            }
        }
    }

    /// An image that a power cut now may leave. Kinds 0 to 3 are the adversarial ones: nothing that is not durable has
    /// arrived, all has, every other line has; the others are random.
    pub fn image(&self, kind: usize, random: &mut Random) -> Vec<u8> {
        let mut image = self.durable.clone();
        let lines = self.pending.keys().map(|word| word / (LINE / WORD));
        let mut distinct: Vec<usize> = lines.collect();
        distinct.dedup();
        let chosen = if distinct.is_empty() {
            0
        } else {
            distinct[random.below(distinct.len())]
        };
        let (mut line, mut until) = (usize::MAX, 0);
        for (word, stores) in &self.pending {
            let this = word / (LINE / WORD);
            if this != line {
                line = this;
                let kept = match kind {
                    0 => false,
                    1 => true,
                    2 => this.is_multiple_of(2),
                    3 => !this.is_multiple_of(2),
                    4 => this == chosen,
                    5 => this != chosen,
                    _ => random.below(2) == 0,
                };
                // A line as it was after one of its stores.
                until = match kind {
                    7 => {
                        stores[0].number
                            + random.below((self.stores - stores[0].number) as usize + 2) as u64
                    }
                    _ if kept => u64::MAX,
                    _ => 0,
                };
            }
            let count = if kind == 8 {
                random.below(stores.len() + 1)
            } else {
                stores
                    .iter()
                    .take_while(|store| store.number <= until)
                    .count()
            };
            if count > 0 {
                image[word * WORD..][..WORD]
                    .copy_from_slice(&stores[count - 1].value.to_le_bytes());
            }
        }
        image
    }

    /// How many kinds of images there are.
    pub const KINDS: usize = 9;
}
