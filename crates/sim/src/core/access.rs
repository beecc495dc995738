//! Loads and stores. `QUIET`: the core is ([`Core::is_quiet`]), so that some of what they may meet is not there.

use prestore_machine::MemoryType;
use prestore_trace::LineAddr;

use super::bytes;
use super::pipeline::{Core, NEVER};
use super::stalls::Cause;
use super::stores::Way;
use super::waiting::Gets;
use crate::{Asks, Below, ByteMask, Op, ServedBy, Time};

impl Core {
    /// The line and the bytes of an access that touches no other line, but one at least.
    #[inline(always)]
    fn one_line(&self, addr: u64, size: u32) -> Option<(LineAddr, ByteMask)> {
        let shift = self.params.line_shift;
        let within = addr & ((1 << shift) - 1);
        let end = within + u64::from(size);
        if size == 0 || end > 1 << shift {
            return None;
        }
        Some((LineAddr::of(addr, shift), bytes::range(within, end - 1)))
    }

    /// An access of `size` bytes, line by line; one that touches nothing (masked out) has none. Answers
    /// whether all lines are done, as `access` does of one. Between two lines the core does what is due, and
    /// others have their turn, as between two instructions.
    #[inline(never)]
    pub(super) fn each_line<B: Below>(
        &mut self,
        addr: u64,
        size: u32,
        below: &mut B,
        mut access: impl FnMut(&mut Self, LineAddr, ByteMask, &mut B) -> bool,
    ) -> bool {
        if size == 0 {
            return true;
        }
        let (shift, done) = (self.params.line_shift, self.under.lines);
        for (line, mask) in bytes::lines_from(addr, u64::from(size), shift, done) {
            if self.under.lines > done {
                self.catch_up(below);
                if self.is_late() {
                    return false;
                }
            }
            if !access(self, line, mask, below) {
                return false;
            }
            self.under.line_done();
        }
        self.under.lines = 0;
        true
    }

    /// A load waits for nothing but its own data; only the reorder window waits for it. It is
    /// forwarded from pending stores that have all its bytes. If they have some, they must reach the
    /// cache first.
    #[inline(always)]
    pub(super) fn load<B: Below, const QUIET: bool>(&mut self, op: &Op, below: &mut B) -> bool {
        if self.under.is_new() {
            self.results.ops.loads += 1;
        }
        let one = self.one_line(op.addr, op.size);
        let mut from = Time::ZERO;
        if op.after > 0 {
            let address = self.waiting.ready(op.after);
            if address > self.front.now {
                let is_near = address <= self.front.now + self.params.near;
                if !is_near && (QUIET || self.is_quiet()) && self.can_wait(one, below) {
                    let line = LineAddr::of(op.addr, self.params.line_shift);
                    self.load_later(Gets::Line(line), op.after);
                    self.waiting.dispatched();
                    return true;
                }
                from = self.let_load(op.after, below);
            }
        }
        if self.waiting.is_full() {
            self.let_all_loads(below);
        }
        let done = match one {
            Some((line, bytes)) => self.load_line::<B, QUIET>(line, bytes, from, below),
            None => self.each_line(op.addr, op.size, below, |core, line, bytes, below| {
                core.load_line::<B, false>(line, bytes, from, below)
            }),
        };
        if done {
            self.waiting.dispatched();
        }
        done
    }

    /// Can a load wait for its address beside what is behind it? Otherwise it is waited for at once.
    fn can_wait<B: Below>(&self, one: Option<(LineAddr, ByteMask)>, below: &mut B) -> bool {
        let Some((line, _)) = one else { return false };
        let is_cached =
            !B::TYPES || below.memory_type(self.params.id, line) == MemoryType::WriteBack;
        is_cached
            && self.params.rob > 0
            && self.front.has_place()
            && !self.waiting.is_full()
            && !self.stores.may_hold(line)
    }

