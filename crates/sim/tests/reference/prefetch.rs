//! Next line and stride, into the last private level.

use prestore_machine::Machine;
use prestore_sim::{MemoryPort, Time};

use super::model::Reference;
use super::request::{Answer, Source, Want};

/// A stream of one page.
struct Stream {
    page: u64,
    last: u64,
    distance: i64,
    /// The farthest line that it has fetched or found.
    reached: Option<u64>,
}

pub struct Prefetchers {
    next_line: bool,
    streams: usize,
    degree: u32,
    step: u32,
    lines_of_page: u64,
    /// A core each, the one used last at the end.
    followed: Vec<Vec<Stream>>,
}

impl Prefetchers {
    pub fn new(machine: &Machine) -> Self {
        let prefetch = machine.core.prefetch;
        Self {
            next_line: prefetch.next_line,
            streams: prefetch.stride_streams as usize,
            degree: prefetch.stride_degree,
            step: prefetch.stride_step,
            lines_of_page: 4096 / machine.line.0,
            followed: (0..machine.core.count).map(|_| Vec::new()).collect(),
        }
    }

    /// A core asked for a line. Answers its stream if that is confirmed.
    fn sees(&mut self, core: u32, line: u64) -> Option<&mut Stream> {
        let page = line / self.lines_of_page;
        let all = &mut self.followed[core as usize];
        let Some(place) = all.iter().position(|stream| stream.page == page) else {
            if all.len() == self.streams {
                all.remove(0);
            }
            all.push(Stream {
                page,
                last: line,
                distance: 0,
                reached: None,
            });
            return None;
        };
        let mut stream = all.remove(place);
        let distance = line as i64 - stream.last as i64;
        stream.last = line;
        let is_confirmed = distance != 0 && distance == stream.distance;
        if distance != 0 && distance != stream.distance {
            stream.distance = distance;
            stream.reached = None;
        }
        all.push(stream);
        all.last_mut().filter(|_| is_confirmed)
    }
}

impl<M: MemoryPort> Reference<M> {
    pub(super) fn prefetch_after(
        &mut self,
        core: u32,
        at: Time,
        line: u64,
        want: Want,
        start: usize,
        answer: &Answer,
    ) {
        if want == (Want::Own { whole: true }) && answer.source == Source::Memory {
            return;
        }
        let left = !matches!(answer.source, Source::Private(_) | Source::Shared(0));
        if self.prefetchers.next_line
            && left
            && self.is_same_page(line, line as i64 + 1)
            && self.prefetch(core, at, line + 1) == Sent::Yes
        {
            self.counters.prefetches.next_line += 1;
        }
        let missed = !matches!(answer.source, Source::Private(level) | Source::Shared(level) if level == start);
        let is_seen = missed || answer.is_first_use;
        if self.prefetchers.streams > 0 && is_seen {
            self.stride(core, at, line);
        }
    }

    fn stride(&mut self, core: u32, at: Time, line: u64) {
        let (degree, step) = (self.prefetchers.degree, self.prefetchers.step);
        let Some(stream) = self.prefetchers.sees(core, line) else {
            return;
        };
        let (distance, mut reached) = (stream.distance, stream.reached);
        let most = if step == 0 { degree } else { step };
        let mut sent = 0;
        for number in 1..=i64::from(degree) {
            let next = line as i64 + distance * number;
            if sent == most || !self.is_same_page(line, next) {
                break;
            }
            let next = next as u64;
            let is_behind = reached.is_some_and(|reached| {
                if distance > 0 {
                    next <= reached
                } else {
                    next >= reached
                }
            });
            if is_behind {
                continue;
            }
            match self.prefetch(core, at, next) {
                Sent::Yes => {
                    self.counters.prefetches.stride += 1;
                    sent += 1;
                }
                Sent::LeftAlone => {}
                Sent::NoPlace => break,
            }
            reached = Some(next);
        }
        self.prefetchers.followed[core as usize]
            .last_mut()
            .unwrap()
            .reached = reached;
    }

    fn is_same_page(&self, line: u64, other: i64) -> bool {
        let lines = self.prefetchers.lines_of_page;
        other >= 0 && other as u64 / lines == line / lines
    }

    fn prefetch(&mut self, core: u32, at: Time, line: u64) -> Sent {
        let level = self.privates.max(1) - 1;
        if let Some(mshrs) = &self.levels[level].mshrs
            && mshrs[self.instance(level, core)].first_free().1 > at
        {
            return Sent::NoPlace;
        }
        let has = |level| self.copy(level, core, line).is_some();
        let is_shared = (self.privates..self.levels.len()).any(has);
        let others = self.others(core, line);
        let is_elsewhere =
            self.exclusive_other(core, line).is_some() || !(others.is_empty() || is_shared);
        if (0..=level).any(has) || is_elsewhere {
            return Sent::LeftAlone;
        }
        self.fetch(core, at, line, Want::Read, level, true);
        Sent::Yes
    }
}

/// What became of a prefetch.
#[derive(PartialEq, Eq)]
enum Sent {
    Yes,
    /// The core has it, or others where it is left to them.
    LeftAlone,
    /// No place among the misses is free.
    NoPlace,
}
