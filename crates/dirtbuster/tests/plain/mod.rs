//! The analysis once more, plainly: maps, one event at a time, nothing cached, nothing reused.
//! What `memory` states in words is here in the fewest steps; the fast one must agree exactly.

use std::collections::{BTreeMap, VecDeque};

use prestore_dirtbuster::{ContextClass, Distance, FenceDistance, Thresholds};
use prestore_trace::{Event, EventKind, SiteId};

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
}

#[derive(Clone, Debug, Default)]
pub struct Sums {
    pub lines: u64,
    rereads: Vec<u64>,
    rewrites: Vec<u64>,
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
    owned: u64,
    gone: bool,
    sums: Sums,
}

#[derive(Clone, Debug)]
struct Streak {
    owner: Owner,
    line: u64,
    addr: u64,
    time: u64,
    pending: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Part {
    pub scattered: Sums,
    pub scattered_bytes: u64,
    contexts: Vec<Context>,
    /// Distance of the fence of each write.
    pub fences: Vec<Option<u64>>,
    pub stores: u64,
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
    same: Vec<(Origin, Origin)>,
    /// Leads of each thread, from which own count on.
    moves: BTreeMap<u32, Vec<(u64, u64)>>,
    furthest: u64,
}

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
                let d = Some(e.instr - time).filter(|d| *d <= 1 << 16);
                self.parts.entry(origin).or_default().fences.push(d);
            }
            *self.fenced.entry(thread).or_default() += 1;
        }
        if e.size == 0 {
            return;
        }
        let (first, last) = (e.addr / 64, (e.addr + e.size - 1) / 64);
        if e.kind.reads() {
            (first..=last).for_each(|line| self.read(thread, line, e.instr));
        }
        if !e.kind.writes() {
            return;
        }
        let tracked = self
            .scope
            .as_ref()
            .is_none_or(|s| s.contains(&function(e.site)));
        for line in first..=last {
            let (lo, hi) = (e.addr.max(line * 64), (e.addr + e.size).min(line * 64 + 64));
            if tracked {
                self.write((thread, e.site), line, lo, hi, e.instr);
            } else if self.lines.get(&line).is_some_and(|l| l.owner.is_some()) {
                self.part(line, None, thread, e.instr);
                self.lines.get_mut(&line).unwrap().owner = None;
            }
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

    fn read(&mut self, thread: u32, line: u64, now: u64) {
        let Some(l) = self.lines.get(&line) else {
            return;
        };
        if l.owner.is_none() || l.reread.is_some() {
            return;
        }
        let d = self.distance(l, thread, now);
        if let Some(Owner::Context(c)) = l.owner {
            self.contexts[c].sums.rereads.push(d);
        }
        self.lines.get_mut(&line).unwrap().reread = Some(d);
    }

    fn write(&mut self, me: Origin, line: u64, lo: u64, hi: u64, now: u64) {
        let bytes: Vec<u64> = (lo..hi).collect();
        let streak = self.streaks.get(&me).cloned();
        let here = self.lines.get(&line).cloned();
        let goes_on = match (&streak, &here) {
            (Some(s), Some(h)) => {
                s.line == line
                    && h.owner == Some(s.owner)
                    && !bytes.iter().any(|b| h.bytes.contains(b))
            }
            _ => false,
        };
        if goes_on {
            let s = self.streaks.get_mut(&me).unwrap();
            (s.addr, s.time) = (lo, now);
            let (owner, number) = (s.owner, s.pending);
            if let Owner::Context(c) = owner {
                let c = &mut self.contexts[c];
                (c.lo, c.hi, c.last) = (c.lo.min(lo), c.hi.max(hi), now);
                c.covered += hi - lo;
            }
            let h = self.lines.get_mut(&line).unwrap();
            h.bytes.extend(&bytes);
            h.time = now;
            // The number says how many fences and writes came before.
            let waiting = self.pending.entry(me.0).or_default();
            let fences = self.fenced.get(&me.0).copied().unwrap_or(0);
            let index = number % 1_000_000;
            if number / 1_000_000 == fences && now - waiting[index].1 <= 1 << 16 {
                waiting[index].1 = now;
                return;
            }
            self.streaks.get_mut(&me).unwrap().pending = self.wait(me, now);
            return;
        }
        let repeats = here.as_ref().is_some_and(|h| {
            h.owner.is_some()
                && bytes.iter().all(|b| h.bytes.contains(b))
                && self.repeats(h, streak.as_ref(), line, lo, now)
        });
        let mut candidates: Vec<(Owner, u64)> = Vec::new();
        if let Some(s) = &streak {
            match s.owner {
                Owner::Context(c) if !self.contexts[c].gone => {
                    let ahead = if self.contexts[c].up {
                        lo > s.addr
                    } else {
                        lo < s.addr
                    };
                    if ahead {
                        candidates.push((s.owner, line));
                    }
                }
                Owner::Single(_) if line.abs_diff(s.line) <= 1 => {
                    let still = self.lines.get(&s.line);
                    if still.is_some_and(|l| l.owner == Some(s.owner) && l.start <= s.time) {
                        candidates.push((s.owner, s.line));
                    }
                }
                _ => {}
            }
        }
        for l in [line, line - 1, line + 1] {
            if let Some(owner) = self.lines.get(&l).and_then(|l| l.owner) {
                candidates.push((owner, l));
            }
        }
        let bar = here.as_ref().and_then(|h| h.owner).filter(|_| repeats);
        let barred = |(owner, l): (Owner, u64)| {
            bar == Some(owner) && (l == line || matches!(owner, Owner::Context(_)))
        };
        let found = candidates
            .into_iter()
            .find(|c| !barred(*c) && self.admits(*c, me, line, lo, hi, now));
        let owner = self.put(found, me, line, lo, hi, now);
        let pending = self.wait(me, now);
        self.streaks.insert(
            me,
            Streak {
                owner,
                line,
                addr: lo,
                time: now,
                pending,
            },
        );
    }

    fn wait(&mut self, me: Origin, now: u64) -> usize {
        let waiting = self.pending.entry(me.0).or_default();
        waiting.push((me, now));
        self.fenced.get(&me.0).copied().unwrap_or(0) * 1_000_000 + waiting.len() - 1
    }

    fn repeats(&self, h: &Line, s: Option<&Streak>, line: u64, lo: u64, now: u64) -> bool {
        let owner = h.owner.unwrap();
        let (start, down) = match owner {
            Owner::Single(_) => (h.start, false),
            Owner::Context(c) => (self.contexts[c].start, !self.contexts[c].up),
        };
        let Some(s) = s else {
            return now.saturating_sub(h.time) > 64;
        };
        let own = s.owner == owner
            && (matches!(owner, Owner::Context(_)) || s.line == line && h.start <= s.time);
        if own {
            return if down { lo >= s.addr } else { lo <= s.addr };
        }
        s.time >= start || now.saturating_sub(h.time) > 64
    }

    fn mine(&self, owner: Owner, me: Origin) -> bool {
        let o = self.origin(owner);
        o.0 == me.0 && function(o.1) == function(me.1)
    }

    fn dense(&self, covered: u64, span: u64) -> bool {
        covered as f64 >= span as f64 * self.t.min_density
    }

    fn admits(&self, c: (Owner, u64), me: Origin, line: u64, lo: u64, hi: u64, now: u64) -> bool {
        if !self.mine(c.0, me) {
            return false;
        }
        match c.0 {
            Owner::Single(_) => {
                let l = &self.lines[&c.1];
                let (a, b) = (
                    l.bytes.iter().min().unwrap(),
                    l.bytes.iter().max().unwrap() + 1,
                );
                now - l.time <= self.t.max_pause
                    && (c.1 == line
                        || a.saturating_sub(hi) <= 64
                            && lo.saturating_sub(b) <= 64
                            && self.dense(l.bytes.len() as u64 + hi - lo, b.max(hi) - lo.min(*a)))
            }
            Owner::Context(c) => {
                let c = &self.contexts[c];
                let (first, last) = (c.lo / 64, (c.hi - 1) / 64);
                let near = if c.up {
                    (last.saturating_sub(2)..=last + 1).contains(&line)
                        || (first..=first + 1).contains(&line)
                        || hi == c.lo
                } else {
                    (first - 1..=first + 2).contains(&line)
                        || (last - 1..=last).contains(&line)
                        || lo == c.hi
                };
                let inside = lo >= c.lo && hi <= c.hi;
                let span = hi.max(c.hi) - lo.min(c.lo);
                now - c.last <= self.t.max_pause
                    && near
                    && (inside
                        || lo.saturating_sub(c.hi) <= 64
                            && c.lo.saturating_sub(hi) <= 64
                            && self.dense(c.covered + hi - lo, span))
            }
        }
    }

    fn put(
        &mut self,
        found: Option<(Owner, u64)>,
        me: Origin,
        line: u64,
        lo: u64,
        hi: u64,
        now: u64,
    ) -> Owner {
        let Some((owner, at)) = found else {
            self.take(Owner::Single(me), line, lo, hi, me.0, now);
            return Owner::Single(me);
        };
        self.same.push((self.origin(owner), me));
        let c = match owner {
            Owner::Context(c) => {
                let c = &mut self.contexts[c];
                if (lo < c.lo || hi > c.hi) && c.hi - c.lo <= 128 {
                    c.up = hi > c.hi;
                }
                (c.lo, c.hi, c.last) = (c.lo.min(lo), c.hi.max(hi), now);
                owner
            }
            Owner::Single(_) if at == line => {
                let l = self.lines.get_mut(&line).unwrap();
                l.time = now;
                l.bytes.extend(
                    (lo..hi)
                        .filter(|b| !l.bytes.contains(b))
                        .collect::<Vec<_>>(),
                );
                return owner;
            }
            Owner::Single(o) => {
                let mut c = self.as_context(at, o);
                c.up = at < line;
                (c.lo, c.hi, c.last) = (c.lo.min(lo), c.hi.max(hi), now);
                self.contexts.push(c);
                let c = Owner::Context(self.contexts.len() - 1);
                self.lines.get_mut(&at).unwrap().owner = Some(c);
                c
            }
        };
        let Owner::Context(i) = c else { unreachable!() };
        self.take_in(i, line, hi - lo, me);
        if let Some(l) = self.lines.get_mut(&line).filter(|l| l.owner == Some(c)) {
            let fresh: Vec<u64> = (lo..hi).filter(|b| !l.bytes.contains(b)).collect();
            self.contexts[i].covered += fresh.len() as u64;
            l.bytes.extend(fresh);
            l.time = now;
        } else {
            let context = &mut self.contexts[i];
            context.covered += hi - lo;
            context.owned += 1;
            context.sums.lines += 1;
            self.take(c, line, lo, hi, me.0, now);
        }
        let context = &self.contexts[i];
        if context.up && context.hi == hi && hi == line * 64 + 64 {
            self.take_in(i, line + 1, 0, me);
        } else if !context.up && context.lo == lo && lo == line * 64 {
            self.take_in(i, line - 1, 0, me);
        }
        c
    }

    fn as_context(&self, line: u64, origin: Origin) -> Context {
        let l = &self.lines[&line];
        Context {
            lo: *l.bytes.iter().min().unwrap(),
            hi: *l.bytes.iter().max().unwrap() + 1,
            covered: l.bytes.len() as u64,
            start: l.start,
            last: l.time,
            up: true,
            origin,
            owned: 1,
            gone: false,
            sums: Sums {
                lines: 1,
                rereads: l.reread.into_iter().collect(),
                rewrites: Vec::new(),
            },
        }
    }

    fn take_in(&mut self, i: usize, line: u64, pending: u64, me: Origin) {
        let Some(owner) = self.lines.get(&line).and_then(|l| l.owner) else {
            return;
        };
        let other = match owner {
            Owner::Single(o) => self.as_context(line, o),
            Owner::Context(c) if c != i => self.contexts[c].clone(),
            Owner::Context(_) => return,
        };
        let c = &self.contexts[i];
        let (lo, hi) = (c.lo.min(other.lo), c.hi.max(other.hi));
        let ok = self.mine(owner, me)
            && other.start >= c.start
            && other.hi - other.lo <= 512
            && other.lo.saturating_sub(c.hi) <= 64
            && c.lo.saturating_sub(other.hi) <= 64
            && self.dense(c.covered + other.covered + pending, hi - lo);
        if !ok {
            return;
        }
        for l in other.lo / 64..=(other.hi - 1) / 64 {
            if let Some(l) = self.lines.get_mut(&l).filter(|l| l.owner == Some(owner)) {
                l.owner = Some(Owner::Context(i));
            }
        }
        if let Owner::Context(c) = owner {
            self.contexts[c].gone = true;
        }
        self.same.push((self.contexts[i].origin, other.origin));
        let c = &mut self.contexts[i];
        (c.lo, c.hi) = (lo, hi);
        c.covered += other.covered;
        c.owned += other.owned;
        c.sums.lines += other.sums.lines;
        c.sums.rereads.extend(other.sums.rereads);
        c.sums.rewrites.extend(other.sums.rewrites);
    }

    fn take(&mut self, owner: Owner, line: u64, lo: u64, hi: u64, thread: u32, now: u64) {
        if self.lines.get(&line).is_some_and(|l| l.owner.is_some()) {
            self.part(line, Some((lo, hi)), thread, now);
        }
        let new = Line {
            owner: Some(owner),
            bytes: (lo..hi).collect(),
            start: now,
            time: now,
            reread: None,
        };
        self.lines.insert(line, new);
    }

    fn part(&mut self, line: u64, by: Option<(u64, u64)>, thread: u32, now: u64) {
        let old = self.lines[&line].clone();
        let d = self.distance(&old, thread, now);
        let owner = old.owner.unwrap();
        let shared = by.is_some_and(|(lo, hi)| {
            let apart = match owner {
                Owner::Single(_) => !(lo..hi).any(|b| old.bytes.contains(&b)),
                Owner::Context(c) => lo >= self.contexts[c].hi || hi <= self.contexts[c].lo,
            };
            self.origin(owner).0 == thread && old.reread.is_none() && d <= self.t.max_pause && apart
        });
        match owner {
            Owner::Single(o) => {
                let part = self.parts.entry(o).or_default();
                part.scattered_bytes += old.bytes.len() as u64;
                if !shared {
                    part.scattered.lines += 1;
                    part.scattered.rereads.extend(old.reread);
                    part.scattered.rewrites.push(d);
                }
            }
            Owner::Context(i) => {
                let c = &mut self.contexts[i];
                if shared {
                    c.sums.lines -= 1;
                } else {
                    c.sums.rewrites.push(d);
                }
                c.owned -= 1;
                if c.owned == 0 {
                    self.bereft.push_back(i);
                }
                if self.bereft.len() > 64 {
                    let oldest = self.bereft.pop_front().unwrap();
                    if self.contexts[oldest].owned == 0 && !self.contexts[oldest].gone {
                        self.close(oldest);
                    }
                }
            }
        }
    }

    fn close(&mut self, i: usize) {
        let c = &mut self.contexts[i];
        c.gone = true;
        self.parts
            .entry(c.origin)
            .or_default()
            .contexts
            .push(c.clone());
    }

    /// Ends the run: what each set of sites did, by its sites.
    pub fn finish(mut self) -> BTreeMap<Vec<SiteId>, Part> {
        for (line, l) in self.lines.clone() {
            if let Some(Owner::Single(o)) = l.owner {
                let c = self.as_context(line, o);
                let part = self.parts.entry(o).or_default();
                part.scattered_bytes += c.covered;
                part.scattered.lines += 1;
                part.scattered.rereads.extend(c.sums.rereads);
            }
        }
        let open = (0..self.contexts.len()).filter(|i| !self.contexts[*i].gone);
        open.collect::<Vec<_>>()
            .into_iter()
            .for_each(|i| self.close(i));
        for (origin, _) in self.pending.values().flatten() {
            self.parts.entry(*origin).or_default().fences.push(None);
        }
        let mut sets: Vec<Vec<SiteId>> = Vec::new();
        let all = self
            .parts
            .keys()
            .map(|o| (*o, *o))
            .chain(self.same.iter().copied());
        for (a, b) in all {
            let (joined, rest): (Vec<_>, Vec<_>) = sets
                .into_iter()
                .partition(|s| s.contains(&a.1) || s.contains(&b.1));
            let mut set: Vec<SiteId> = joined.concat();
            set.extend([a.1, b.1]);
            set.sort();
            set.dedup();
            sets = rest;
            sets.push(set);
        }
        let mut result: BTreeMap<Vec<SiteId>, Part> = BTreeMap::new();
        for (origin, part) in self.parts {
            let set = sets.iter().find(|s| s.contains(&origin.1)).unwrap();
            let sum = result.entry(set.clone()).or_default();
            sum.stores += part.stores;
            sum.scattered_bytes += part.scattered_bytes;
            sum.scattered.add(&part.scattered);
            sum.contexts.extend(part.contexts);
            sum.fences.extend(part.fences);
        }
        result
    }
}