    #[inline(always)]
    fn load_line<B: Below, const QUIET: bool>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        from: Time,
        below: &mut B,
    ) -> bool {
        if B::TYPES {
            let of = below.memory_type(self.params.id, line);
            if matches!(of, MemoryType::WriteCombining | MemoryType::Uncacheable) {
                if self.waiting.any() && !self.wait_for_loads(below) {
                    return false;
                }
                return self.load_uncached(line, of, below);
            }
        }
        if self.stores.may_hold(line) {
            return self.load_pending(line, bytes, from, below);
        }
        if B::REFUSES && !self.let_in(line, Asks::Read, Cause::Load(ServedBy::Peer), below) {
            return false;
        }
        let at = from.max(self.front.load_port(&self.params, &mut self.results));
        if QUIET {
            let (done, by) = self.fetch(line, at, below);
            self.loaded(done, by);
        } else {
            self.load_below(line, at, below);
        }
        true
    }

    /// A load that no pending store answers.
    #[inline(always)]
    pub(super) fn load_below<B: Below>(&mut self, line: LineAddr, mut at: Time, below: &mut B) {
        if let Some((done, by)) = self.load_overtaking(line, at, below) {
            return self.loaded(done, by);
        }
        at = at.max(self.send_combined(line, below));
        // Its non-temporal data is no longer at the core, and not yet where it can be read.
        at = self.fills.combined_until(line, at).unwrap_or(at);
        let (done, by) = self.fetch(line, at, below);
        self.loaded(done, by);
    }

    /// A load goes to the caches at `at`; where no fill buffer is free, dispatch waits. Answers when its
    /// data is there, and from where.
    #[inline(always)]
    pub(super) fn fetch<B: Below>(
        &mut self,
        line: LineAddr,
        at: Time,
        below: &mut B,
    ) -> (Time, ServedBy) {
        let (fetched, asked) = self.fetch_later(line, at, below);
        self.stall(asked, Cause::FillBuffers);
        fetched
    }

    /// The same of a load that was dispatched before: dispatch goes on. Answers also how long a miss
    /// waited for a fill buffer, from the start of the run.
    #[inline(always)]
    pub(super) fn fetch_later<B: Below>(
        &mut self,
        line: LineAddr,
        at: Time,
        below: &mut B,
    ) -> ((Time, ServedBy), Time) {
        // Asked as if it missed: where no fill buffer is free, that is later.
        let asked = self.fills.free_at(at);
        let served = below.load(self.params.id, asked, line);
        if served.by != ServedBy::Cache(0) {
            self.fills.take(line, asked, served);
            self.results.load_latency.record(served.done - at);
            let waited = if asked > at { asked } else { Time::ZERO };
            return ((served.done, served.by), waited);
        }
        // A hit is only as late as it was asked for, unless its line is still on its way.
        let hit = served.done <= asked + self.params.l1;
        let mut done = served.done;
        if hit {
            done = done - (asked - at);
        }
        let mut by = ServedBy::Cache(0);
        if let Some(fill) = self.fills.find(line, at)
            && fill.until >= done
        {
            (done, by) = (fill.until, fill.by);
        }
        if done > at + self.params.l1 {
            self.results.load_in_flight += 1;
            self.results.load_latency.record(done - at);
        } else {
            self.results.load_hits += 1;
        }
        ((done, by), Time::ZERO)
    }

    /// Waits, because of `cause`, while who has `line` refuses to give it up. Answers whether it may be asked for.
    pub(super) fn let_in<B: Below>(
        &mut self,
        line: LineAddr,
        asks: Asks,
        cause: Cause,
        below: &mut B,
    ) -> bool {
        while let Some(again) = below.refused(self.params.id, self.front.now, line, asks) {
            self.stall(again, cause);
            if self.is_late() {
                return false;
            }
        }
        true
    }

    #[inline(always)]
    pub(super) fn loaded(&mut self, done: Time, by: ServedBy) {
        self.waiting.loaded(done, by);
        self.front.loaded(done, by, &self.params, &mut self.results);
    }

    /// A store waits for a free entry of the store path.
    #[inline(always)]
    pub(super) fn store<B: Below, const QUIET: bool>(&mut self, op: &Op, below: &mut B) -> bool {
        let (addr, size) = (op.addr, op.size);
        if self.under.is_new() {
            self.results.ops.stores += 1;
        }
        self.under.after = op.after;
        match self.one_line(addr, size) {
            Some((line, bytes)) => self.store_bytes::<B, QUIET>(line, bytes, Way::Cached, below),
            None if u64::from(size) > 1 << self.params.line_shift => {
                self.store_string(addr, size, below)
            }
            None => self.each_line(addr, size, below, Self::store_line),
        }
    }

    /// A store of more than a line is that of a string instruction.
    #[inline(never)]
    fn store_string<B: Below>(&mut self, addr: u64, size: u32, below: &mut B) -> bool {
        let strings = self.params.strings;
        if strings.after_flushes && self.under.steps == 0 {
            if !self.wait_for_flushes(below) {
                return false;
            }
            self.under.steps = 1;
            if self.is_late() {
                return false;
            }
        }
        let whole = self.params.whole;
        let done = self.each_line(addr, size, below, |core, line, bytes, below| {
            let way = match strings.unread && bytes == whole {
                true => Way::Unread,
                false => Way::Cached,
            };
            core.store_bytes::<B, false>(line, bytes, way, below)
        });
        if done {
            self.under.end();
        }
        done
    }

    #[inline(always)]
    pub(super) fn store_line<B: Below>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        below: &mut B,
    ) -> bool {
        self.store_bytes::<B, false>(line, bytes, Way::Cached, below)
    }

    #[inline(always)]
    fn store_bytes<B: Below, const QUIET: bool>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        way: Way,
        below: &mut B,
    ) -> bool {
        if B::TYPES {
            let of = below.memory_type(self.params.id, line);
            if of != MemoryType::WriteBack {
                if self.waiting.any() && !self.wait_for_loads(below) {
                    return false;
                }
                return self.store_typed(line, bytes, of, below);
            }
        }
        self.push_store::<B, QUIET>(line, bytes, way, below)
    }

    /// A store goes into the store path. Answers whether there was room.
    #[inline(always)]
    pub(super) fn push_store<B: Below, const QUIET: bool>(
        &mut self,
        line: LineAddr,
        bytes: ByteMask,
        way: Way,
        below: &mut B,
    ) -> bool {
        let combined = if QUIET {
            Time::ZERO
        } else {
            self.send_combined(line, below).max(self.under.ready)
        };
        if !self.wait_for_entry(line, below) {
            self.under.ready = combined;
            return false;
        }
        let now = self.front.now;
        let ready = now.max(self.front.retired).max(combined);
        let retires = if self.waiting.any() { NEVER } else { ready };
        let (stores, _, mut env) = self.parts(below);
        let due = stores.push(line, bytes, now, (retires, way), &mut env);
        self.waiting
            .stores(self.stores.newest(), self.under.after, ready);
        self.due_at(due);
        if B::NAMES {
            let name = self.name(bytes);
            self.names.store(self.stores.newest(), name);
        }
        true
    }

    /// Waits for an entry of the store path for `line`. Answers whether there is one.
    #[inline(always)]
    pub(super) fn wait_for_entry<B: Below>(&mut self, line: LineAddr, below: &mut B) -> bool {
        loop {
            if let Some(free) = self.stores.room(line, self.front.now) {
                self.stall(free, Cause::StoreBuffer);
                self.under.asked = false;
                return true;
            }
            if !self.under.asked {
                self.stores.make_room(self.front.now);
                self.due_at(self.front.now);
                self.under.asked = true;
            }
            if !self.await_next(Cause::StoreBuffer, below) {
                return false;
            }
        }
    }
}
