//! What answers at once, in place of caches and memories.

use prestore_sim::{
    Below, ByteMask, Flushed, Hierarchy, Latencies, LineState, MemoryPort, Op, Sent, Served,
    ServedBy, Stored, SystemCounts, Time, Uncore,
};
use prestore_trace::{FlushKind, LineAddr};

/// All lines are in the nearest cache, owned.
pub struct Nothing;

impl Below for Nothing {
    fn load(&mut self, _: u32, at: Time, _: LineAddr) -> Served {
        Served {
            done: at + Time(1900),
            granted: at + Time(1900),
            by: ServedBy::Cache(0),
        }
    }

    fn owned(&self, _: u32, _: LineAddr) -> bool {
        true
    }

    fn own(&mut self, core: u32, at: Time, line: LineAddr, _: bool) -> Served {
        self.load(core, at, line)
    }

    fn write(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        at
    }

    fn write_around(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: &[Stored]) -> Time {
        at
    }

    fn flush(&mut self, _: u32, at: Time, _: LineAddr, _: FlushKind, _: bool) -> Flushed {
        Flushed {
            done: at,
            state: LineState::Dirty,
        }
    }

    fn demote(&mut self, _: u32, at: Time, _: LineAddr) -> Time {
        at
    }
}

/// Reads take as long as on an idle DIMM, writes nothing.
pub struct NullMemory;

impl MemoryPort for NullMemory {
    fn read(&mut self, _: u32, at: Time, _: LineAddr) -> (Time, u8) {
        (at + Time(170_000), 0)
    }

    fn write(&mut self, _: u32, at: Time, _: LineAddr, _: ByteMask, _: Sent) -> Time {
        at
    }

    fn upgrade(&mut self, _: u32, at: Time, _: LineAddr) -> Time {
        at
    }
}

/// Caches alone.
pub struct Caches(pub Hierarchy<NullMemory>);

impl Below for Caches {
    #[inline]
    fn load(&mut self, core: u32, at: Time, line: LineAddr) -> Served {
        self.0.load(core, at, line)
    }

    #[inline]
    fn owned(&self, core: u32, line: LineAddr) -> bool {
        self.0.owned(core, line)
    }

    #[inline]
    fn own(&mut self, core: u32, at: Time, line: LineAddr, whole: bool) -> Served {
        self.0.own(core, at, line, whole)
    }

    #[inline]
    fn write(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.0.write(core, at, line, bytes, by)
    }

    #[inline]
    fn write_around(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        bytes: ByteMask,
        by: &[Stored],
    ) -> Time {
        self.0.write_around(core, at, line, bytes, by)
    }

    #[inline]
    fn flush(&mut self, core: u32, at: Time, l: LineAddr, k: FlushKind, retain: bool) -> Flushed {
        self.0.flush(core, at, l, k, retain)
    }

    #[inline]
    fn demote(&mut self, core: u32, at: Time, line: LineAddr) -> Time {
        self.0.demote(core, at, line)
    }
}

/// Nothing to place, drain or count.
macro_rules! counts_nothing {
    ($type:ty) => {
        impl Uncore for $type {
            fn allocated(&mut self, _: u32, _: Time, _: &Op) {}

            fn freed(&mut self, _: u32, _: Time, _: u64) {}

            fn drain(&mut self, _: Time) {}

            fn counts(&self) -> SystemCounts {
                SystemCounts::default()
            }

            fn read_latencies(&self) -> Vec<Latencies> {
                Vec::new()
            }
        }
    };
}

counts_nothing!(Nothing);
counts_nothing!(Caches);
