//! Prefetchers into the last private level: next line, and streams of constant stride.

use prestore_machine::Machine;
use prestore_trace::LineAddr;

use super::hierarchy::Hierarchy;
use super::movement::Bring;
use crate::divide::Divisor;
use crate::doors::Probe;
use crate::{MemoryPort, Time};

/// A prefetcher never leaves the page of what it saw: what follows may be elsewhere in memory.
const PAGE: u64 = 4096;

/// Lines of a stream that the host is told of ahead, at most.
const MOST_HINTS: u32 = 4;

/// The prefetchers of all cores.
#[derive(Clone, Debug)]
pub(super) struct Prefetchers {
    next_line: bool,
    /// The level that is filled.
    into: usize,
    /// Lines of a page.
    page: Divisor,
    limit: usize,
    degree: i64,
    /// Lines fetched each time a stream is confirmed.
    step: u32,
    /// A core each, the most recently used stream first.
    streams: Vec<Vec<Stream>>,
}

/// What is known of one page.
#[derive(Clone, Copy, Debug)]
struct Stream {
    page: u64,
    last: u64,
    stride: i64,
    /// The line up to which it was fetched, or found to be there, with this stride.
    reached: u64,
}

impl Prefetchers {
    /// `None` where a machine has them off.
    pub(super) fn new(machine: &Machine, into: usize) -> Option<Self> {
        let on = machine.core.prefetch;
        let stride = on.stride_streams > 0 && on.stride_degree > 0;
        (on.next_line || stride).then(|| Self {
            next_line: on.next_line,
            into,
            page: Divisor::new(PAGE / machine.line.0),
            limit: on.stride_streams as usize,
            degree: i64::from(on.stride_degree),
            step: match on.stride_step {
                0 => on.stride_degree,
                step => step,
            },
            streams: vec![Vec::new(); machine.core.count as usize],
        })
    }

    /// A request for `line`; answers the stride that it confirmed, and how far its stream reaches.
    fn confirmed(&mut self, core: u32, line: u64) -> Option<(i64, u64)> {
        if self.limit == 0 || self.degree == 0 {
            return None;
        }
        let page = self.page.quotient(line);
        let streams = &mut self.streams[core as usize];
        let Some(at) = streams.iter().position(|s| s.page == page) else {
            streams.truncate(self.limit - 1);
            let last = line;
            streams.insert(
                0,
                Stream {
                    page,
                    last,
                    stride: 0,
                    reached: line,
                },
            );
            return None;
        };
        streams[..=at].rotate_right(1);
        let stream = &mut streams[0];
        let stride = line.wrapping_sub(stream.last) as i64;
        if stride == 0 {
            return None;
        }
        let confirmed = stride == stream.stride;
        stream.last = line;
        stream.stride = stride;
        let passed = (line.wrapping_sub(stream.reached) as i64).signum() == stride.signum();
        if !confirmed || passed {
            stream.reached = line;
        }
        confirmed.then_some((stride, stream.reached))
    }

    fn same_page(&self, one: u64, other: u64) -> bool {
        self.page.quotient(one) == self.page.quotient(other)
    }
}

impl<M: MemoryPort, P: Probe> Hierarchy<M, P> {
    /// The first use of a prefetched line in the nearest level.
    #[inline(never)]
    pub(super) fn prefetched_hit(&mut self, core: u32, at: Time, line: u64) {
        self.train(core, at, line, (false, true), 0);
    }

    /// After a request for `line`, answered by `level`: what the prefetchers make of it. `missed`:
    /// the first level it asked did not have it; `useful`: it was the first use of a prefetched line.
    #[inline]
    pub(super) fn train(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        (missed, useful): (bool, bool),
        level: usize,
    ) {
        if self.prefetchers.is_some() {
            self.prefetch_after(core, at, line, (missed, useful), level);
        }
    }

    fn prefetch_after(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        (missed, useful): (bool, bool),
        level: usize,
    ) {
        self.counters.prefetches.useful += u64::from(useful);
        let Some(prefetchers) = &mut self.prefetchers else {
            return;
        };
        let (into, degree) = (prefetchers.into, prefetchers.degree);
        let mut left = prefetchers.step;
        let next = line.wrapping_add(1);
        let next_line = prefetchers.next_line
            && level >= self.privates.max(1)
            && prefetchers.same_page(line, next);
        let stream = if missed || useful {
            prefetchers.confirmed(core, line)
        } else {
            None
        };
        if next_line && self.prefetch(core, at, next, into) {
            self.counters.prefetches.next_line += 1;
        }
        let Some((stride, mut reached)) = stream else {
            return;
        };
        let last = line.wrapping_add_signed(stride.wrapping_mul(degree));
        while left > 0 && reached != last && self.levels[into].miss_from(core, at) == at {
            let ahead = reached.wrapping_add_signed(stride);
            if !(self.prefetchers.as_ref()).is_some_and(|p| p.same_page(line, ahead)) {
                break;
            }
            reached = ahead;
            if self.prefetch(core, at, ahead, into) {
                self.counters.prefetches.stride += 1;
                left -= 1;
            }
        }
        let Some(prefetchers) = &mut self.prefetchers else {
            return;
        };
        prefetchers.streams[core as usize][0].reached = reached;
        // What the stream fetches next time.
        for _ in 0..prefetchers.step.min(MOST_HINTS) {
            reached = reached.wrapping_add_signed(stride);
            self.soon(core, LineAddr(reached));
        }
    }

    /// Fetches a line into level `into`, unless the core has it, or another core does and no shared
    /// level, or the level has no miss slot free.
    fn prefetch(&mut self, core: u32, at: Time, line: u64, into: usize) -> bool {
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
