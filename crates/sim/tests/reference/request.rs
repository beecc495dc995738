//! Loads and requests for ownership.

use prestore_sim::{MemoryPort, Served, Time};

use super::Reference;
use super::prefetch::Seen;

/// What a core wants a line for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Read,
    /// To write it; `whole`: all its bytes.
    Own {
        whole: bool,
    },
}

/// A request.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    pub core: u32,
    pub line: u64,
    pub want: Want,
    /// The level that is asked first.
    pub start: usize,
    /// When it was made.
    pub began: Time,
    /// Who fetches: a prefetcher, or the core.
    pub prefetches: bool,
}

/// Where the line was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Level(usize),
    /// Another core's exclusive copy.
    Owner(u32),
    /// Other cores' shared copies.
    Sharers,
    Memory,
}

impl Asked {
    pub fn owns(&self) -> bool {
        self.want != Want::Read
    }

    pub fn is_whole(&self) -> bool {
        self.want == Want::Own { whole: true }
    }
}

impl<M: MemoryPort> Reference<M> {
    /// What a core gets that asks for a line.
    pub fn request(&mut self, core: u32, at: Time, line: u64, want: Want) -> Served {
        let start = match want {
            Want::Read => 0,
            Want::Own { .. } => self.write_level(),
        };
        let asked = Asked {
            core,
            line,
            want,
            start,
            began: at,
            prefetches: false,
        };
        self.forget_absent(line);
        let (source, waited, missed) = self.search(&asked);
        let first_use = match source {
            Source::Level(level) => self.is_hit(level, core, line),
            _ => false,
        };
        let coming = self.comes(&asked, source, waited);
        let mut served = coming.served();
        served.done = self.fill(&asked, source, &coming);
        if matches!(source, Source::Level(level) if level < self.privates()) {
            served.granted = served.done;
        }
        for (level, slot) in missed {
            if let Some(mshrs) = self.mshrs_of(level, core) {
                mshrs.hold(slot, served.done);
            }
        }
        if !(asked.is_whole() && source == Source::Memory) {
            let seen = Seen {
                first_use,
                missed: source != Source::Level(start),
                beyond: !matches!(source, Source::Level(level) if level <= self.last_private()),
            };
            self.prefetch(core, at, line, seen);
        }
        served
    }

    /// Goes from level to level. Answers where the line is, from when on the request was under way after it had
    /// waited for `mshrs`, and which of those it holds.
    fn search(&mut self, asked: &Asked) -> (Source, Time, Vec<(usize, usize)>) {
        let (core, line) = (asked.core, asked.line);
        let (mut at, mut held) = (asked.began, Vec::new());
        for level in asked.start..=self.last() {
            if level >= self.privates() {
                // Nobody's private level has it: before shared ones are looked at, whoever has it exclusive.
                if let Some(owner) = self.exclusive_elsewhere(core, line) {
                    return (Source::Owner(owner), at, held);
                }
            }
            let is_here = self.has(level, core, line);
            let counters = &mut self.counters.levels[level];
            let counter = match (asked.owns(), is_here) {
                (false, true) => &mut counters.load_hits,
                (false, false) => &mut counters.load_misses,
                (true, true) => &mut counters.own_hits,
                (true, false) => &mut counters.own_misses,
            };
            *counter += 1;
            if is_here {
                return (Source::Level(level), at, held);
            }
            if let Some(mshrs) = self.mshrs_of(level, core) {
                let (slot, free) = mshrs.first();
                at = at.max(free);
                held.push((level, slot));
            }
        }
        if let Some(owner) = self.exclusive_elsewhere(core, line) {
            return (Source::Owner(owner), at, held);
        }
        if self.others(core, line).is_empty() {
            (Source::Memory, at, held)
        } else {
            (Source::Sharers, at, held)
        }
    }

    /// A request hits a copy: is it the first use of a prefetched line?
    fn is_hit(&mut self, level: usize, core: u32, line: u64) -> bool {
        let copy = self.cache_mut(level, core).find_mut(line).unwrap();
        let first_use = std::mem::take(&mut copy.prefetched);
        self.counters.prefetches.useful += u64::from(first_use);
        first_use
    }
}