impl Sums {
    fn add(&mut self, o: &Self) {
        self.lines += o.lines;
        self.rereads.extend(&o.rereads);
        self.rewrites.extend(&o.rewrites);
    }

    pub fn reread(&self) -> Distance {
        mean(&self.rereads, self.lines)
    }

    pub fn rewrite(&self) -> Distance {
        mean(&self.rewrites, self.lines)
    }
}

fn mean(all: &[u64], lines: u64) -> Distance {
    let n = all.len() as u64;
    Distance {
        mean: (n > 0).then(|| all.iter().sum::<u64>() as f64 / n as f64),
        share: if lines == 0 {
            0.0
        } else {
            n as f64 / lines as f64
        },
    }
}

impl Part {
    /// Sequential contexts by power of two of their size; and all lines' sums; sequential share.
    pub fn report(&self, t: &Thresholds) -> (Vec<ContextClass>, Sums, f64) {
        let mut classes: BTreeMap<u32, (u64, u64, u64, Sums)> = BTreeMap::new();
        let (mut whole, mut scattered) = (self.scattered.clone(), self.scattered_bytes);
        let mut covered = 0;
        for c in &self.contexts {
            let span = c.hi - c.lo;
            whole.add(&c.sums);
            if span < t.min_context_bytes {
                scattered += c.covered;
                continue;
            }
            covered += c.covered;
            let class = classes.entry(span.ilog2()).or_default();
            class.0 += 1;
            class.1 += span;
            class.2 += c.covered;
            class.3.add(&c.sums);
        }
        let classes = classes
            .values()
            .map(|(count, spans, bytes, sums)| ContextClass {
                bytes: spans / count,
                share: *bytes as f64 / covered as f64,
                count: *count,
                reread: sums.reread(),
                rewrite: sums.rewrite(),
            });
        let total = covered + scattered;
        let share = if total == 0 {
            0.0
        } else {
            covered as f64 / total as f64
        };
        (classes.collect(), whole, share)
    }

    pub fn fence(&self) -> FenceDistance {
        let mut finite: Vec<u64> = self.fences.iter().flatten().copied().collect();
        finite.sort_unstable();
        FenceDistance {
            min: finite.first().copied(),
            median: finite.get(self.fences.len() / 2).copied(),
        }
    }
}
