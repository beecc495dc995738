//! Barriers and ticket locks: threads arrive at one address by an atomic, and look at another one for their turn.
//!
//! At a *barrier* each thread arrives once a round, and the last one writes what all look at. Nobody goes on in
//! simulated time before all have arrived there, whoever is last. At a *ticket lock* each that arrived writes what
//! all look at when it is done, in the order in which they arrived; in simulated time, in the order in which they
//! arrive there.

use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use super::watcher::Poll;

/// One round or turn in this many may seem wrong: stamps are taken a little before the atomics that they belong to.
const MOST_WRONG: u64 = 16;

/// One thread at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) thread: u32,
    /// Events of the thread before and with its arrival.
    pub(super) arrived: u64,
    /// Events before it first looked, or wrote; `None`: it did not.
    pub(super) looked: Option<u64>,
    /// Events before the first and before the last look of its longest wait.
    pub(super) waited: Option<(u64, u64)>,
    /// It lets the others go on, and waits for nobody.
    pub(super) lets_go: bool,
}

/// One turn of a thread that had the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) part: Part,
    /// Events up to and including the write that lets the next one in.
    pub(super) until: u64,
}

/// What a pair of addresses is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meeting {
    /// A barrier: its rounds, each with those who met, who let the others go on first.
    Barrier(Vec<Vec<Part>>),
    /// A ticket lock.
    Lock(Vec<Turn>),
}

/// An address where threads arrive and one where they look.
#[derive(Debug, Default)]
struct Pair {
    /// Arrived since the last round was over.
    round: Vec<Part>,
    rounds: Vec<Vec<Part>>,
    wrong_rounds: u64,
    /// Of each thread, its part of the last round that is over.
    over: FxHashMap<u32, (usize, usize)>,
    /// Threads that wait for their turn or have it.
    queue: Vec<Part>,
    turns: Vec<Turn>,
    wrong_turns: u64,
    /// Where threads arrive.
    arrivals: Vec<SiteId>,
    /// What they look at is written by the same instructions as where they arrive: slots of a ring.
    alike: bool,
}

impl Part {
    fn looks(&mut self, event: u64, poll: Option<Poll>) {
        self.looked.get_or_insert(event);
        let Some(poll) = poll.filter(|_| !self.lets_go) else {
            return;
        };
        let longest = self.waited.map_or(0, |(first, last)| last - first);
        if poll.first >= self.arrived && poll.last - poll.first > longest {
            self.waited = Some((poll.first, poll.last));
        }
    }
}

impl Pair {
    fn arrive(&mut self, thread: u32, site: SiteId, event: u64) {
        if self.alike {
            return;
        }
        if !self.arrivals.contains(&site) {
            self.arrivals.push(site);
        }
        let part = Part {
            thread,
            arrived: event + 1,
            looked: None,
            waited: None,
            lets_go: false,
        };
        if self.round.iter().any(|p| p.thread == thread) {
            self.wrong_rounds += 1;
            self.round.clear();
        }
        if self.last_part(thread).is_some_and(|p| p.looked.is_none()) {
            self.wrong_rounds += 1;
        }
        self.over.remove(&thread);
        self.round.push(part);
        if let Some(at) = self.queue.iter().position(|p| p.thread == thread) {
            self.wrong_turns += 1;
            self.queue.swap_remove(at);
        }
        self.queue.push(part);
    }

    /// What `thread` did at the last round that is over, if it has not arrived again.
    fn last_part(&mut self, thread: u32) -> Option<&mut Part> {
        let &(round, part) = self.over.get(&thread)?;
        self.rounds.get_mut(round)?.get_mut(part)
    }

    fn look(&mut self, thread: u32, event: u64, poll: Option<Poll>) {
        if let Some(part) = self.round.iter_mut().find(|p| p.thread == thread) {
            part.looks(event, poll);
        } else if let Some(part) = self.last_part(thread) {
            part.looks(event, poll);
        }
        if let Some(part) = self.queue.iter_mut().find(|p| p.thread == thread) {
            part.looks(event, poll);
        }
    }

