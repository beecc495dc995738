//! At the private caches.

use prestore_trace::{FlushKind, LineAddr};

use crate::{ByteMask, Flushed, Hint, Stored, Time};

/// How stores changed a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// In the cache: the line is dirty.
    Cached,
    /// In the cache, if it was there, and in memory (write-through).
    Through,
    /// In memory (non-temporal, write-combining, uncacheable); no cache has the line.
    Around,
}

/// Another core asks for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which core asks.
    pub by: u32,
    /// When it asks.
    pub at: Time,
    /// For which line.
    pub line: LineAddr,
    /// To do what.
    pub asks: Asks,
}

/// What a core wants of a line that others have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// To read it: who has it exclusive shares it from then on.
    Read,
    /// To write it: all others lose it.
    Own,
    /// To have what is dirty of it in memory: who has it exclusive keeps it, clean.
    Clean,
    /// The same: all lose it.
    Flush,
}

impl Asks {
    /// Does only who has the line exclusive lose anything?
    pub(crate) fn leaves_shared_alone(self) -> bool {
        matches!(self, Self::Read | Self::Clean)
    }
}

/// Why a line left a private cache (or its dirty bytes did, and it stayed).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// Another line took its place.
    Evicted,
    /// A level beyond that includes this one, or the snoop filter, gave it up.
    BackInvalidated,
    /// This core reads it: it stays, shared and clean.
    Downgraded(u32),
    /// This core writes it.
    Invalidated(u32),
    /// It was flushed, written around or changed its memory type, by this core.
    Flushed(u32),
    /// It was cleaned by this core, and stays.
    Cleaned(u32),
    /// It was demoted to the shared level.
    Demoted,
}

/// A line that left a private cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Whose cache.
    pub core: u32,
    /// Which level, 0 the nearest.
    pub level: u8,
    /// When.
    pub at: Time,
    /// The line.
    pub line: LineAddr,
    /// Its bytes that were dirty there.
    pub dirty: ByteMask,
    /// Why.
    pub why: Left,
}

/// What a probe wants done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Orders {
    /// Write the line back now; `true`: it stays in the caches.
    pub write_back: Option<bool>,
    /// Tell the memory controllers.
    pub hint: Option<Hint>,
}

/// Watches the private caches of all cores, and acts there.
///
/// Calls come in the order in which the simulation comes to them, which is nearly that of time. All that is not
/// of interest need not be written.
pub trait Probe {
    /// Is there anything? Where not, none of its calls is compiled in.
    const ACTIVE: bool = true;

    /// Stores of `core` changed `line`, done at `at`; `by` names them, oldest first.
    fn changed(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        how: Changed,
        by: &[Stored],
    ) -> Orders {
        let _ = (core, at, line, how, by);
        Orders::default()
    }

    /// What [`Orders::write_back`] asked for is done when `flushed` says.
    fn written_back(&mut self, core: u32, line: LineAddr, flushed: Flushed) {
        let _ = (core, line, flushed);
    }

    /// A flush of `core` comes to its caches. Answers when it is done, if the probe takes it; else it goes on.
    fn flush(&mut self, core: u32, at: Time, line: LineAddr, kind: FlushKind) -> Option<Time> {
        let _ = (core, at, line, kind);
        None
    }

    /// A line left a private cache.
    fn left(&mut self, departure: &Departure) {
        let _ = departure;
    }

    /// `holder` has the line of `request`. Answers when it is to be asked again, later than now, if it refuses.
    /// A core that is refused waits; the holder keeps its line.
    fn refuses(&mut self, holder: u32, request: &Request) -> Option<Time> {
        let _ = (holder, request);
        None
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const ACTIVE: bool = false;
}

impl<P: Probe> Probe for &mut P {
    const ACTIVE: bool = P::ACTIVE;

    fn changed(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        how: Changed,
        by: &[Stored],
    ) -> Orders {
        (**self).changed(core, at, line, how, by)
    }

    fn written_back(&mut self, core: u32, line: LineAddr, flushed: Flushed) {
        (**self).written_back(core, line, flushed);
    }

    fn flush(&mut self, core: u32, at: Time, line: LineAddr, kind: FlushKind) -> Option<Time> {
        (**self).flush(core, at, line, kind)
    }

    fn left(&mut self, departure: &Departure) {
        (**self).left(departure);
    }

    fn refuses(&mut self, holder: u32, request: &Request) -> Option<Time> {
        (**self).refuses(holder, request)
    }
}
