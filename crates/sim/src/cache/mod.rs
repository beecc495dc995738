//! Caches and coherence: `rules.md` says what happens, the rest makes it fast.

mod coherence;
mod copy;
mod counters;
mod directory;
mod error;
mod filled;
mod filter;
mod geometry;
mod grants;
mod hierarchy;
mod leaver;
mod level;
mod movement;
mod prefetch;
mod replacement;
mod request;
mod signatures;
mod slots;
mod table;
mod transaction;
mod typed;
mod watched;
mod write_back;

pub use counters::{
    BoundaryCounters, CoherenceCounters, FlushCounters, HierarchyCounters, LevelCounters,
    PrefetchCounters,
};
pub use error::HierarchyError;
pub use filled::Filled;
pub use hierarchy::Hierarchy;
