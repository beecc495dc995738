//! Writes, cut at lines, and what each piece does to the line and its streak, see [`super`].

use super::{Memory, Moment, Piece, Streak};
use crate::fences::{PendingWrites, waits_from};
use crate::lines::{LINE, LINE_SHIFT, Owner, bits_of};

impl Memory {
    /// A write of `size` > 0 bytes at `addr` by tracked code.
    #[inline(always)]
    pub(crate) fn write(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        if addr % LINE + size <= LINE {
            self.write_piece(streak, pending, (addr, size), at, 0);
        } else {
            self.write_pieces(streak, pending, addr, size, at);
        }
    }

    #[inline(never)]
    fn write_pieces(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        addr: u64,
        size: u64,
        at: Moment,
    ) {
        let end = addr.saturating_add(size);
        let width = self.limits.thresholds.store_width.max(1);
        let down = match streak.goes_down(addr, size) {
            Some(down) => down,
            None => self.is_below(streak, addr, end),
        };
        let (mut first, mut behind) = (addr, end);
        while first < behind {
            let (lo, hi) = match down {
                true => (first.max((behind - 1) & !(LINE - 1)), behind),
                false => (first, ((first | (LINE - 1)).saturating_add(1)).min(end)),
            };
            // A repeated store takes its time: what it wrote first is no longer in the core's
            // buffers when a fence follows it.
            let ago = (end - hi) / width;
            self.write_piece(streak, pending, (lo, hi - lo), at, ago);
            match down {
                true => behind = lo,
                false => first = hi,
            }
        }
    }

    /// Does a context of the writer's begin within `addr..=end`, two lines or more from the first, so that a write of these bytes goes on with it
    /// from its top down? What would begin with its lowest line would never meet it. Copies go down not only where they overlap: the C library's does
    /// where source and destination lie alike in their pages, as buffers of whole pages do.
    fn is_below(&mut self, streak: &mut Streak, addr: u64, end: u64) -> bool {
        self.lines.page(&mut streak.hint, end);
        let Some(state) = self.lines.find(streak.hint, end >> LINE_SHIFT) else {
            return false;
        };
        let owner = self.lines.states[state].owner;
        let writer = self.origins.get(streak.origin).writer;
        owner.as_context().is_some_and(|c| {
            let context = self.contexts.get(c);
            let lines = (addr >> LINE_SHIFT, context.lo >> LINE_SHIFT);
            context.writer == writer && lines.0 + 1 < lines.1 && context.lo <= end
        })
    }

    /// `ago`: by how much, in instructions' time, it is over when its instruction is.
    #[inline(always)]
    fn write_piece(
        &mut self,
        streak: &mut Streak,
        pending: &mut PendingWrites,
        (addr, size): (u64, u64),
        at: Moment,
        ago: u64,
    ) {
        let since = waits_from(at.now, ago);
        let (line, bits) = (addr >> LINE_SHIFT, bits_of(addr, size));
        if let Some(state) = self.goes_on(streak, addr) {
            let mask = self.lines.states[state as usize].mask;
            if mask & bits == 0 {
                let waits = streak.touch(pending, since);
                if !waits {
                    self.cut(streak.owner, state as usize, line, pending.fenced);
                }
                let written = (addr, addr + size, size);
                self.went_on(streak, mask | bits, addr, written, at.now);
                if !waits {
                    let fences = &mut self.origins.get_mut(streak.origin).written().fences;
                    streak.pending = pending.push(streak.origin, since, fences);
                }
                return;
            }
        }
        let page = self.lines.page(&mut streak.hint, addr);
        let i = self.lines.state(page, addr);
        let piece = Piece {
            lo: addr,
            hi: addr + size,
            line,
            bits,
            page,
            state: i,
            hint: streak.hint,
            writer: 0,
            fenced: pending.fenced,
            at,
        };
        self.place(streak, piece);
        let fences = &mut self.origins.get_mut(streak.origin).written().fences;
        streak.pending = pending.push(streak.origin, since, fences);
    }

    /// The state of the line of `addr`, if the instruction wrote it last and it still belongs to what it belonged to then: new
    /// bytes of it go on.
    #[inline(always)]
    pub(crate) fn goes_on(&self, streak: &Streak, addr: u64) -> Option<u32> {
        if streak.line != addr >> LINE_SHIFT {
            return None;
        }
        let owner = self.lines.states[streak.state as usize].owner;
        let same = owner == streak.owner
            && (owner.as_context()).is_none_or(|c| self.contexts.get(c).serial == streak.serial);
        same.then_some(streak.state)
    }