    fn write(&mut self, thread: u32, site: SiteId, event: u64) {
        if self.alike || self.arrivals.contains(&site) {
            *self = Self {
                alike: true,
                ..Self::default()
            };
            return;
        }
        // As a ticket: who writes has looked before. (Whose turn it is cannot be checked: between two stamps of a
        // thread nothing tells when it did what.)
        match self.queue.iter().position(|p| p.thread == thread) {
            Some(at) => {
                let part = self.queue.swap_remove(at);
                if part.looked.is_some() {
                    self.turns.push(Turn {
                        part,
                        until: event + 1,
                    });
                } else {
                    self.wrong_turns += 1;
                }
            }
            None => self.wrong_turns += u64::from(!self.queue.is_empty()),
        }
        // As a barrier: who writes has arrived last.
        if self.round.is_empty() {
            return;
        }
        if self.round.last().is_none_or(|p| p.thread != thread) {
            self.wrong_rounds += 1;
            self.round.clear();
            return;
        }
        let mut round = std::mem::take(&mut self.round);
        if round.len() < 2 {
            self.wrong_rounds += 1;
            return;
        }
        // It does not write before all are there, and they see what it wrote: perhaps as a message as well.
        round.rotate_right(1);
        round[0].looked = Some(event);
        round[0].lets_go = true;
        for (i, part) in round.iter().enumerate() {
            self.over.insert(part.thread, (self.rounds.len(), i));
        }
        self.rounds.push(round);
    }

    /// What it is, and how often it was.
    fn kind(self) -> Option<(u64, Meeting)> {
        let right = |times: usize, wrong: u64| wrong * MOST_WRONG <= times as u64 && times > 0;
        let (rounds, turns) = (self.rounds.len(), self.turns.len());
        if right(rounds, self.wrong_rounds) {
            return Some((rounds as u64, Meeting::Barrier(self.rounds)));
        }
        let first = self.turns.first().map(|t| t.part.thread);
        let several = self.turns.iter().any(|t| Some(t.part.thread) != first);
        (several && right(turns, self.wrong_turns))
            .then_some((turns as u64, Meeting::Lock(self.turns)))
    }
}

/// All pairs of a recording.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    pairs: Vec<(u64, u64, Pair)>,
    by_arrival: FxHashMap<u64, Vec<usize>>,
    by_look: FxHashMap<u64, Vec<usize>>,
}

impl Pairs {
    /// Those to be watched: where threads arrive, and where they look.
    pub(super) fn new(pairs: &[(u64, u64)]) -> Self {
        let mut all = Self::default();
        for (at, &(arrive, look)) in pairs.iter().enumerate() {
            all.pairs.push((arrive, look, Pair::default()));
            all.by_arrival.entry(arrive).or_default().push(at);
            all.by_look.entry(look).or_default().push(at);
        }
        all
    }

    /// `thread` executes an atomic at `addr`, behind `event` events.
    pub(super) fn atomic(&mut self, addr: u64, thread: u32, site: SiteId, event: u64) {
        for &at in self.by_arrival.get(&addr).into_iter().flatten() {
            self.pairs[at].2.arrive(thread, site, event);
        }
        self.write(addr, thread, site, event);
    }

    /// `thread` loads from `addr`, a look of `poll`.
    pub(super) fn load(&mut self, addr: u64, thread: u32, event: u64, poll: Option<Poll>) {
        for &at in self.by_look.get(&addr).into_iter().flatten() {
            self.pairs[at].2.look(thread, event, poll);
        }
    }

    /// `thread` writes to `addr`.
    pub(super) fn write(&mut self, addr: u64, thread: u32, site: SiteId, event: u64) {
        for &at in self.by_look.get(&addr).into_iter().flatten() {
            self.pairs[at].2.write(thread, site, event);
        }
    }

