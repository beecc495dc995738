//! A source that tells how far it is.

use prestore_sim::{Next, Op, Source};

/// Tells `watch` how many operations another source gave.
pub(crate) struct Watched<S, W> {
    inner: S,
    watch: W,
}

impl<S: Source, W: FnMut(usize)> Watched<S, W> {
    pub(crate) fn new(inner: S, watch: W) -> Self {
        Self { inner, watch }
    }

    /// The source.
    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S: Source, W: FnMut(usize)> Source for Watched<S, W> {
    type Error = S::Error;

    fn threads(&self) -> u32 {
        self.inner.threads()
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, S::Error> {
        let before = ops.len();
        let next = self.inner.fill(thread, ops)?;
        (self.watch)(ops.len() - before);
        Ok(next)
    }
}
