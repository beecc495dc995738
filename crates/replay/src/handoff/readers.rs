//! Threads of a recording, read ahead of the walk over all of them on as many processors as there are.
//!
//! What is read of a thread does not depend on when, so that the walk sees the same on any host. A thread is read from when the
//! walk has come to its beginning: those that begin later take no memory before.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use prestore_trace::container::Decoder;

use super::places::Seen;
use super::scan::{Chunk, Scanner};
use crate::SourceError;

/// Items of a thread that wait for the walk, and a chunk's more, and chunks (most have few items).
const ITEMS: usize = 16 << 10;
const CHUNKS: usize = 4 << 10;

/// All threads, and what was read of them and not shown yet.
pub(super) struct Readers<'a, 't> {
    state: Mutex<State<'t>>,
    /// Where threads may meet.
    seen: &'a Seen,
    /// There is something to read.
    room: Condvar,
    /// Something was read.
    read: Condvar,
}

struct State<'t> {
    threads: Vec<Reading<'t>>,
    /// The walk has gone, or a reader has failed.
    over: bool,
}

struct Reading<'t> {
    /// None: somebody reads it, or it has ended.
    scanner: Option<Scanner<'t>>,
    begun: bool,
    ended: bool,
    waiting: VecDeque<Result<Chunk, SourceError>>,
    /// In all of those.
    items: usize,
}

impl<'t> Reading<'t> {
    /// Is it time to read more of it?
    fn wants(&self) -> bool {
        self.begun && self.scanner.is_some() && self.items < ITEMS && self.waiting.len() < CHUNKS
    }

    /// `scanner` has brought that.
    fn back(&mut self, scanner: Scanner<'t>, chunk: &Result<Option<Chunk>, SourceError>) {
        self.ended = !matches!(chunk, Ok(Some(_)));
        self.scanner = (!self.ended).then_some(scanner);
    }
}

impl<'t> State<'t> {
    /// The thread to go on with: of those that have begun, the one of which the least waits.
    fn next(&mut self) -> Option<(usize, Scanner<'t>)> {
        let all = self.threads.iter_mut().enumerate();
        let wanting = all.filter(|(_, of)| of.wants());
        let (thread, of) = wanting.min_by_key(|(_, of)| of.waiting.len())?;
        Some((thread, of.scanner.take()?))
    }
}

impl<'a, 't> Readers<'a, 't> {
    pub(super) fn new(scanners: Vec<Scanner<'t>>, seen: &'a Seen) -> Self {
        let threads = scanners.into_iter().map(|scanner| Reading {
            scanner: Some(scanner),
            begun: false,
            ended: false,
            waiting: VecDeque::new(),
            items: 0,
        });
        Self {
            state: Mutex::new(State {
                threads: threads.collect(),
                over: false,
            }),
            seen,
            room: Condvar::new(),
            read: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<'t>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads ahead until the walk is over.
    pub(super) fn read_ahead(&self, mut decoder: Decoder) {
        let _over = Over(self);
        let mut state = self.lock();
        while !state.over {
            let Some((thread, mut scanner)) = state.next() else {
                state = (self.room.wait(state)).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let chunk = scanner.next(&mut decoder, self.seen);
            state = self.lock();
            let of = &mut state.threads[thread];
            of.back(scanner, &chunk);
            if let Ok(Some(chunk)) = &chunk {
                of.items += chunk.items.len();
            }
            of.waiting.extend(chunk.transpose());
            self.read.notify_one();
        }
    }

    /// What comes next of `thread`; `None` at its end.
    pub(super) fn next(
        &self,
        thread: usize,
        decoder: &mut Decoder,
    ) -> Result<Option<Chunk>, SourceError> {
        let mut state = self.lock();
        loop {
            let of = &mut state.threads[thread];
            if !of.begun {
                of.begun = true;
                self.room.notify_one();
            }
            if let Some(chunk) = of.waiting.pop_front() {
                of.items -= chunk.as_ref().map_or(0, |chunk| chunk.items.len());
                self.room.notify_one();
                return chunk.map(Some);
            }
            if of.ended {
                return Ok(None);
            }
            if let Some(mut scanner) = of.scanner.take() {
                // Nobody reads it: done here, sooner than asked for.
                drop(state);
                let chunk = scanner.next(decoder, self.seen);
                self.lock().threads[thread].back(scanner, &chunk);
                self.room.notify_one();
                return chunk;
            }
            if state.over {
                // A reader panicked, which is passed on when it is joined.
                return Ok(None);
            }
            state = (self.read.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When each thread's first stretch begins (0: not known).
    pub(super) fn begins(&self) -> Vec<u64> {
        let state = self.lock();
        let scanners = state.threads.iter().map(|of| of.scanner.as_ref());
        scanners.map(|s| s.map_or(0, Scanner::begins)).collect()
    }
}

/// Tells all others, when it goes, that it is over.
pub(super) struct Over<'r, 'a, 't>(pub(super) &'r Readers<'a, 't>);

impl Drop for Over<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.room.notify_all();
        self.0.read.notify_all();
    }
}