    /// Where threads met, and how: of an address where they arrive, the pair that holds most often. Of several that hold
    /// as often the nearest, as a barrier's words lie side by side: what the one that passed first wrote farther away
    /// (a global, the address of a function that it was first to call) may be looked at in a loop that waits for nobody.
    pub(super) fn meetings(self) -> Vec<(u64, Meeting)> {
        let mut best: FxHashMap<u64, (u64, u64, Meeting)> = FxHashMap::default();
        for (arrive, look, pair) in self.pairs {
            let Some((times, meeting)) = pair.kind() else {
                continue;
            };
            let far = look.abs_diff(arrive);
            let better = |&(most, near, _): &(u64, u64, Meeting)| {
                times > most || (times == most && far < near)
            };
            if best.get(&arrive).is_none_or(better) {
                best.insert(arrive, (times, far, meeting));
            }
        }
        let mut all: Vec<_> = best.into_iter().map(|(a, (_, _, m))| (a, m)).collect();
        all.sort_unstable_by_key(|(arrive, _)| *arrive);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::scan::Done;
    use crate::handoff::watcher::Watcher;

    const ARRIVE: u64 = 0x1000;
    const LOOK: u64 = 0x1004;
    const SITE: SiteId = SiteId(1);
    const OTHER: SiteId = SiteId(2);

    fn pairs() -> Pairs {
        Pairs::new(&[(ARRIVE, LOOK)])
    }

    #[test]
    fn who_is_last_of_a_round_lets_all_go_on() {
        let mut all = pairs();
        for round in 0..3u64 {
            let at = 10 * round;
            for thread in 0..3 {
                all.atomic(ARRIVE, thread, SITE, at);
            }
            all.load(LOOK, 0, at + 1, None);
            all.write(LOOK, 2, OTHER, at + 1);
            all.load(LOOK, 1, at + 1, None);
        }
        let meetings = all.meetings();
        let [(ARRIVE, Meeting::Barrier(rounds))] = &meetings[..] else {
            panic!("{meetings:?}");
        };
        assert_eq!(rounds.len(), 3);
        assert!(rounds.iter().flatten().all(|p| p.looked == Some(p.arrived)));
    }

    /// A thread that does nothing else looks at `addr` again.
    fn polled(watcher: &mut Watcher, events: u64, addr: u64) -> Option<Poll> {
        watcher.has_done(Done { events, worked: 0 });
        watcher.load(addr, OTHER);
        watcher.poll(addr)
    }

    #[test]
    fn of_pairs_that_hold_as_often_the_nearest_is_the_barrier() {
        const FAR: u64 = ARRIVE - 512;
        let mut all = Pairs::new(&[(ARRIVE, FAR), (ARRIVE, LOOK)]);
        let mut watcher = Watcher::default();
        watcher.wake();
        all.atomic(ARRIVE, 0, SITE, 0);
        all.load(LOOK, 0, 1, None);
        all.atomic(ARRIVE, 1, SITE, 0);
        all.write(LOOK, 1, OTHER, 1);
        // The first of its calls finds out where the function is; then both call it in a loop.
        all.write(FAR, 1, OTHER, 2);
        for event in 3..100 {
            let poll = polled(&mut watcher, event, FAR);
            all.load(FAR, 0, event, poll);
            all.load(FAR, 1, event, poll);
        }
        let meetings = all.meetings();
        let [(ARRIVE, Meeting::Barrier(rounds))] = &meetings[..] else {
            panic!("{meetings:?}");
        };
        assert!(
            rounds.iter().flatten().all(|p| p.waited.is_none()),
            "{rounds:?}"
        );
    }

    #[test]
    fn who_lets_the_others_go_on_waits_for_nobody() {
        let mut all = pairs();
        let mut watcher = Watcher::default();
        watcher.wake();
        for thread in 0..2 {
            all.atomic(ARRIVE, thread, SITE, 0);
        }
        all.write(LOOK, 1, OTHER, 1);
        for event in 2..100 {
            let poll = polled(&mut watcher, event, LOOK);
            all.load(LOOK, 1, event, poll);
        }
        let meetings = all.meetings();
        let [(ARRIVE, Meeting::Barrier(rounds))] = &meetings[..] else {
            panic!("{meetings:?}");
        };
        assert_eq!((rounds[0][0].thread, rounds[0][0].waited), (1, None));
    }

    #[test]
    fn who_has_a_ticket_lets_the_next_one_in() {
        let mut all = pairs();
        for thread in 0..3 {
            all.atomic(ARRIVE, thread, SITE, 0);
            all.load(LOOK, thread, 1, None);
        }
        for thread in 0..3 {
            all.write(LOOK, thread, OTHER, 5);
        }
        let meetings = all.meetings();
        let [(ARRIVE, Meeting::Lock(turns))] = &meetings[..] else {
            panic!("{meetings:?}");
        };
        let order: Vec<_> = turns.iter().map(|t| (t.part.thread, t.until)).collect();
        assert_eq!(order, [(0, 6), (1, 6), (2, 6)]);
    }

    #[test]
    fn a_count_that_threads_draw_from_is_neither() {
        let mut all = pairs();
        for (at, thread) in [0, 1, 1, 0, 0, 0, 1, 0].into_iter().enumerate() {
            all.atomic(ARRIVE, thread, SITE, 10 * at as u64);
            all.load(LOOK, thread, 10 * at as u64 + 1, None);
        }
        all.write(LOOK, 1, OTHER, 200);
        assert_eq!(all.meetings(), []);
    }

    #[test]
    fn slots_of_a_ring_are_neither() {
        let mut all = pairs();
        for at in 0..4 {
            for thread in 0..2 {
                all.atomic(ARRIVE, thread, SITE, 10 * at);
                all.load(LOOK, thread, 10 * at + 1, None);
            }
            for thread in 0..2 {
                all.atomic(LOOK, thread, SITE, 10 * at + 2);
            }
        }
        assert_eq!(all.meetings(), []);
    }
}
