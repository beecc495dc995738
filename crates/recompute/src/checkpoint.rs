//! P4's CP: everything is copied aside while all workers wait (2.3.7), in turn to one of two places, so that a crash
//! while one is written leaves the other.

use crate::engine::Engine;
use crate::layout::CHECKPOINT;
use crate::medium::{copy, load_word, persist_word};
use crate::{Error, Kernel, Medium, Scheme};

/// Bytes that are copied before they are flushed.
const PIECE: usize = 4096;

impl<K: Kernel, M: Medium> Engine<'_, K, M> {
    fn every(&self) -> Option<usize> {
        match self.plan.options.scheme {
            Scheme::Checkpoint { every, .. } => Some(every),
            _ => None,
        }
    }

    /// Whether one is due behind an iteration; the last needs none.
    pub(crate) fn checkpoint_is_due(&self, outer: usize) -> bool {
        let done = outer + 1;
        self.every()
            .is_some_and(|every| done.is_multiple_of(every) && done < self.plan.nest.outer)
    }

    pub(crate) fn take_checkpoint(&self, outer: usize) -> Result<(), Error> {
        let done = outer + 1;
        for (array, place) in self.plan.layout.copies(self.place_of(done)) {
            let (at, bytes) = self.plan.layout.arrays[array];
            // A piece is flushed while the caches still have it: whole arrays would leave them before.
            for start in (0..bytes).step_by(PIECE) {
                let length = PIECE.min(bytes - start);
                copy(self.medium, at + start, place + start, length);
                self.medium.flush(place + start, length);
            }
        }
        self.medium.fence()?;
        persist_word(self.medium, CHECKPOINT, done as u64)
    }

    /// Gives the iteration with which to go on.
    pub(crate) fn restore_checkpoint(&self) -> Result<usize, Error> {
        let done = load_word(self.medium, CHECKPOINT);
        if done >= self.plan.nest.outer as u64 {
            return Err(Error::Damaged(format!(
                "{}'s memory (the checkpoint is of an iteration that there is not)",
                self.plan.nest.name
            )));
        }
        let done = done as usize;
        if done == 0 {
            self.begin_again()?;
            return Ok(0);
        }
        for (array, place) in self.plan.layout.copies(self.place_of(done)) {
            if self.plan.nest.arrays[array].tiles.is_some() {
                let (at, bytes) = self.plan.layout.arrays[array];
                copy(self.medium, place, at, bytes);
            }
        }
        Ok(done)
    }

    fn place_of(&self, done: usize) -> usize {
        done / self.every().unwrap_or(1) % 2
    }
}
