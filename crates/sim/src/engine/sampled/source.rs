//! A source that gives units.

use crate::engine::erased::{AnySource, Failed, Kept};
use crate::{Filled, Next, Op, Source};

/// The number of the region whose beginning says that a thread has come [`TICK_OPS`] operations of the program further. Its size
/// is the thread's instructions in the program, modulo 2^32.
pub const TICK: u64 = u64::MAX;

/// Operations of the program between two of a thread's [`TICK`]s.
pub const TICK_OPS: u64 = 128;

/// A unit, as it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitAhead {
    /// Operations of it that are not measured.
    pub detail: u64,
    /// Operations of the part of the run that it stands for.
    pub stands_for: u64,
}

/// Operations of parts of a run. First [`UnitSource::next_unit`]; then, while [`UnitSource::warms`] names a thread,
/// [`Source::fill`] brings what only warms the caches; from [`UnitSource::warms`]'s first `None` on what belongs to the
/// unit, with a [`TICK`] for every [`TICK_OPS`] operations of each thread, and without waits for what other
/// threads had done before.
pub trait UnitSource: Source {
    /// Goes to the next unit; `None`: there is none.
    ///
    /// # Errors
    /// As [`Source::fill`].
    fn next_unit(&mut self) -> Result<Option<UnitAhead>, Self::Error>;

    /// Which thread's operations are warmed with next; `caches` tells how full they are so far. `None`: all have come to the
    /// unit.
    ///
    /// # Errors
    /// As [`Source::fill`].
    fn warms(&mut self, caches: &dyn Fn() -> Filled) -> Result<Option<u32>, Self::Error>;
}

/// Any of them.
pub(in crate::engine) trait AnyUnits: AnySource {
    fn next_unit(&mut self) -> Result<Option<UnitAhead>, Failed>;
    fn warms(&mut self, caches: &dyn Fn() -> Filled) -> Result<Option<u32>, Failed>;
}

impl<S: UnitSource> AnyUnits for Kept<'_, S> {
    fn next_unit(&mut self) -> Result<Option<UnitAhead>, Failed> {
        self.keep(S::next_unit)
    }

    fn warms(&mut self, caches: &dyn Fn() -> Filled) -> Result<Option<u32>, Failed> {
        self.keep(|source| source.warms(caches))
    }
}

impl Source for &mut (dyn AnyUnits + '_) {
    type Error = Failed;

    fn threads(&self) -> u32 {
        AnySource::threads(*self)
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, Failed> {
        AnySource::fill(*self, thread, ops)
    }
}
