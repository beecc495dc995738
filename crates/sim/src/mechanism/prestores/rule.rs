//! What is to be done where.

use prestore_trace::SiteId;

/// A pre-store operation (P0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PreStore {
    /// Write the line back, keep it.
    Clean,
    /// Move the line to a farther level.
    Demote,
    /// Write around the caches.
    Skip,
}

/// One finding's advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The store instructions it is about.
    pub sites: Vec<SiteId>,
    /// What to do with what they write.
    pub op: PreStore,
}
