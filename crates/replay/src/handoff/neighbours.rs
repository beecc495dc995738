//! The first reading: where threads spin, and what they look at near an address behind an atomic at it.

use prestore_trace::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes between an address where threads arrive and one where they look for their turn.
const NEAR: u64 = 512;
/// Events behind an atomic in which a thread comes to look.
const WINDOW: u64 = 64;
/// Windows that are followed at once, of one thread.
const OPEN: usize = 4;
/// Addresses near another one of which it is counted how often they are looked at.
const MOST_NEAR: usize = 8;
/// The same while only some threads were read: others may make more of what one has seen last.
const MOST_NEAR_OF_ONE: usize = 64;
/// Loads of one address by one instruction, with little between them, that are a wait.
const SPIN: u32 = 3;
/// Other events between two of them: calls that give up the processor.
const BETWEEN: u64 = 8;
/// Instructions whose last loads are remembered: those of one loop.
const LOADS: usize = 8;
/// Addresses that are remembered as spun at.
const MOST_SPUN: usize = 1 << 12;
/// In so many windows of 8 a thread has to look.
const WINDOWS_OF_8: u64 = 7;

/// What is seen near one address.
#[derive(Debug, Default)]
struct Near {
    windows: u64,
    /// Distance, and windows in which the address at it was loaded or written.
    looks: Vec<(i16, u64)>,
    first: Option<u32>,
    several: bool,
}

impl Near {
    /// The address at `distance` was looked at in so many windows; of at most `most` it is counted.
    fn looked(&mut self, distance: i16, times: u64, most: usize) {
        let room = self.looks.len() < most;
        match self.looks.iter_mut().find(|(d, _)| *d == distance) {
            Some((_, all)) => *all += times,
            None if room => self.looks.push((distance, times)),
            None => {}
        }
    }
}

/// Of some threads.
#[derive(Debug, Default)]
pub(super) struct Neighbours {
    near: FxHashMap<u64, Near>,
    spun: Spun,
}

/// Addresses that threads spin at, in the order in which that was seen.
#[derive(Debug, Default)]
struct Spun {
    all: FxHashSet<u64>,
    in_order: Vec<u64>,
}

impl Spun {
    fn insert(&mut self, addr: u64) {
        if self.in_order.len() < MOST_SPUN && self.all.insert(addr) {
            self.in_order.push(addr);
        }
    }
}

/// One thread's part of it.
#[derive(Debug)]
pub(super) struct Looking {
    thread: u32,
    events: u64,
    open: Vec<Window>,
    /// Of [`Self::spins`], the instructions: one comparison for all.
    sites: [SiteId; LOADS],
    spins: [Spin; LOADS],
}

#[derive(Debug)]
struct Window {
    addr: u64,
    until: u64,
    seen: Vec<i16>,
}

/// Loads of one address by one instruction.
#[derive(Clone, Copy, Debug)]
struct Spin {
    addr: u64,
    times: u32,
    last: u64,
}

impl Looking {
    pub(super) fn new(thread: u32) -> Self {
        let spin = Spin {
            addr: 0,
            times: 0,
            last: 0,
        };
        Self {
            thread,
            events: 0,
            open: Vec::new(),
            sites: [SiteId::NONE; LOADS],
            spins: [spin; LOADS],
        }
    }

    /// Must its next events be shown?
    #[inline]
    pub(super) fn looks(&self) -> bool {
        !self.open.is_empty()
    }

    /// So many events that were not shown.
    #[inline]
    pub(super) fn pass(&mut self, events: u64) {
        self.events += events;
    }

    /// The next event accesses `addr`.
    #[inline(always)]
    pub(super) fn access(&mut self, all: &mut Neighbours, addr: u64) {
        self.events += 1;
        if !self.open.is_empty() {
            self.look(all, addr);
        }
    }

    /// The event accesses `addr`, behind atomics.
    #[inline(never)]
    fn look(&mut self, all: &mut Neighbours, addr: u64) {
        let now = self.events;
        for window in &mut self.open {
            let distance = addr.wrapping_sub(window.addr) as i64;
            if distance != 0 && distance.unsigned_abs() <= NEAR {
                let distance = distance as i16;
                if window.seen.len() < MOST_NEAR && !window.seen.contains(&distance) {
                    window.seen.push(distance);
                }
            }
        }
        while self.open.first().is_some_and(|w| w.until <= now) {
            let window = self.open.remove(0);
            all.window(self.thread, &window);
        }
    }

    /// The next event loads `addr`.
    #[inline]
    pub(super) fn load(&mut self, all: &mut Neighbours, addr: u64, site: SiteId) {
        let now = self.events;
        self.access(all, addr);
        let mut same = 0u32;
        for (at, of) in self.sites.iter().enumerate() {
            same |= u32::from(*of == site) << at;
        }
        let known = same != 0;
        let at = if known {
            same.trailing_zeros() as usize
        } else {
            let mut all = self.sites.iter().zip(&self.spins);
            let over =
                |(of, spin): (&SiteId, &Spin)| *of == SiteId::NONE || now - spin.last > BETWEEN;
            let Some(at) = all.position(over) else { return };
            self.sites[at] = site;
            at
        };
        let spin = &mut self.spins[at];
        if known && spin.addr == addr && now - spin.last <= BETWEEN {
            (spin.times, spin.last) = (spin.times + 1, now);
            if spin.times == SPIN {
                all.spun.insert(addr);
            }
        } else {
            *spin = Spin {
                addr,
                times: 1,
                last: now,
            };
        }
    }

