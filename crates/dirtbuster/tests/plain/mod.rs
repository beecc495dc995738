//! The analysis once more, plainly: maps, one event at a time, nothing cached, nothing reused.
//! What `memory` states in words is here in the fewest steps; the fast one must agree exactly.

mod join;
mod sums;
mod write;

use std::collections::{BTreeMap, VecDeque};

use prestore_dirtbuster::Thresholds;
use prestore_trace::{Event, EventKind, SiteId};

use self::sums::{Part, Sums};
use super::synthetic::SITES;

type Origin = (u32, SiteId);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    Single(Origin),
    Context(usize),
}

#[derive(Clone, Debug)]
struct Line {
    owner: Option<Owner>,
    bytes: Vec<u64>,
    start: u64,
    time: u64,
    reread: Option<u64>,
    /// Its writer, at the line, has read what it was about to write there.
    muted: bool,
    /// Another thread than its writer has read it.
    taken: bool,
}

#[derive(Clone, Debug)]
struct Context {
    lo: u64,
    hi: u64,
    covered: u64,
    start: u64,
    last: u64,
    up: bool,
    origin: Origin,
    recent: Origin,
    owned: u64,
    gone: bool,
    sums: Sums,
}

#[derive(Clone, Debug)]
struct Streak {
    owner: Owner,
    /// It is not another array's, whose last line the store shares.
    belongs: bool,
    line: u64,
    addr: u64,
    time: u64,
    pending: usize,
}

pub struct Plain {
    t: Thresholds,
    scope: Option<Vec<u32>>,
    lines: BTreeMap<u64, Line>,
    contexts: Vec<Context>,
    bereft: VecDeque<usize>,
    streaks: BTreeMap<(u32, SiteId), Streak>,
    pending: BTreeMap<u32, Vec<(Origin, u64)>>,
    fenced: BTreeMap<u32, usize>,
    parts: BTreeMap<Origin, Part>,
    /// Those that wrote together, be it once: by chance is a matter of larger programs.
    same: Vec<(Origin, Origin)>,
    /// Leads of each thread, from which own count on.
    moves: BTreeMap<u32, Vec<(u64, u64)>>,
    furthest: u64,
    /// Lines that another thread read before their writer did, or wrote; and those that it read after their writer.
    pub taken: (u64, u64),
}

/// More than lies between a write and a fence that counts.
const LONG: u64 = (1 << 16) + 1;

fn function(site: SiteId) -> u32 {
    site.0 / SITES
}

impl Plain {
    pub fn new(t: Thresholds, scope: Option<Vec<u32>>) -> Self {
        Self {
            t,
            scope,
            lines: BTreeMap::new(),
            contexts: Vec::new(),
            bereft: VecDeque::new(),
            streaks: BTreeMap::new(),
            pending: BTreeMap::new(),
            fenced: BTreeMap::new(),
            parts: BTreeMap::new(),
            same: Vec::new(),
            moves: BTreeMap::new(),
            furthest: 0,
            taken: (0, 0),
        }
    }

    pub fn buffer_begins(&mut self, thread: u32) {
        self.moves.entry(thread).or_insert(vec![(0, self.furthest)]);
    }

    pub fn buffer_ended(&mut self, thread: u32, own: u64) {
        let now = self.virtual_time(thread, own, u64::MAX);
        self.furthest = self.furthest.max(now);
        if now < self.furthest {
            self.moves
                .get_mut(&thread)
                .unwrap()
                .push((own, self.furthest - own));
        }
    }

    /// With the lead the thread had at `at` of its own count.
    fn virtual_time(&self, thread: u32, own: u64, at: u64) -> u64 {
        own + self.moves[&thread].iter().rfind(|m| m.0 <= at).unwrap().1
    }

