//! The directory on the device: who had exclusivity last.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Owners(BTreeMap<u64, u32>);

impl Owners {
    pub fn is(&self, core: u32, line: u64) -> bool {
        self.0.get(&line) == Some(&core)
    }

    pub fn becomes(&mut self, core: u32, line: u64) {
        self.0.insert(line, core);
    }

    /// `core` reads `line`.
    pub fn read(&mut self, core: u32, line: u64) {
        if !self.is(core, line) {
            self.0.remove(&line);
        }
    }

    pub fn forget(&mut self, is_gone: impl Fn(u64) -> bool) {
        self.0.retain(|&line, _| !is_gone(line));
    }
}
