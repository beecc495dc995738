//! What the analysis needs to know about code and cannot see in a trace.

use prestore_trace::{SiteId, SiteTable};

/// What kind of code a site is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteClass {
    /// The same key means the same function.
    pub function: u64,
    /// Generic code (`memcpy`, `memset`, …), whose writes are its caller's: P0, section 6.2.1.
    pub generic: bool,
}

/// Answers questions about sites.
pub trait SiteOracle {
    /// Function and kind of the code at `site`, which is in `sites`: a store, or the call
    /// instruction of a caller. Asked once a site.
    fn classify(&mut self, site: SiteId, sites: &SiteTable) -> SiteClass;
}
