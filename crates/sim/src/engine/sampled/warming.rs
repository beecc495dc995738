//! Functional warming: what operations leave in caches and memories, without cores.
//!
//! Lines are asked for one after the other, of the very caches and memories that the unit will see, on one clock for all
//! cores. It goes on by the time that an operation took in the last unit, and whenever what lies below is more than
//! [`BEHIND`] behind it, it waits: queues and devices are neither idle nor flooded.

use std::collections::VecDeque;

use prestore_machine::{Demote, Machine};
use prestore_trace::{FlushKind, LineAddr};

use super::filter::{Recent, Use};
use crate::core::bytes;
use crate::engine::Uncore;
use crate::engine::ahead::{AHEAD, Ahead};
use crate::{ByteMask, Op, OpKind, Time};

/// As long as one access to memory takes, about: where the clock was farther behind, requests for lines that were still to come kept all
/// miss slots of the caches, and prefetchers, which ask only while one is free, brought less than beside a core, which stops for what it
/// waits for (`listing1` came out 7 % too slow with ten times as long, 1 % with this).
const BEHIND: Time = Time(100_000);

/// Lines that non-temporal stores gather in, a core: as many as fill buffers of the machines described.
const GATHERED: usize = 10;

/// One core's part.
#[derive(Clone, Debug)]
struct CoreState {
    recent: Recent,
    ahead: Ahead,
    /// Lines that non-temporal stores gather in, the oldest first.
    gathered: VecDeque<(LineAddr, ByteMask)>,
}

/// Warms the caches of a machine.
#[derive(Clone, Debug)]
pub(super) struct Warming {
    line_shift: u32,
    whole: ByteMask,
    clwb_retains: bool,
    demotes: bool,
    combines: bool,
    /// String instructions need not read lines that they overwrite.
    unread: bool,
    cores: Vec<CoreState>,
    /// The clock.
    pub at: Time,
    /// How far it goes on with an operation.
    pub pace: Time,
}

impl Warming {
    /// Of `machine`, with `cores` cores in use.
    pub fn new(machine: &Machine, cores: u32) -> Self {
        let state = CoreState {
            recent: Recent::new(machine),
            ahead: Ahead::default(),
            gathered: VecDeque::new(),
        };
        Self {
            line_shift: machine.line.0.trailing_zeros(),
            whole: ByteMask::MAX >> (128 - machine.line.0.clamp(1, 128)),
            clwb_retains: machine.core.clwb_retains,
            demotes: machine.core.demote != Demote::Nop,
            combines: machine.core.write_combining.is_some(),
            unread: machine.core.strings.unread,
            cores: vec![state; cores as usize],
            at: Time::ZERO,
            pace: Time(500),
        }
    }

    /// `core` does `ops` next, all of them.
    pub fn warm<U: Uncore>(&mut self, core: u32, ops: &[Op], uncore: &mut U) {
        for (i, op) in ops.iter().enumerate() {
            self.at += self.pace;
            let ahead = &mut self.cores[core as usize].ahead;
            if let Some(addr) = ops.get(i + AHEAD).and_then(|op| ahead.address(op)) {
                uncore.soon(core, addr);
            }
            match op.kind {
                OpKind::Load => self.each(core, op, uncore, Self::load),
                OpKind::Store => self.each(core, op, uncore, Self::store),
                OpKind::Atomic => {
                    self.send_all(core, uncore);
                    self.each(core, op, uncore, Self::store);
                }
                OpKind::NtStore if self.combines => self.each(core, op, uncore, Self::gather),
                OpKind::NtStore => self.each(core, op, uncore, Self::store),
                OpKind::Flush(kind) => self.flush(core, op.addr, kind, uncore),
                OpKind::Demote(_) if self.demotes => {
                    let line = LineAddr::of(op.addr, self.line_shift);
                    self.forget(core, line, uncore);
                    uncore.demote(core, self.at, line);
                }
                OpKind::Fence(_) => self.send_all(core, uncore),
                OpKind::Alloc { .. } => uncore.allocated(core, self.at, op),
                OpKind::Free => uncore.freed(core, self.at, op.addr),
                _ => {}
            }
        }
        // Other cores, and prefetchers, may take lines away.
        let (at, state) = (self.at, &mut self.cores[core as usize]);
        state.recent.clear(|u| used(uncore, core, at, u));
    }

    /// What is left in write-combining buffers goes: the unit's cores have empty ones.
    pub fn end<U: Uncore>(&mut self, uncore: &mut U) {
        for core in 0..self.cores.len() as u32 {
            self.send_all(core, uncore);
        }
    }

