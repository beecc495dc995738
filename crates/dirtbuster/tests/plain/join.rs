//! What a line becomes part of, and what it was part of before.

use super::sums::Sums;
use super::{Context, Line, Origin, Owner, Plain};

impl Plain {
    pub(super) fn put(
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
                c.recent = me;
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
                c.recent = me;
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

    pub(super) fn as_context(&self, line: u64, origin: Origin) -> Context {
        let l = &self.lines[&line];
        Context {
            lo: *l.bytes.iter().min().unwrap(),
            hi: *l.bytes.iter().max().unwrap() + 1,
            covered: l.bytes.len() as u64,
            start: l.start,
            last: l.time,
            up: true,
            origin,
            recent: origin,
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
        if let Some(old) = self.lines.get(&line).and_then(|l| l.owner) {
            self.taken.0 += u64::from(self.origin(old).0 != thread);
            self.part(line, Some((lo, hi)), thread, now);
        }
        let new = Line {
            owner: Some(owner),
            bytes: (lo..hi).collect(),
            start: now,
            time: now,
            reread: None,
            muted: false,
            taken: false,
        };
        self.lines.insert(line, new);
    }

    pub(super) fn part(&mut self, line: u64, by: Option<(u64, u64)>, thread: u32, now: u64) {
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

    pub(super) fn close(&mut self, i: usize) {
        let c = &mut self.contexts[i];
        c.gone = true;
        self.parts
            .entry(c.origin)
            .or_default()
            .contexts
            .push(c.clone());
    }
}