    pub fn event(&mut self, e: &Event<'_>) {
        let thread = e.thread.0;
        if e.kind.orders_stores() {
            for (origin, time) in self.pending.remove(&thread).unwrap_or_default() {
                let d = Some(e.instr + LONG - time).filter(|d| *d <= 1 << 16);
                self.parts.entry(origin).or_default().fences.push(d);
            }
            *self.fenced.entry(thread).or_default() += 1;
        }
        if e.size == 0 {
            return;
        }
        let (first, last) = (e.addr / 64, (e.addr + e.size - 1) / 64);
        if e.kind.reads() {
            (first..=last).for_each(|line| {
                let (lo, hi) = (e.addr.max(line * 64), (e.addr + e.size).min(line * 64 + 64));
                self.read(thread, line, lo, hi, e.instr);
            });
        }
        if !e.kind.writes() {
            return;
        }
        let tracked = self
            .scope
            .as_ref()
            .is_none_or(|s| s.contains(&function(e.site)));
        let mut lines: Vec<u64> = (first..=last).collect();
        if tracked && self.goes_down((thread, e.site), e.addr, e.addr + e.size) {
            lines.reverse();
        }
        for line in lines {
            let (lo, hi) = (e.addr.max(line * 64), (e.addr + e.size).min(line * 64 + 64));
            if tracked {
                let ago = (e.addr + e.size - hi) / self.t.store_width;
                let since = e.instr + LONG - ago.min(LONG);
                self.write((thread, e.site), line, (lo, hi), e.instr, since);
            } else if self.lines.get(&line).is_some_and(|l| l.owner.is_some()) {
                self.part(line, None, thread, e.instr);
                self.lines.get_mut(&line).unwrap().owner = None;
            }
        }
    }

    /// Is a write of several lines taken from the top down: right below what its store wrote last, or below a context of the writer's?
    fn goes_down(&self, me: Origin, addr: u64, end: u64) -> bool {
        if let Some(s) = self.streaks.get(&me) {
            if (end..2 * end - addr).contains(&s.addr) {
                return true;
            }
            if s.addr < addr && addr - s.addr <= 128 {
                return false;
            }
        }
        match self.lines.get(&(end / 64)).and_then(|l| l.owner) {
            Some(owner @ Owner::Context(c)) => {
                let lo = self.contexts[c].lo;
                self.mine(owner, me) && addr / 64 + 1 < lo / 64 && lo <= end
            }
            _ => false,
        }
    }

    pub fn count(&mut self, thread: u32, site: SiteId, kind: EventKind) {
        if kind.writes()
            && self
                .scope
                .as_ref()
                .is_none_or(|s| s.contains(&function(site)))
        {
            self.parts.entry((thread, site)).or_default().stores += 1;
        }
    }

    /// The stores at these sites are one write.
    pub fn together(&mut self, thread: u32, a: SiteId, b: SiteId) {
        self.same.push(((thread, a), (thread, b)));
    }

    fn origin(&self, owner: Owner) -> Origin {
        match owner {
            Owner::Single(o) => o,
            Owner::Context(c) => self.contexts[c].origin,
        }
    }

    fn distance(&self, line: &Line, thread: u32, now: u64) -> u64 {
        let writer = self.origin(line.owner.unwrap()).0;
        if writer == thread {
            return now - line.time;
        }
        self.virtual_time(thread, now, u64::MAX)
            .saturating_sub(self.virtual_time(writer, line.time, line.time))
    }

    fn read(&mut self, thread: u32, line: u64, lo: u64, hi: u64, now: u64) {
        let Some(l) = self.lines.get(&line) else {
            return;
        };
        if l.owner.is_none() {
            return;
        }
        if self.origin(l.owner.unwrap()).0 != thread && !l.taken {
            let first = l.reread.is_none() && !l.muted;
            self.taken.0 += u64::from(first);
            self.taken.1 += u64::from(!first);
            self.lines.get_mut(&line).unwrap().taken = true;
        }
        let l = &self.lines[&line];
        if l.reread.is_some() || l.muted {
            return;
        }
        let last = match l.owner {
            Some(Owner::Context(c)) => self.contexts[c].recent,
            _ => self.origin(l.owner.unwrap()),
        };
        let at_it = self.streaks.get(&last).is_some_and(|s| s.line == line);
        let own = self.origin(l.owner.unwrap()).0 == thread;
        if own && at_it && !(lo..hi).any(|b| l.bytes.contains(&b)) {
            self.lines.get_mut(&line).unwrap().muted = true;
            return;
        }
        let d = self.distance(l, thread, now);
        if let Some(Owner::Context(c)) = l.owner {
            self.contexts[c].sums.rereads.push(d);
        }
        self.lines.get_mut(&line).unwrap().reread = Some(d);
    }
}