    /// A write, or several, went on in the line: until it has `mask`, with `last` as the last address, at `now`. `written`: from
    /// and to where, and how many bytes.
    #[inline(always)]
    pub(crate) fn went_on(
        &mut self,
        streak: &mut Streak,
        mask: u64,
        last: u64,
        (lo, hi, bytes): (u64, u64, u64),
        now: u64,
    ) {
        if let Some(c) = streak.owner.as_context() {
            let context = self.contexts.get_mut(c);
            context.lo = context.lo.min(lo);
            context.hi = context.hi.max(hi);
            context.covered += bytes;
            context.last = now;
        }
        let state = &mut self.lines.states[streak.state as usize];
        state.mask = mask;
        state.time = now;
        streak.addr = last;
        streak.last = now + 1;
    }

    /// A context goes on in a line that it has begun: was a fence in between, its thread's last?
    #[inline]
    pub(super) fn cut(&mut self, owner: Owner, state: usize, line: u64, fenced: u64) {
        if fenced > self.lines.states[state].time
            && let Some(c) = owner.as_context()
        {
            let context = self.contexts.get_mut(c);
            context.usage.cut += u64::from(context.cut != line as u32);
            context.cut = line as u32;
        }
    }

    /// Finds what the piece belongs to.
    #[inline(never)]
    fn place(&mut self, streak: &mut Streak, mut p: Piece) {
        p.writer = self.origins.get(streak.origin).writer;
        self.written_after_flush(&p);
        self.leave(streak, &p);
        if let Some(owner) = self.place_single(streak, &p) {
            (streak.owner, streak.serial) = (owner, 0);
            return self.arrive(streak, &p);
        }
        let (owner, belongs) = match self.own_context(streak, &p) {
            // It moves ahead there, so it repeats nothing.
            Some(c) => {
                self.extend(c, streak.origin, &p);
                (streak.owner, true)
            }
            None => self.search(streak, &p),
        };
        let stays = owner == streak.owner;
        streak.owner = owner;
        let before = streak.serial;
        // Of no context: in the next line it begins anew.
        streak.serial = (owner.as_context())
            .filter(|_| belongs)
            .map_or(0, |c| self.contexts.get(c).serial);
        let left = if stays && streak.serial == before {
            streak.last
        } else {
            0
        };
        self.arrive(streak, &p);
        if let Some(c) = owner.as_context() {
            self.turn_to(c, &p, left);
        }
    }

    /// The instruction has written the piece.
    #[inline]
    fn arrive(&mut self, streak: &mut Streak, p: &Piece) {
        self.origins.get_mut(streak.origin).line = p.line;
        streak.line = p.line;
        (streak.page, streak.state) = (p.page as u32, p.state as u32);
        streak.addr = p.lo;
        streak.last = p.at.now + 1;
    }

    /// The instruction leaves the line it wrote last for the piece's: from now on any read of it
    /// is one.
    #[inline]
    fn leave(&mut self, streak: &Streak, p: &Piece) {
        if streak.line == p.line || streak.owner == Owner::NONE {
            return;
        }
        let serial = |c| self.contexts.get(c).serial;
        let same = streak
            .owner
            .as_context()
            .is_none_or(|c| serial(c) == streak.serial);
        let state = &mut self.lines.states[streak.state as usize];
        if state.owner.bare() == streak.owner && same && state.unmute() {
            self.lines.set_unread(streak.page as usize, streak.line);
        }
    }

    /// The writer turns to the context, with the piece, whose instruction had last written there at `left`: does it come back
    /// to a line that it left for more other contexts than can be open at a time, or were as many open as long as the line was?
    #[inline]
    fn turn_to(&mut self, c: u32, p: &Piece, left: u64) {
        let context = self.contexts.get_mut(c);
        let same_line = context.line == p.line as u32;
        let turns = self.origins.turns(p.writer);
        let most = self.limits.thresholds.max_streams;
        let turned = turns.turn(context, same_line, (p.at.now, left), most);
        // Of a line that is left, each visit is taken to have written as much as this one.
        let (late, n, turns) = match turned {
            Some(t) if same_line => (t.others >= most, 1, u64::from(t.turns)),
            Some(t) => {
                let visits = (LINE / (p.hi - p.lo).max(1)).saturating_sub(1);
                let is_late = t.others >= most && visits > 0 && !context.late;
                (is_late, visits, t.others * visits)
            }
            None => (false, 0, 0),
        };
        if late {
            let returns = &mut context.usage.returns;
            returns.lines += u64::from(!context.late);
            returns.n += n;
            returns.turns += turns;
        }
        context.late = same_line && (late || context.late);
        context.line = p.line as u32;
    }
}
