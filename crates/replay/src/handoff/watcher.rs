//! What one thread does, as far as hand-offs need it: polls, what is waiting and what is work.

use prestore_trace::SiteId;

use super::scan::Done;
use super::{LOOK_BACK, LOOP};

/// A thread's last loads, by address: one entry each, the latest wins.
const POLLS: usize = 1 << 11;
/// Where sites stored last, by site.
const STORES: usize = 1 << 10;
/// Stamps that are remembered.
const STAMPS: u64 = 256;

/// Consecutive loads of one address by one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    addr: u64,
    site: SiteId,
    /// Number of the stretch between two stamps that the last load is in.
    stretch: u64,
    /// Events of the thread before the first load.
    pub(super) first: u64,
    /// Events of the thread before the last load.
    pub(super) last: u64,
    /// What it waited for is over: the next load begins anew.
    over: bool,
}

/// One thread while hand-offs are inferred. It takes little memory before it wakes, and when it
/// sleeps.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    polls: Vec<Poll>,
    stores: Vec<(SiteId, u64)>,
    stamps: Vec<u64>,
    /// Stretches begun.
    stretch: u64,
    /// Events so far.
    pub(super) events: u64,
    /// Events up to and including the last that was work.
    worked: u64,
    /// Events before the last poll of anything.
    polled: u64,
}

#[cfg(test)]
impl Poll {
    /// Of one address, looks from `first` to `last`.
    pub(super) fn at(addr: u64, first: u64, last: u64) -> Self {
        Self {
            addr,
            site: SiteId(1),
            stretch: 0,
            first,
            last,
            over: false,
        }
    }
}

fn slot(key: u64, slots: usize) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (slots - 1)
}

impl Watcher {
    /// The thread begins. To be called before anything else.
    pub(super) fn wake(&mut self) {
        let none = Poll {
            addr: 0,
            site: SiteId::NONE,
            stretch: 0,
            first: 0,
            last: 0,
            over: false,
        };
        self.polls = vec![none; POLLS];
        self.stores = vec![(SiteId::NONE, 0); STORES];
        self.stamps = vec![0; STAMPS as usize];
    }

    /// The thread has done so much, of which nothing else is shown.
    #[inline]
    pub(super) fn has_done(&mut self, done: Done) {
        self.events = done.events;
        self.worked = self.worked.max(done.worked);
    }

    /// The thread has ended. When its stretches began stays known.
    pub(super) fn sleep(&mut self) {
        self.polls = Vec::new();
        self.stores = Vec::new();
    }

    /// A stamp: what follows began at `ticks`.
    pub(super) fn stamp(&mut self, ticks: u64) {
        self.stretch += 1;
        self.stamps[(self.stretch % STAMPS) as usize] = ticks;
    }

    /// The stretch that the next event is in.
    pub(super) fn stretch(&self) -> u64 {
        self.stretch
    }

    /// When a stretch began; `None`: too long ago, or not yet.
    pub(super) fn began(&self, stretch: u64) -> Option<u64> {
        let known = stretch <= self.stretch && stretch + STAMPS > self.stretch;
        known.then(|| self.stamps[(stretch % STAMPS) as usize])
    }

    /// The next event is a load of an address that has atomics.
    #[inline]
    pub(super) fn load(&mut self, addr: u64, site: SiteId) {
        let poll = &mut self.polls[slot(addr, POLLS)];
        let now = self.events;
        let again = poll.addr == addr
            && poll.site == site
            && !poll.over
            && self.worked <= poll.last
            && now - poll.last <= LOOP;
        if !again {
            poll.first = now;
        }
        (poll.addr, poll.site, poll.last, poll.stretch) = (addr, site, now, self.stretch);
        poll.over = false;
        self.polled = now;
    }

    /// The thread had `addr` and releases it: who looks at it behind that waits anew, though it did nothing in between
    /// that tells work from waiting.
    pub(super) fn released(&mut self, addr: u64) {
        let poll = &mut self.polls[slot(addr, POLLS)];
        poll.over |= poll.addr == addr;
    }

    /// The next event writes to `addr`. Is it new, or only what the instruction wrote last?
    #[inline]
    pub(super) fn writes(&mut self, addr: u64, site: SiteId) {
        if self.events - self.polled > LOOP {
            // Nobody is waiting.
            return self.work();
        }
        let store = &mut self.stores[slot(u64::from(site.0), STORES)];
        if *store != (site, addr) {
            *store = (site, addr);
            self.work();
        }
    }

    /// The next event is work: a wait does not go beyond it.
    #[inline]
    pub(super) fn work(&mut self) {
        self.worked = self.events + 1;
    }

    /// Was anything but waiting between the event after `event` others and the next one?
    pub(super) fn worked_since(&self, event: u64) -> bool {
        self.worked > event + 1
    }

    /// The poll of `addr` before the next event, if there was nothing but waiting since.
    pub(super) fn look(&self, addr: u64) -> Option<Poll> {
        let near = |poll: &Poll| self.events - poll.last <= LOOP;
        let poll = self.poll(addr).filter(near)?;
        (!self.worked_since(poll.last)).then_some(poll)
    }

    /// The poll of `addr` before the next event.
    pub(super) fn poll(&self, addr: u64) -> Option<Poll> {
        let poll = self.polls[slot(addr, POLLS)];
        let known = poll.site != SiteId::NONE && poll.addr == addr;
        (known && self.events - poll.last <= LOOK_BACK).then_some(poll)
    }

    /// When the stretch that `poll` is in began, and when the next one did.
    pub(super) fn time_of(&self, poll: &Poll) -> Option<(u64, u64)> {
        Some((self.began(poll.stretch)?, self.began(poll.stretch + 1)?))
    }
}
