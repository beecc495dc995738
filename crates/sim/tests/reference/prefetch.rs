//! Prefetchers.

use prestore_sim::{MemoryPort, Time};

use super::Reference;
use super::request::{Asked, Source, Want};

/// Bytes of a page.
const PAGE: u64 = 4096;

/// What prefetchers see of a request.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// It was the first to use a prefetched line.
    pub first_use: bool,
    /// It missed the level that it asked first.
    pub missed: bool,
    /// It found the line beyond the last private level.
    pub beyond: bool,
}

/// A stream of constant stride in a page.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    page: u64,
    last: u64,
    distance: Option<i64>,
    /// The farthest line that it has come to with this distance.
    reached: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Fetched,
    LeftAlone,
    NoPlace,
}

impl<M: MemoryPort> Reference<M> {
    fn page(&self, line: u64) -> u64 {
        line / (PAGE / self.machine.line.0)
    }

    /// What follows a request made at `at`.
    pub fn prefetch(&mut self, core: u32, at: Time, line: u64, seen: Seen) {
        let settings = self.machine.core.prefetch;
        if settings.next_line && seen.beyond && self.page(line + 1) == self.page(line) {
            let outcome = self.fetch(core, at, line + 1);
            self.counters.prefetches.next_line += u64::from(outcome == Outcome::Fetched);
        }
        if settings.stride_streams > 0 && (seen.missed || seen.first_use) {
            self.stride(core, at, line);
        }
    }

    fn stride(&mut self, core: u32, at: Time, line: u64) {
        let page = self.page(line);
        let streams = &mut self.streams[core as usize];
        let Some(place) = streams.iter().position(|stream| stream.page == page) else {
            if streams.len() == self.machine.core.prefetch.stride_streams as usize {
                streams.remove(0);
            }
            streams.push(Stream {
                page,
                last: line,
                distance: None,
                reached: None,
            });
            return;
        };
        let mut stream = streams.remove(place);
        let distance = line as i64 - stream.last as i64;
        stream.last = line;
        // The same line again says nothing of the distance.
        if distance != 0 && stream.distance == Some(distance) {
            stream.reached = self.run_ahead(core, at, &stream);
        } else if distance != 0 {
            stream.distance = Some(distance);
            stream.reached = None;
        }
        self.streams[core as usize].push(stream);
    }

    /// A stream is confirmed. Answers how far it has come.
    fn run_ahead(&mut self, core: u32, at: Time, stream: &Stream) -> Option<i64> {
        let settings = self.machine.core.prefetch;
        let distance = stream.distance?;
        let mut reached = stream.reached;
        let mut fetched = 0;
        for ahead in 1..=i64::from(settings.stride_degree) {
            let line = stream.last as i64 + ahead * distance;
            if line < 0 || self.page(line as u64) != stream.page {
                break;
            }
            let is_behind = |reached| (line - reached) * distance.signum() <= 0;
            if reached.is_some_and(is_behind) {
                continue;
            }
            match self.fetch(core, at, line as u64) {
                Outcome::NoPlace => break,
                Outcome::LeftAlone => reached = Some(line),
                Outcome::Fetched => {
                    reached = Some(line);
                    self.counters.prefetches.stride += 1;
                    fetched += 1;
                    if fetched == settings.stride_step {
                        break;
                    }
                }
            }
        }
        reached
    }

    fn fetch(&mut self, core: u32, at: Time, line: u64) -> Outcome {
        self.forget_absent(line);
        let start = self.last_private();
        let slot = match self.mshrs_of(start, core).map(|mshrs| mshrs.first()) {
            Some((_, free)) if free > at => return Outcome::NoPlace,
            slot => slot.map(|(slot, _)| slot),
        };
        let has = (0..=start).any(|level| self.has(level, core, line));
        let others = self.others(core, line);
        let mut beyond = start + 1..=self.last();
        let found = beyond.find(|&level| self.has(level, core, line));
        let is_exclusive = self.exclusive_elsewhere(core, line).is_some();
        if has || is_exclusive || !others.is_empty() && found.is_none() {
            return Outcome::LeftAlone;
        }
        let asked = Asked {
            core,
            line,
            want: Want::Read,
            start,
            began: at,
            prefetches: true,
        };
        let source = found.map_or(Source::Memory, Source::Level);
        let coming = self.comes(&asked, source, at);
        if let (Some(slot), Some(mshrs)) = (slot, self.mshrs_of(start, core)) {
            mshrs.hold(slot, coming.done);
        }
        self.fill(&asked, source, &coming);
        Outcome::Fetched
    }
}