    #[inline(always)]
    fn each<U: Uncore>(
        &mut self,
        core: u32,
        op: &Op,
        uncore: &mut U,
        access: impl Fn(&mut Self, u32, LineAddr, ByteMask, bool, &mut U),
    ) {
        let size = u64::from(op.size);
        let within = op.addr & ((1 << self.line_shift) - 1);
        if size != 0 && within + size <= 1 << self.line_shift {
            let line = LineAddr::of(op.addr, self.line_shift);
            access(
                self,
                core,
                line,
                bytes::range(within, within + size - 1),
                false,
                uncore,
            );
        } else if size != 0 {
            let is_string = size > 1 << self.line_shift;
            for (line, mask) in bytes::lines(op.addr, size, self.line_shift) {
                access(self, core, line, mask, is_string, uncore);
            }
        }
    }

    /// What was asked for is done then: the clock is never far behind.
    #[inline]
    fn done(&mut self, at: Time) {
        self.at = self.at.max(at.since(BEHIND));
    }

    #[inline(always)]
    fn load<U: Uncore>(&mut self, core: u32, line: LineAddr, _: ByteMask, _: bool, uncore: &mut U) {
        let (at, state) = (self.at, &mut self.cores[core as usize]);
        let asks = (state.recent).read(line.0, |u| used(uncore, core, at, u));
        if !asks {
            return;
        }
        if !state.gathered.is_empty() {
            self.send(core, line, uncore);
        }
        let served = uncore.load(core, self.at, line);
        self.done(served.done);
    }

    #[inline(always)]
    fn store<U: Uncore>(
        &mut self,
        core: u32,
        line: LineAddr,
        mask: ByteMask,
        is_string: bool,
        uncore: &mut U,
    ) {
        let (at, state) = (self.at, &mut self.cores[core as usize]);
        let asks = (state.recent).write(line.0, mask, |u| used(uncore, core, at, u));
        if !asks {
            return;
        }
        if !state.gathered.is_empty() {
            self.send(core, line, uncore);
        }
        if uncore.write_owned(core, self.at, line, mask, &[]).is_none() {
            let whole = is_string && self.unread && mask == self.whole;
            let served = uncore.own(core, self.at, line, whole);
            let written = uncore.write(core, self.at, line, mask, &[]);
            self.done(served.granted.max(written));
        }
    }

    fn gather<U: Uncore>(
        &mut self,
        core: u32,
        line: LineAddr,
        mask: ByteMask,
        _: bool,
        uncore: &mut U,
    ) {
        self.forget(core, line, uncore);
        let whole = self.whole;
        let gathered = &mut self.cores[core as usize].gathered;
        let found = gathered.iter().position(|g| g.0 == line);
        let at = found.unwrap_or(gathered.len());
        if found.is_none() {
            gathered.push_back((line, 0));
        }
        gathered[at].1 |= mask;
        let full = match gathered[at].1 == whole {
            true => gathered.remove(at),
            false if gathered.len() > GATHERED => gathered.pop_front(),
            false => None,
        };
        if let Some((line, mask)) = full {
            self.around(core, line, mask, uncore);
        }
    }

    fn forget<U: Uncore>(&mut self, core: u32, line: LineAddr, uncore: &mut U) {
        let (at, state) = (self.at, &mut self.cores[core as usize]);
        (state.recent).forget(line.0, |u| used(uncore, core, at, u));
    }

    fn around<U: Uncore>(&mut self, core: u32, line: LineAddr, mask: ByteMask, uncore: &mut U) {
        let taken = uncore.write_around(core, self.at, line, mask, &[]);
        self.done(taken);
    }

    /// What was gathered of `line` goes to memory.
    fn send<U: Uncore>(&mut self, core: u32, line: LineAddr, uncore: &mut U) {
        let gathered = &mut self.cores[core as usize].gathered;
        let found = gathered.iter().position(|g| g.0 == line);
        if let Some((line, mask)) = found.and_then(|at| gathered.remove(at)) {
            self.around(core, line, mask, uncore);
        }
    }

    fn send_all<U: Uncore>(&mut self, core: u32, uncore: &mut U) {
        while let Some((line, mask)) = self.cores[core as usize].gathered.pop_front() {
            self.around(core, line, mask, uncore);
        }
    }

    fn flush<U: Uncore>(&mut self, core: u32, addr: u64, kind: FlushKind, uncore: &mut U) {
        let line = LineAddr::of(addr, self.line_shift);
        self.send(core, line, uncore);
        self.forget(core, line, uncore);
        let cleans = matches!(
            kind,
            FlushKind::Clwb | FlushKind::DcCvac | FlushKind::DcCvap
        );
        let flushed = uncore.flush(core, self.at, line, kind, cleans && self.clwb_retains);
        self.done(flushed.done);
    }
}

/// `core` has used a line that its nearest cache has, and owns if it was written.
#[inline]
fn used<U: Uncore>(uncore: &mut U, core: u32, at: Time, (line, written): Use) {
    let line = LineAddr(line);
    if written == 0 {
        uncore.load(core, at, line);
    } else if uncore.write_owned(core, at, line, written, &[]).is_none() {
        // A prefetcher has taken its place.
        uncore.own(core, at, line, false);
        uncore.write(core, at, line, written, &[]);
    }
}
