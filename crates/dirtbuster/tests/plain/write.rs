//! A write: whether it goes on with what its store wrote last, and which context it may extend.

use super::{Line, Origin, Owner, Plain, Streak, function};

impl Plain {
    /// `since`: from when on the bytes wait for a fence.
    pub(super) fn write(
        &mut self,
        me: Origin,
        line: u64,
        (lo, hi): (u64, u64),
        now: u64,
        since: u64,
    ) {
        let bytes: Vec<u64> = (lo..hi).collect();
        let streak = self.streaks.get(&me).cloned();
        let here = self.lines.get(&line).cloned();
        let goes_on = match (&streak, &here) {
            (Some(s), Some(h)) => {
                s.line == line
                    && s.belongs
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
            if number / 1_000_000 == fences && since.saturating_sub(waiting[index].1) <= 1 << 16 {
                waiting[index].1 = since.max(waiting[index].1);
                return;
            }
            self.streaks.get_mut(&me).unwrap().pending = self.wait(me, since);
            return;
        }
        if let Some(s) = streak.as_ref().filter(|s| s.line != line)
            && let Some(l) = self.lines.get_mut(&s.line)
            && l.muted
            && s.belongs
            && l.owner == Some(s.owner)
        {
            (l.muted, l.taken) = (false, false);
        }
        let repeats = here.as_ref().is_some_and(|h| {
            h.owner.is_some()
                && bytes.iter().all(|b| h.bytes.contains(b))
                && self.repeats(h, streak.as_ref(), line, lo, now)
        });
        let mut candidates: Vec<(Owner, u64)> = Vec::new();
        if let Some(s) = &streak {
            match s.owner {
                Owner::Context(c) if s.belongs && !self.contexts[c].gone => {
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
        let own = candidates.len();
        for l in [line, line - 1, line + 1] {
            if let Some(owner) = self.lines.get(&l).and_then(|l| l.owner) {
                candidates.push((owner, l));
            }
        }
        let bar = here.as_ref().and_then(|h| h.owner).filter(|_| repeats);
        let barred = |(owner, l): (Owner, u64)| {
            bar == Some(owner) && (l == line || matches!(owner, Owner::Context(_)))
        };
        let (mut found, mut belongs, mut met) = (None, true, Vec::new());
        for (i, c) in candidates.into_iter().enumerate() {
            if barred(c) || !self.admits(c, me, line, lo, hi, now) {
                continue;
            }
            let anothers = i >= own && self.is_anothers(c.0, me, streak.as_ref(), line);
            if anothers && c.1 != line {
                met.push((self.origin(c.0), me));
                continue;
            }
            (found, belongs) = (Some(c), !anothers);
            break;
        }
        // Who goes on with something of its own has not come upon the other's end.
        if found.is_none() {
            self.same.extend(met);
        }
        let owner = self.put(found, me, line, lo, hi, now);
        let pending = self.wait(me, since);
        self.streaks.insert(
            me,
            Streak {
                owner,
                belongs,
                line,
                addr: lo,
                time: now,
                pending,
            },
        );
    }

    fn wait(&mut self, me: Origin, since: u64) -> usize {
        let waiting = self.pending.entry(me.0).or_default();
        waiting.push((me, since));
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
        let last = &self.lines[&s.line];
        let (own, newest) = match owner {
            Owner::Single(_) => (
                s.owner == owner && s.line == line && h.start <= s.time,
                false,
            ),
            Owner::Context(c) => {
                let c = &self.contexts[c];
                let at = if c.up { c.hi - 1 } else { c.lo };
                let in_it = last.owner == Some(owner) && last.start <= s.time;
                (
                    s.owner == owner && s.belongs || in_it,
                    c.hi - c.lo > 128 && at / 64 == line && s.time < c.last,
                )
            }
        };
        if own {
            let back = lo >= s.addr && s.time != now;
            return if down { back } else { lo <= s.addr };
        }
        !newest && s.time >= start || now.saturating_sub(h.time) > 64
    }

    /// Is it an array that other stores have written so far?
    fn is_anothers(&self, owner: Owner, me: Origin, s: Option<&Streak>, line: u64) -> bool {
        let Owner::Context(c) = owner else {
            return false;
        };
        let c = &self.contexts[c];
        if c.hi - c.lo <= self.t.object_bytes {
            return false;
        }
        let wrote = s.is_some_and(|s| {
            let last = &self.lines[&s.line];
            last.owner == Some(owner) && last.start <= s.time
        });
        let shared_only = s.is_some_and(|s| !s.belongs && line.abs_diff(s.line) <= 1);
        wrote && shared_only || !wrote && c.recent != me
    }

    pub(super) fn mine(&self, owner: Owner, me: Origin) -> bool {
        let o = self.origin(owner);
        o.0 == me.0 && function(o.1) == function(me.1)
    }

    pub(super) fn dense(&self, covered: u64, span: u64) -> bool {
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
                let inside = lo >= c.lo && hi <= c.hi || (first..=last).contains(&line);
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
}
