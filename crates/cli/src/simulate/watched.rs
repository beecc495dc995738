//! A source with a line on stderr.

use prestore_sim::{Next, Op, Source};

use crate::progress::Progress;

/// Counts what another source gives.
pub struct Watched<S> {
    inner: S,
    progress: Progress,
}

impl<S: Source> Watched<S> {
    /// `inner`, shown by `progress`.
    pub fn new(inner: S, progress: Progress) -> Self {
        Self { inner, progress }
    }

    /// The source.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: Source> Source for Watched<S> {
    type Error = S::Error;

    fn threads(&self) -> u32 {
        self.inner.threads()
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, S::Error> {
        let before = ops.len();
        let next = self.inner.fill(thread, ops)?;
        self.progress.add(ops.len() - before);
        Ok(next)
    }
}
