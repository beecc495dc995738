//! Whose turn it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Time;

/// The threads that have something to do, furthest behind first; among equals the lowest number, so that
/// runs are alike.
#[derive(Debug)]
pub struct Ready {
    /// Times and threads, and which entry of its thread each is.
    heap: BinaryHeap<Reverse<(Time, u32, u32)>>,
    /// A thread each: its entry that counts. Older ones were overtaken.
    current: Vec<u32>,
}

impl Ready {
    /// Nobody, of `threads` threads.
    pub fn new(threads: usize) -> Self {
        Self {
            heap: BinaryHeap::new(),
            current: vec![0; threads],
        }
    }

    /// `thread` has something to do at `at`, and nothing before.
    pub fn push(&mut self, at: Time, thread: u32) {
        let current = &mut self.current[thread as usize];
        *current = current.wrapping_add(1);
        self.heap.push(Reverse((at, thread, *current)));
    }

    /// Takes out the thread that is furthest behind.
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        self.drop_overtaken();
        self.heap.pop().map(|Reverse((at, thread, _))| (at, thread))
    }

    /// The clock of the one that is furthest behind now.
    pub fn next_clock(&mut self) -> Option<Time> {
        self.drop_overtaken();
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    #[inline]
    fn drop_overtaken(&mut self) {
        while let Some(Reverse((_, thread, entry))) = self.heap.peek()
            && self.current[*thread as usize] != *entry
        {
            self.heap.pop();
        }
    }
}
