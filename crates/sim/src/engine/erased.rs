//! A source and a mechanism whose types are not known when the simulator is compiled.
//!
//! What is generic is compiled where it is used, in as many units as that crate has, and small functions of one
//! unit are calls from another. A run with nothing plugged in is compiled here, once and as a whole: it asks source and
//! mechanism through these, a call a batch of operations.

use crate::mechanism::Mechanism;
use crate::{Next, Op, Source};

/// The source has failed; why is kept beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

/// Any source.
pub(super) trait AnySource {
    fn threads(&self) -> u32;
    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Failed>;
}

/// A source, and why it failed, once it has.
pub(super) struct Kept<'a, S: Source> {
    pub(super) source: &'a mut S,
    error: Option<S::Error>,
}

impl<'a, S: Source> Kept<'a, S> {
    pub fn new(source: &'a mut S) -> Self {
        Self {
            source,
            error: None,
        }
    }

    /// What the source says, and why it failed if it does.
    pub fn keep<T>(
        &mut self,
        ask: impl FnOnce(&mut S) -> Result<T, S::Error>,
    ) -> Result<T, Failed> {
        ask(self.source).map_err(|error| {
            self.error = Some(error);
            Failed
        })
    }

    /// Why it failed.
    pub fn error(self) -> Option<S::Error> {
        self.error
    }
}

impl<S: Source> AnySource for Kept<'_, S> {
    fn threads(&self) -> u32 {
        self.source.threads()
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Failed> {
        self.keep(|source| source.fill(thread, ops))
    }
}

impl Source for &mut dyn AnySource {
    type Error = Failed;

    fn threads(&self) -> u32 {
        AnySource::threads(*self)
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Failed> {
        AnySource::fill(*self, thread, ops)
    }
}

/// Any mechanism.
pub(super) trait AnyMechanism {
    fn rewrites(&self) -> bool;
    fn name(&self) -> &str;
    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>);
    fn end(&mut self, thread: u32, out: &mut Vec<Op>);
}

impl<M: Mechanism> AnyMechanism for M {
    fn rewrites(&self) -> bool {
        M::REWRITES
    }

    fn name(&self) -> &str {
        Mechanism::name(self)
    }

    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>) {
        Mechanism::ops(self, thread, input, out);
    }

    fn end(&mut self, thread: u32, out: &mut Vec<Op>) {
        Mechanism::end(self, thread, out);
    }
}
