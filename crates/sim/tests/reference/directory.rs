//! Who has a line, and who may have it.

use prestore_machine::DirectoryHome;
use prestore_sim::{MemoryPort, Time};

use super::Reference;
use super::levels::Taken;

/// A line that the snoop filter follows.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    line: u64,
}

impl<M: MemoryPort> Reference<M> {
    pub fn snoop(&self) -> Time {
        self.cycles(self.machine.directory.snoop)
    }

    /// Cores with private copies, without `core` itself.
    pub fn others(&self, core: u32, line: u64) -> Vec<u32> {
        let cores = 0..self.machine.core.count;
        cores
            .filter(|&other| other != core && !self.private_copies(other, line).is_empty())
            .collect()
    }

    /// Who other than `core` has it exclusive.
    pub fn exclusive_elsewhere(&self, core: u32, line: u64) -> Option<u32> {
        let others = self.others(core, line);
        others.into_iter().find(|&other| {
            let copies = self.private_copies(other, line);
            copies.iter().any(|(_, copy)| copy.exclusive)
        })
    }

    /// When a core has got a line of which it has private copies.
    pub fn has_got(&self, core: u32, line: u64) -> Time {
        let copies = self.private_copies(core, line);
        let arrivals = copies.iter().map(|(_, copy)| copy.arrives);
        arrivals.max().unwrap()
    }

    /// When a request made at `at` is answered by the first of `others` that has got the line.
    pub fn first_answers(&self, others: &[u32], line: u64, at: Time) -> Time {
        let got = others.iter().map(|&other| self.has_got(other, line));
        got.min().unwrap().max(at) + self.snoop()
    }

    /// When the copies of all `others` have gone for a request made at `at`.
    pub fn all_give_up(&self, others: &[u32], line: u64, at: Time) -> Time {
        let got = others.iter().map(|&other| self.has_got(other, line));
        got.max().unwrap().max(at) + self.snoop()
    }

    /// When, for an operation that began at `at`, nobody but `core` has the line.
    pub fn given_up(&self, core: u32, line: u64, at: Time) -> Time {
        let others = self.others(core, line);
        if others.is_empty() {
            at
        } else {
            self.all_give_up(&others, line, at)
        }
    }

    /// The private copies of `others` go.
    pub fn take_from(&mut self, others: &[u32], line: u64) -> Taken {
        let mut taken = Taken::default();
        for &other in others {
            for (level, copy) in self.private_copies(other, line) {
                self.cache_mut(level, other).take(line);
                taken.add(&copy);
            }
        }
        taken
    }

    /// Is the directory on the device?
    pub fn is_on_device(&self) -> bool {
        matches!(self.machine.directory.home, DirectoryHome::Device { .. })
    }

    /// The device knows who had exclusivity for as long as the line is in any cache.
    pub fn forget_absent(&mut self, line: u64) {
        if self.copies(line).is_empty() {
            self.exclusive_on_device.remove(&line);
        }
    }

    /// Does the directory, if it is on the device, say that a core has the line exclusive?
    pub fn device_says(&self, core: u32, line: u64) -> bool {
        !self.is_on_device() || self.exclusive_on_device.get(&line) == Some(&core)
    }

    /// A core reads: the device forgets whoever else had exclusivity. Does it let the core have the line exclusive?
    pub fn reads(&mut self, core: u32, line: u64) -> bool {
        if !self.device_says(core, line) {
            self.exclusive_on_device.remove(&line);
        }
        self.device_says(core, line)
    }

    /// A core gains exclusivity: what a device with the directory answers to a question asked at `at`, if it has
    /// to be asked.
    pub fn gains(&mut self, core: u32, line: u64, at: Time) -> Option<Time> {
        if self.device_says(core, line) {
            return None;
        }
        self.exclusive_on_device.insert(line, core);
        self.counters.coherence.device_upgrades += 1;
        Some(
            self.memory
                .upgrade(core, at, prestore_trace::LineAddr(line)),
        )
    }

    /// The snoop filter, if there is one, gets an entry for `line`, or notes that this is used. Answers when there is
    /// room for it.
    pub fn follow(&mut self, core: u32, line: u64, began: Time, at: Time) -> Time {
        let Some(filter) = self.machine.directory.filter else {
            return at;
        };
        let sets = filter.entries / u64::from(filter.ways);
        let mut entries = std::mem::take(&mut self.filter);
        // An entry whose line nobody has is empty.
        entries.retain(|entry| entry.line != line && !self.others(u32::MAX, entry.line).is_empty());
        let in_set = |entry: &&Entry| entry.line % sets == line % sets;
        let gone = (entries.iter().filter(in_set).count() == filter.ways as usize)
            .then(|| entries.iter().find(in_set).copied())
            .flatten();
        if let Some(gone) = gone {
            entries.retain(|entry| entry.line != gone.line);
        }
        entries.push(Entry { line });
        self.filter = entries;
        match gone {
            Some(gone) => self.filter_evicts(core, gone.line, began, at),
            None => at,
        }
    }

    /// A line leaves all private levels and goes on as a victim of the last of them.
    fn filter_evicts(&mut self, core: u32, line: u64, began: Time, at: Time) -> Time {
        self.counters.coherence.filter_evictions += 1;
        let level = self.last_private();
        let mut taken = Taken::default();
        for holder in self.others(u32::MAX, line) {
            for (nearer, copy) in self.private_copies(holder, line) {
                self.counters.levels[nearer].back_invalidations += 1;
                self.count_joining(nearer, &copy, level);
                self.cache_mut(nearer, holder).take(line);
                taken.add(&copy);
            }
        }
        let victim = super::victims::Victim {
            line,
            dirty: taken.dirty,
            exclusive: false,
            arrives: taken.moved(began),
        };
        self.goes_on(core, level, victim, began, at)
    }
}