    /// The next event is an atomic at `addr`.
    pub(super) fn atomic(&mut self, all: &mut Neighbours, addr: u64) {
        self.access(all, addr);
        if let Some(at) = self.open.iter().position(|w| w.addr == addr) {
            let window = self.open.remove(at);
            all.window(self.thread, &window);
        } else if self.open.len() == OPEN {
            let window = self.open.remove(0);
            all.window(self.thread, &window);
        }
        self.open.push(Window {
            addr,
            until: self.events + WINDOW,
            seen: Vec::new(),
        });
    }

    /// The thread has ended.
    pub(super) fn end(self, all: &mut Neighbours) {
        for window in &self.open {
            all.window(self.thread, window);
        }
    }
}

impl Neighbours {
    fn window(&mut self, thread: u32, window: &Window) {
        let near = self.near.entry(window.addr).or_default();
        near.windows += 1;
        near.several |= *near.first.get_or_insert(thread) != thread;
        for &distance in &window.seen {
            near.looked(distance, 1, MOST_NEAR_OF_ONE);
        }
    }

    /// What was seen of other threads, which come behind these.
    pub(super) fn join(&mut self, others: Self) {
        for (addr, other) in others.near {
            let near = self.near.entry(addr).or_default();
            near.windows += other.windows;
            let first = *near.first.get_or_insert(other.first.unwrap_or_default());
            near.several |= other.several || other.first.is_some_and(|thread| thread != first);
            for (distance, times) in other.looks {
                near.looked(distance, times, MOST_NEAR);
            }
        }
        for addr in others.spun.in_order {
            self.spun.insert(addr);
        }
    }

    /// Addresses where several threads execute atomics, each with one near it that they look at behind almost
    /// every one of those and that is spun at or `has_atomics` itself.
    pub(super) fn pairs(&self, has_atomics: impl Fn(u64) -> bool) -> Vec<(u64, u64)> {
        let mut pairs = Vec::new();
        for (&arrive, near) in self.near.iter().filter(|(_, near)| near.several) {
            for &(distance, times) in &near.looks {
                let look = arrive.wrapping_add_signed(distance.into());
                let waits = self.spun.all.contains(&look) || has_atomics(look);
                if waits && times * 8 >= near.windows * WINDOWS_OF_8 {
                    pairs.push((arrive, look));
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// Where threads spin.
    pub(super) fn into_spun(self) -> FxHashSet<u64> {
        self.spun.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARRIVE: u64 = 0x1000;
    const LOOK: u64 = 0x1040;
    const SITE: SiteId = SiteId(7);

    fn arrivals(all: &mut Neighbours, thread: u32, spins: usize) {
        let mut looking = Looking::new(thread);
        for _ in 0..4 {
            looking.atomic(all, ARRIVE);
            for _ in 0..spins {
                looking.load(all, LOOK, SITE);
            }
            looking.pass(100);
        }
        looking.end(all);
    }

    #[test]
    fn what_several_threads_look_at_and_spin_at_is_a_pair() {
        let mut all = Neighbours::default();
        arrivals(&mut all, 0, 1);
        assert_eq!(all.pairs(|_| true), [], "one thread");
        arrivals(&mut all, 1, 1);
        assert_eq!(all.pairs(|_| false), [], "nobody waits");
        assert_eq!(all.pairs(|a| a == LOOK), [(ARRIVE, LOOK)]);
        arrivals(&mut all, 1, 3);
        assert_eq!(all.pairs(|_| false), [(ARRIVE, LOOK)]);
        arrivals(&mut all, 2, 0);
        assert_eq!(all.pairs(|_| true), [], "one in four does not look");
    }

    #[test]
    fn a_loop_that_gives_up_the_processor_is_a_wait() {
        for sites in [[1, 2, 3], [1, 9, 17]] {
            let mut all = Neighbours::default();
            let mut looking = Looking::new(0);
            for _ in 0..4 {
                for (site, addr) in sites.into_iter().zip([LOOK, 0x5000, 0x6000]) {
                    looking.load(&mut all, addr, SiteId(site));
                }
            }
            assert!(all.into_spun().contains(&LOOK));
        }
    }

    #[test]
    fn a_loop_that_does_something_is_no_wait() {
        let mut all = Neighbours::default();
        let mut looking = Looking::new(0);
        for i in 0..100 {
            looking.load(&mut all, LOOK, SITE);
            looking.pass(BETWEEN + 1);
            looking.load(&mut all, LOOK + 8 * i, SITE);
            looking.pass(BETWEEN + 1);
        }
        assert!(all.into_spun().is_empty());
    }
}
