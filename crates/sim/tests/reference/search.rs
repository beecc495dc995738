//! Who has a line.

use prestore_sim::{ByteMask, MemoryPort, Time};

use super::cache::Copy;
use super::model::Reference;

/// Copies that were taken out: their dirty bytes, and when the last of them would have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    pub dirty: ByteMask,
    pub arrives: Time,
    /// When the last of those that had dirty bytes would have.
    pub dirty_arrives: Time,
    pub exclusive: bool,
    pub copies: u32,
}

impl Taken {
    pub fn add(&mut self, copy: Copy) {
        self.dirty |= copy.dirty;
        self.arrives = self.arrives.max(copy.arrives);
        if copy.dirty != 0 {
            self.dirty_arrives = self.dirty_arrives.max(copy.arrives);
        }
        self.exclusive |= copy.exclusive;
        self.copies += 1;
    }
}

impl<M: MemoryPort> Reference<M> {
    pub(super) fn copy(&self, level: usize, core: u32, line: u64) -> Option<Copy> {
        self.levels[level].caches[self.instance(level, core)].get(line)
    }

    pub(super) fn private_copies(&self, core: u32, line: u64) -> Vec<Copy> {
        (0..self.privates)
            .filter_map(|level| self.copy(level, core, line))
            .collect()
    }

    /// When `core` has got the line.
    pub(super) fn got(&self, core: u32, line: u64) -> Time {
        let copies = self.private_copies(core, line);
        copies.iter().map(|copy| copy.arrives).max().unwrap()
    }

    /// The other cores that have the line in private levels.
    pub(super) fn others(&self, core: u32, line: u64) -> Vec<u32> {
        let has = |other: &u32| !self.private_copies(*other, line).is_empty();
        (0..self.cores)
            .filter(|&other| other != core)
            .filter(has)
            .collect()
    }

    pub(super) fn exclusive_other(&self, core: u32, line: u64) -> Option<u32> {
        let owns = |other: &u32| {
            self.private_copies(*other, line)
                .iter()
                .any(|copy| copy.exclusive)
        };
        self.others(core, line).into_iter().find(owns)
    }

    /// When what is asked of these cores at `at` is answered by the first of them that has got the line.
    pub(super) fn first_answer(&self, cores: &[u32], line: u64, at: Time) -> Time {
        let got = cores
            .iter()
            .map(|&core| self.got(core, line))
            .min()
            .unwrap();
        at.max(got) + self.snoop
    }

    /// When all of these cores have given up the line.
    pub(super) fn last_answer(&self, cores: &[u32], line: u64, at: Time) -> Time {
        let got = cores
            .iter()
            .map(|&core| self.got(core, line))
            .max()
            .unwrap();
        at.max(got) + self.snoop
    }

    pub(super) fn first_shared(&self) -> Option<usize> {
        (self.privates < self.levels.len()).then_some(self.privates)
    }

    /// Takes the line out of a core's private levels.
    pub(super) fn take_private(&mut self, core: u32, line: u64) -> Taken {
        let mut taken = Taken::default();
        for level in 0..self.privates {
            if let Some(copy) = self.cache(level, core).remove(line) {
                taken.add(copy);
            }
        }
        taken
    }

    pub(super) fn is_in_private_levels(&self, line: u64) -> bool {
        (0..self.cores).any(|core| !self.private_copies(core, line).is_empty())
    }

    pub(super) fn is_anywhere(&self, line: u64) -> bool {
        let is_shared = |level| self.copy(level, 0, line).is_some();
        self.is_in_private_levels(line) || (self.privates..self.levels.len()).any(is_shared)
    }

    /// An operation is over: the directories forget what left.
    pub(super) fn end(&mut self) {
        if let Some(mut filter) = self.filter.take() {
            filter.forget(|line| !self.is_in_private_levels(line));
            self.filter = Some(filter);
        }
        if let Some(mut device) = self.device.take() {
            device.forget(|line| !self.is_anywhere(line));
            self.device = Some(device);
        }
    }
}
