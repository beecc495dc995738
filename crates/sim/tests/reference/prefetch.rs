//! Prefetchers.

use prestore_sim::{MemoryPort, Time};
use prestore_trace::LineAddr;

use super::model::{Reference, Stream};

impl<M: MemoryPort> Reference<M> {
    /// After a request answered by `level`; `missed`: not by the first level it asked.
    pub fn prefetch_after(&mut self, core: u32, at: Time, line: u64, missed: bool, level: usize) {
        let first_use = std::mem::take(&mut self.first_use);
        self.counters.prefetches.useful += u64::from(first_use);
        let settings = self.machine.core.prefetch;
        let page = 4096 / self.machine.line.0;
        let stride = if (missed || first_use) && settings.stride_streams > 0 {
            self.stride(core, line, line / page, settings.stride_streams as usize)
        } else {
            None
        };
        let degree = i64::from(settings.stride_degree);
        let left_private = level >= self.privates.max(1);
        if settings.next_line && left_private && (line + 1) / page == line / page {
            let fetched = self.prefetch(core, at, line + 1);
            self.counters.prefetches.next_line += u64::from(fetched);
        }
        let mut fetched = 0;
        for step in 1..=degree {
            let Some(stride) = stride else {
                break;
            };
            if settings.stride_step > 0 && fetched == settings.stride_step {
                break;
            }
            let ahead = line as i64 + stride * step;
            let known = &self.streams[core as usize].last().unwrap().known;
            if ahead >= 0 && ahead as u64 / page == line / page && !known.contains(&ahead) {
                let into = self.privates.max(1) - 1;
                if self.no_slot(into, core, at) {
                    break;
                }
                fetched += u32::from(self.prefetch(core, at, ahead as u64));
                let stream = self.streams[core as usize].last_mut().unwrap();
                stream.known.push(ahead);
            }
        }
        self.counters.prefetches.stride += u64::from(fetched);
    }

    /// The distance that was seen twice in a row in this page.
    fn stride(&mut self, core: u32, line: u64, page: u64, limit: usize) -> Option<i64> {
        let streams = &mut self.streams[core as usize];
        let Some(at) = streams.iter().position(|s| s.page == page) else {
            if streams.len() == limit {
                streams.remove(0);
            }
            streams.push(Stream {
                page,
                last: line,
                distance: 0,
                known: Vec::new(),
            });
            return None;
        };
        let mut stream = streams.remove(at);
        let distance = line as i64 - stream.last as i64;
        let confirmed = distance == stream.distance;
        if distance != 0 {
            stream.last = line;
            stream.distance = distance;
            if !confirmed {
                stream.known.clear();
            }
        }
        streams.push(stream);
        (confirmed && distance != 0).then_some(distance)
    }

    fn no_slot(&mut self, level: usize, core: u32, at: Time) -> bool {
        let slots = &self.cache(level, core).misses;
        (slots.as_ref()).is_some_and(|s| s.iter().all(|&until| until > at))
    }

    fn prefetch(&mut self, core: u32, at: Time, line: u64) -> bool {
        let into = self.privates.max(1) - 1;
        let mine = (0..self.levels().min(self.privates.max(1)))
            .any(|level| self.copy(level, core, line).is_some());
        let shared = (self.privates..self.levels()).find(|&l| self.copy(l, core, line).is_some());
        let held = !self.holders(line, Some(core)).is_empty();
        if mine || self.owner(line, core).is_some() || (held && shared.is_none()) {
            return false;
        }
        if self.no_slot(into, core, at) {
            return false;
        }
        let (done, from) = if let Some(level) = shared {
            (self.use_copy(level, core, at, line), level)
        } else {
            let asked = at + self.last_latency();
            let (done, _) = self.memory.read(core, asked, LineAddr(line));
            (done, self.levels())
        };
        self.now = done;
        if let Some(slots) = &mut self.cache(into, core).misses {
            slots.sort();
            slots[0] = done;
        }
        self.up(into, from);
        let exclusive = self.read_gives_exclusive(core, line);
        let dirty = self.leave_exclusive_level(core, line, into, shared, exclusive);
        self.share(core, line, None);
        if into < self.privates {
            self.follow(core, line);
        }
        self.fill(core, line, into, from, dirty, exclusive);
        if let Some(copy) = self.cache(into, core).get_mut(line) {
            copy.prefetched = true;
        }
        self.tidy_granted();
        true
    }
}
