//! Where operations come from.

use crate::Op;

/// The operations of all threads of a run, each thread's in its order.
///
/// A hand-off's number is published by one [`crate::OpKind::HandOff`] and awaited by at most one
/// [`crate::OpKind::Await`]: what several threads wait for is as many hand-offs.
pub trait Source {
    /// Why operations could not be had (a damaged recording, say).
    type Error;

    /// How many threads there are; each gets a core.
    fn threads(&self) -> u32;

    /// Appends the next operations of `thread` to `ops` (at least one, some thousands at most), or
    /// says that there are no more.
    ///
    /// # Errors
    /// The recording is damaged from here on.
    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Self::Error>;
}

/// What [`Source::fill`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It appended operations.
    More,
    /// The thread is at its end; it had executed this many instructions.
    End {
        /// Instructions.
        instrs: u64,
    },
}
