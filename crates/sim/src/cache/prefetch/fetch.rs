//! A prefetch on its way.

use prestore_trace::LineAddr;

use crate::cache::hierarchy::Hierarchy;
use crate::cache::movement::Bring;
use crate::doors::Probe;
use crate::{MemoryPort, Time};

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// Fetches a line into level `into`, unless the core has it, or another core does and no shared
    /// level, or the level has no miss slot free.
    pub(super) fn prefetch(&mut self, core: u32, at: Time, line: u64, into: usize) -> bool {
        if self.levels[into].find(core, line).is_some() {
            return false;
        }
        self.victim_soon(core, line);
        let held = self.directory.get(line);
        let others = held.others(core);
        if held != others || others.exclusive || self.levels[into].miss_from(core, at) > at {
            return false;
        }
        let last = self.levels.len();
        let hit = (self.privates..last)
            .find_map(|level| Some((level, self.levels[level].find(core, line)?)));
        let (done, from) = match hit {
            Some((level, place)) => (self.levels[level].hit(place, at).0, level),
            None if others.cores != 0 => return false,
            None => {
                let asked = at + self.last_latency;
                (self.memory.read(core, asked, LineAddr(line)).0, last)
            }
        };
        let mut tx = self.begin(core, at);
        tx.now = done;
        self.levels[into].miss_until(core, done);
        self.count_up(into, from);
        let filled = self.bring(
            &mut tx,
            line,
            Bring {
                start: into,
                from,
                place: hit.map(|(_, place)| place),
                dirty: 0,
                own: false,
                others,
            },
        );
        if let Some(place) = filled {
            self.levels[into].mark_prefetched(place);
        }
        self.end(tx);
        true
    }
}
