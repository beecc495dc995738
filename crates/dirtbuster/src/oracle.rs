//! What the analysis needs to know about code and cannot see in a trace.

use prestore_trace::SiteId;
use prestore_trace::block::BlockTable;

/// What kind of code a site is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SiteClass {
    /// The same key means the same function.
    pub function: u64,
    /// Generic code (`memcpy`, `memset`, …), whose writes are its caller's: P0, section 6.2.1.
    pub generic: bool,
}

/// Answers questions about sites; asked once a site.
pub trait SiteOracle {
    /// Function and kind of the code at `site`: a store, or the call instruction of a caller.
    fn classify(&mut self, site: SiteId) -> SiteClass;

    /// The site of the code at absolute address `pc` of the process that `table` describes.
    fn site_at(&mut self, table: &BlockTable, pc: u64) -> SiteId;
}
