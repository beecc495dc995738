//! Prefetchers into the last private level: one a file, behind one contract.

mod fetch;
mod next_line;
mod stride;

use prestore_machine::Machine;
use prestore_trace::LineAddr;

use self::next_line::NextLine;
use self::stride::Strides;
use super::hierarchy::Hierarchy;
use crate::divide::Divisor;
use crate::doors::Probe;
use crate::{MemoryPort, Time};

/// A prefetcher never leaves the page of what it saw: what follows may be elsewhere in memory.
const PAGE: u64 = 4096;

/// Lines of a stream that the host is told of ahead, at most.
const MOST_HINTS: u32 = 4;

/// A request that prefetchers are told of.
struct Request {
    core: u32,
    line: u64,
    /// The first level it asked did not have the line.
    missed: bool,
    /// It was the first use of a prefetched line.
    useful: bool,
    /// The level that answered it.
    level: usize,
}

/// Lines to be fetched, if there is room: each `stride` from the one before.
#[derive(Clone, Copy)]
struct Wanted {
    /// The first is one stride from this one.
    behind: u64,
    stride: i64,
    last: u64,
    /// So many of those that have to be fetched, at most.
    most: u32,
}

/// Says what is fetched ahead.
trait Prefetcher {
    /// What it makes of a request.
    fn requested(&mut self, request: &Request) -> Option<Wanted>;

    /// What it wanted for `core` last was fetched, or found, up to line `reached`.
    fn fetched(&mut self, core: u32, reached: u64) {
        let _ = (core, reached);
    }
}

/// The prefetchers of all cores.
#[derive(Clone, Debug)]
pub(super) struct Prefetchers {
    next_line: Option<NextLine>,
    strides: Option<Strides>,
    /// The level that is filled.
    into: usize,
    /// Lines of a page.
    page: Divisor,
}

impl Prefetchers {
    /// `None` where a machine has them off.
    pub(super) fn new(machine: &Machine, privates: usize) -> Option<Self> {
        let on = machine.core.prefetch;
        let stride = on.stride_streams > 0 && on.stride_degree > 0;
        let step = match on.stride_step {
            0 => on.stride_degree,
            step => step,
        };
        let (cores, line) = (machine.core.count as usize, machine.line.0);
        (on.next_line || stride).then(|| Self {
            next_line: on.next_line.then(|| NextLine {
                beyond: privates.max(1),
            }),
            strides: stride
                .then(|| Strides::new(cores, line, on.stride_streams, (on.stride_degree, step))),
            into: privates.saturating_sub(1),
            page: Divisor::new(PAGE / line),
        })
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
            let request = Request {
                core,
                line,
                missed,
                useful,
                level,
            };
            self.prefetch_after(at, &request);
        }
    }

    fn prefetch_after(&mut self, at: Time, request: &Request) {
        let core = request.core;
        self.counters.prefetches.useful += u64::from(request.useful);
        let Some(prefetchers) = &mut self.prefetchers else {
            return;
        };
        let next = prefetchers.next_line.as_mut();
        let next = next.and_then(|n| n.requested(request));
        let strides = prefetchers.strides.as_mut();
        let stream = strides.and_then(|s| s.requested(request));
        if let Some(next) = next {
            let (_, lines) = self.prefetch_all(core, at, next);
            self.counters.prefetches.next_line += lines;
        }
        let Some(stream) = stream else {
            return;
        };
        let (mut reached, lines) = self.prefetch_all(core, at, stream);
        self.counters.prefetches.stride += lines;
        if let Some(strides) = self.prefetchers.as_mut().and_then(|p| p.strides.as_mut()) {
            strides.fetched(core, reached);
        }
        // What the stream fetches next time.
        for _ in 0..stream.most.min(MOST_HINTS) {
            reached = reached.wrapping_add_signed(stream.stride);
            self.soon(core, LineAddr(reached));
        }
    }

    /// Fetches what is wanted, within its page and while there is a miss slot. Answers how far it came and how many lines
    /// were fetched.
    fn prefetch_all(&mut self, core: u32, at: Time, wanted: Wanted) -> (u64, u64) {
        let (mut reached, mut lines) = (wanted.behind, 0);
        let Some(prefetchers) = &self.prefetchers else {
            return (reached, lines);
        };
        let (into, page) = (prefetchers.into, prefetchers.page.quotient(reached));
        while lines < u64::from(wanted.most)
            && reached != wanted.last
            && self.levels[into].miss_from(core, at) == at
        {
            let ahead = reached.wrapping_add_signed(wanted.stride);
            if !self
                .prefetchers
                .as_ref()
                .is_some_and(|p| p.page.quotient(ahead) == page)
            {
                break;
            }
            reached = ahead;
            lines += u64::from(self.prefetch(core, at, ahead, into));
        }
        (reached, lines)
    }
}
