//! A machine whose caches write back one word at a time, in all orders they may: slow, and with
//! nothing in common with what it is compared to but the log.

use std::collections::{BTreeSet, HashSet};

use prestore_crash::{Domain, Happening, Log};

#[derive(Clone, PartialEq, Eq, Hash)]
struct Store {
    number: usize,
    thread: u32,
    around: bool,
    line: u64,
    /// Words that are not in memory yet: offset and byte each.
    words: Vec<Vec<(usize, u8)>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    event: usize,
    /// Each byte, and the number of the store that it is of.
    memory: Vec<(u8, usize)>,
    stores: Vec<Store>,
    /// Thread, line, and the number of events by the flush.
    flushes: Vec<(u32, u64, usize)>,
}

impl State {
    fn write_back(&mut self, store: usize, word: usize) {
        let number = self.stores[store].number;
        for (at, byte) in self.stores[store].words.remove(word) {
            if self.memory[at].1 <= number {
                self.memory[at] = (byte, number);
            }
        }
    }

    fn force(&mut self, which: impl Fn(&Store) -> bool) {
        for store in 0..self.stores.len() {
            while which(&self.stores[store]) && !self.stores[store].words.is_empty() {
                self.write_back(store, 0);
            }
        }
        self.stores.retain(|s| !s.words.is_empty());
    }

    /// What the caches may do next by themselves.
    fn moves(&self) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for (i, store) in self.stores.iter().enumerate() {
            let blocked = self.stores[..i]
                .iter()
                .any(|s| s.line == store.line && !s.around);
            if store.around || !blocked {
                all.extend((0..store.words.len()).map(|w| (i, w)));
            }
        }
        all
    }

    fn execute(&mut self, log: &Log, domain: Domain) {
        let event = &log.events()[self.event];
        self.event += 1;
        let number = self.event;
        let eadr = domain == Domain::Eadr;
        if eadr {
            self.force(|s| !s.around);
        }
        match &event.happening {
            Happening::Store {
                offset,
                bytes,
                around,
            } => {
                let bytes = (*offset as usize..).zip(log.stored(bytes).iter().copied());
                let mut stores: Vec<Store> = Vec::new();
                for (at, byte) in bytes {
                    let line = at as u64 / 64;
                    if stores.last().is_none_or(|s| s.line != line) {
                        stores.push(Store {
                            number,
                            thread: event.thread,
                            around: *around,
                            line,
                            words: Vec::new(),
                        });
                    }
                    let words = &mut stores.last_mut().unwrap().words;
                    if at % 8 == 0 || words.is_empty() {
                        words.push(Vec::new());
                    }
                    words.last_mut().unwrap().push((at, byte));
                }
                self.stores.extend(stores);
            }
            Happening::Flush { line } => self.flushes.push((event.thread, *line, number)),
            Happening::FlushNow { line } => self.force(|s| !eadr && s.line == *line && !s.around),
            Happening::Fence => {
                let flushes = self.flushes.clone();
                self.force(|s| {
                    let flushed = flushes
                        .iter()
                        .any(|&(t, line, at)| t == event.thread && line == s.line && s.number < at);
                    match s.around {
                        true => s.thread == event.thread,
                        false => !eadr && flushed,
                    }
                });
                self.flushes.retain(|f| f.0 != event.thread);
            }
            Happening::Sync { offset, len } => {
                let lines = offset / 64..(offset + len).div_ceil(64);
                self.force(|s| lines.contains(&s.line));
            }
        }
    }
}

/// All that memory may hold after a power cut at any time.
pub fn possible(log: &Log, domain: Domain) -> BTreeSet<Vec<u8>> {
    let start = State {
        event: 0,
        memory: log.initial().iter().map(|b| (*b, 0)).collect(),
        stores: Vec::new(),
        flushes: Vec::new(),
    };
    let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
    let mut images = BTreeSet::new();
    while let Some(state) = open.pop() {
        images.insert(state.memory.iter().map(|b| b.0).collect());
        let mut next = Vec::new();
        for (store, word) in state.moves() {
            let mut after = state.clone();
            after.write_back(store, word);
            after.stores.retain(|s| !s.words.is_empty());
            next.push(after);
        }
        if state.event < log.events().len() {
            let mut after = state.clone();
            after.execute(log, domain);
            next.push(after);
        }
        for after in next {
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    images
}
