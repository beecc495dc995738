//! Which part of a run is measured. What comes before warms the caches up.

use std::fmt;

/// Which part of a run is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interest {
    /// All of it.
    #[default]
    All,
    /// While a source region of this number is open in some thread.
    Region(u64),
    /// While any source region is open in some thread.
    AnyRegion,
}

impl fmt::Display for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Region(id) => write!(f, "region {id}"),
            Self::AnyRegion => f.write_str("any region"),
        }
    }
}

/// Follows the regions that are open.
#[derive(Debug)]
pub struct Window {
    interest: Interest,
    /// Operations still to pass before anything is measured.
    warmup: u64,
    /// Regions of interest open, by thread: they nest.
    open: Vec<u32>,
    open_in_all: u32,
    /// Regions that opened, for the error that names them; the first few.
    seen: Vec<u64>,
    begun: bool,
}

/// Regions that an error names.
const MOST_SEEN: usize = 16;

impl Window {
    /// A window for `threads` threads. The first `warmup` operations are not measured.
    pub fn new(interest: Interest, warmup: u64, threads: u32) -> Self {
        Self {
            interest,
            warmup,
            open: vec![0; threads as usize],
            open_in_all: 0,
            seen: Vec::new(),
            begun: false,
        }
    }

    /// A region opens in `thread`.
    pub fn region_begins(&mut self, thread: u32, id: u64) {
        if self.seen.len() < MOST_SEEN && !self.seen.contains(&id) {
            self.seen.push(id);
        }
        if self.wants(id) {
            self.open[thread as usize] += 1;
            self.open_in_all += 1;
        }
    }

    /// A region closes in `thread`. One whose opening the trace does not have is ignored.
    pub fn region_ends(&mut self, thread: u32, id: u64) {
        let wanted = self.wants(id);
        let open = &mut self.open[thread as usize];
        if wanted && *open > 0 {
            *open -= 1;
            self.open_in_all -= 1;
        }
    }

    /// `thread` ends, and with it the regions that it left open.
    pub fn thread_ends(&mut self, thread: u32) {
        let open = std::mem::take(&mut self.open[thread as usize]);
        self.open_in_all -= open;
    }

    /// So many operations passed.
    pub fn pass(&mut self, ops: u64) {
        self.warmup = self.warmup.saturating_sub(ops);
    }

    /// Is what happens now measured?
    pub fn wanted(&self) -> bool {
        self.warmup == 0 && (self.interest == Interest::All || self.open_in_all > 0)
    }

    /// Measuring began.
    pub fn began(&mut self) {
        self.begun = true;
    }

    /// Did measuring ever begin?
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Regions that opened, the first few.
    pub fn seen(&self) -> &[u64] {
        &self.seen
    }

    fn wants(&self, id: u64) -> bool {
        match self.interest {
            Interest::All => false,
            Interest::Region(wanted) => wanted == id,
            Interest::AnyRegion => true,
        }
    }
}
