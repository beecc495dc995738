//! The directory on the device: which core has a line for its own.

use rustc_hash::FxHashMap;

/// As long as a line is in any cache, the device remembers who had it for its own last.
#[derive(Clone, Debug, Default)]
pub(super) struct Grants {
    lines: FxHashMap<u64, u32>,
    /// Lines that may be in no cache any more.
    leaving: Vec<u64>,
}

impl Grants {
    /// Is `line` `core`'s own?
    #[inline]
    pub(super) fn is_core(&self, line: u64, core: u32) -> bool {
        self.lines.get(&line) == Some(&core)
    }

    /// `line` becomes `core`'s own; was it before?
    pub(super) fn give(&mut self, line: u64, core: u32) -> bool {
        self.lines.insert(line, core) == Some(core)
    }

    /// `line` is nobody's own.
    pub(super) fn remove(&mut self, line: u64) {
        self.lines.remove(&line);
    }

    /// A cache lost `line`.
    pub(super) fn leaving(&mut self, line: u64) {
        if self.lines.contains_key(&line) {
            self.leaving.push(line);
        }
    }

    /// The next line to look for in caches.
    #[inline]
    pub(super) fn left(&mut self) -> Option<u64> {
        self.leaving.pop()
    }
}
