//! Whose turn it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Time;

/// The threads that can go on, furthest behind first; among equals the lowest number, so that runs
/// are alike.
#[derive(Debug, Default)]
pub struct Ready {
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Ready {
    /// `thread` can go on; its core's clock says `at`.
    pub fn push(&mut self, at: Time, thread: u32) {
        self.heap.push(Reverse((at, thread)));
    }

    /// Takes out the thread that is furthest behind.
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        self.heap.pop().map(|Reverse(next)| next)
    }

    /// The clock of the one that is furthest behind now.
    pub fn next_clock(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }
}
