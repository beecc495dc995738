//! Lines that their own writers read first.
//!
//! Behind its first read since it was written a line is looked at no more (its *unread* bit is clear), so that what a thread writes
//! and reads for itself costs nothing. But threads' buffers come one by one, and who writes a word that others wait for mostly
//! reads it too, in the same buffer: all that the others get from it would be lost. So such lines are looked at once more when
//! another thread's turn comes. If that was for nothing, they are their writer's alone, for all that is known, and only one in
//! [`RARELY`] of their first reads is followed by another look, until another thread gets one.

use super::Memory;

const RARELY: u32 = 16;

/// Lines that are remembered until another thread's turn, at most.
const MOST: usize = 1 << 14;

/// What writers have read themselves since the last turn.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// The thread whose turn it is.
    turn: u32,
    private_reads: u32,
    /// Numbers of the page and of the line.
    read: Vec<(u32, u64)>,
}

impl Memory {
    /// It is the thread's turn.
    pub(crate) fn turn_of(&mut self, thread: u32) {
        if self.own.turn == thread {
            return;
        }
        self.own.turn = thread;
        for (page, line) in self.own.read.drain(..) {
            self.lines.set_unread(page as usize, line);
        }
    }

    /// The line was read by its writer, and by nobody else since it was written.
    pub(super) fn read_by_its_writer(&mut self, page: usize, line: u64) {
        if self.clocks.len() < 2 || self.own.read.len() == MOST {
            return;
        }
        if self.lines.set_private(page, line) {
            self.own.private_reads += 1;
            if !self.own.private_reads.is_multiple_of(RARELY) {
                return;
            }
        }
        self.own.read.push((page as u32, line));
    }
}
