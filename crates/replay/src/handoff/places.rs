//! Addresses that threads meet at: who wrote last, and is it a message or a lock?

use std::collections::VecDeque;

use prestore_trace::SiteId;
use rustc_hash::FxHashMap;

use super::locks::Locks;
use super::sections::Attempt;
use super::watcher::Watcher;
use crate::marks::MAX_LOCK;

/// One write to an address: an atomic or, where others use atomics, a plain store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Write {
    /// Index of the thread.
    pub(super) thread: u32,
    pub(super) site: SiteId,
    /// Events of the thread before it.
    pub(super) event: u64,
    /// The stretch of its thread that it is in.
    pub(super) stretch: u64,
    /// When that began.
    pub(super) ticks: u64,
}

/// What was handed over, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) from: Write,
    /// Where the first of them took it.
    pub(super) at: SiteId,
    /// Each thread that has seen it, and its events before its first and its last look.
    pub(super) to: Vec<(u32, (u64, u64))>,
}

/// An address.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The last atomic, and the one before.
    last: Option<Write>,
    before: Option<(u32, SiteId)>,
    /// The thread and the site of the first atomic since the last release: if it is a lock, who has it.
    /// Later ones from that site failed.
    holder: Option<(u32, SiteId)>,
    /// Threads, and the site of each one's last atomic; the latest last.
    tried: Vec<(u32, SiteId)>,
    /// Plain stores that nobody has taken.
    stores: VecDeque<Write>,
    /// The threads that want to acquire it, or have.
    attempts: Vec<Attempt>,
    /// Who had it last.
    had: Option<Attempt>,
    /// Its number, once it seemed to be a lock.
    lock: Option<u32>,
    /// The last message.
    message: Option<Box<Given>>,
}

/// Threads of which it is remembered what they tried at one address: those that wait for one lock.
const MAX_TRIED: usize = 64;

/// Plain stores that are remembered for one address: what is not taken is not waited for.
const MAX_STORES: usize = 1 << 16;

/// What an atomic is to the write before it at its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// The first, or the same thread's.
    Own,
    /// Another thread's turn at the same thing.
    Lock,
    /// Perhaps another thread's message.
    Message(Write),
}

impl Place {
    /// What `b` is to the atomic before it, which it becomes.
    pub(super) fn atomic(&mut self, b: Write) -> Relation {
        self.holder.get_or_insert((b.thread, b.site));
        let tried = self.tries(b.thread, b.site);
        let Some(a) = self.last.replace(b) else {
            return Relation::Own;
        };
        let before = self.before.replace((a.thread, a.site));
        if a.thread == b.thread {
            Relation::Own
        } else if self.gives(a.site, b.site) {
            Relation::Message(a)
        } else if a.site == b.site || before == Some((a.thread, b.site)) || tried == Some(a.site) {
            // Acquired by both from one site; in between there may have been a release, or this
            // thread failed there first and tries again from another.
            Relation::Lock
        } else {
            Relation::Message(a)
        }
    }

    /// Did several threads take parts of the last message with an atomic at `taken`, and was it made at `given`? Then it is
    /// a condition, and there is another one when that happens again: whoever gives now took a part then, or the reverse.
    fn gives(&self, given: SiteId, taken: SiteId) -> bool {
        let last = self.message.as_deref();
        last.is_some_and(|last| last.to.len() > 1 && (last.from.site, last.at) == (given, taken))
    }

    /// The thread of `by`, which looked for it behind `looks` of its events, was handed over `from`. Answers what several
    /// threads were given so far.
    pub(super) fn handed_over(
        &mut self,
        from: Write,
        by: Write,
        looks: (u64, u64),
    ) -> Option<&Given> {
        let to = (by.thread, looks);
        match &mut self.message {
            Some(message) if message.from == from => message.to.push(to),
            message => {
                let (at, to) = (by.site, vec![to]);
                *message = Some(Box::new(Given { from, at, to }));
            }
        }
        self.message.as_deref().filter(|given| given.to.len() > 1)
    }

    /// The message that others took a part of with the same instruction as `thread` now, which has not seen it:
    /// what a condition or semaphore gives to several.
    pub(super) fn shared_message(&self, thread: u32) -> Option<Write> {
        let Given { from, to, .. } = self.message.as_deref()?;
        let has_seen = to.iter().any(|(seen, _)| *seen == thread);
        let new = from.thread != thread && !has_seen && to.len() < MAX_TRIED;
        new.then_some(*from)
    }

    /// Did `thread`, which is at `site` now, want to acquire it in vain, in the same way as the one that had it last?
    pub(super) fn is_tried_again(&self, thread: u32, site: SiteId) -> bool {
        let Some(had) = self.had else { return false };
        let mut own = self.attempts.iter().filter(|a| a.thread == thread);
        let alike = |s: SiteId| s == had.site || s == had.began;
        had.thread != thread && own.any(|a| alike(a.began) || alike(a.site) || alike(site))
    }

    /// It was released by who acquired it with `attempt`.
    pub(super) fn released(&mut self, attempt: Attempt) {
        self.had = Some(attempt);
    }

    /// `thread` looks at it, or near it: its wait did not end with its last attempt.
    pub(super) fn looked(&mut self, thread: u32) {
        if let Some(attempt) = self.attempts.iter_mut().find(|a| a.thread == thread) {
            attempt.looked = true;
        }
    }

    /// Notes an atomic of `thread`; answers the site of the one before.
    fn tries(&mut self, thread: u32, site: SiteId) -> Option<SiteId> {
        let before = self.tried.iter().rposition(|(other, _)| *other == thread);
        let tried = before.map(|at| self.tried.remove(at).1);
        if self.tried.len() == MAX_TRIED {
            self.tried.remove(0);
        }
        self.tried.push((thread, site));
        tried
    }

    /// Takes the plain store that `thread` saw when it polled between `times`: the oldest of other
    /// threads that nobody has taken, unless a later one was certainly there before the poll.
    pub(super) fn take(
        &mut self,
        thread: u32,
        times: (u64, u64),
        watchers: &[Watcher],
    ) -> Option<Write> {
        self.stores.retain(|s| s.thread != thread);
        let over = |s: &Write| {
            let end = watchers[s.thread as usize].began(s.stretch + 1);
            end.is_some_and(|end| end <= times.0)
        };
        while self.stores.get(1).is_some_and(over) {
            self.stores.pop_front();
        }
        let first = self.stores.front().filter(|s| s.ticks < times.1).copied()?;
        self.stores.pop_front();
        Some(first)
    }

    /// What `thread` tried, which ends with that.
    pub(super) fn end_attempt(&mut self, thread: u32) -> Option<Attempt> {
        let at = self.attempts.iter().position(|a| a.thread == thread)?;
        Some(self.attempts.swap_remove(at))
    }

    /// A thread tries, or tries again.
    pub(super) fn attempt(&mut self, attempt: Attempt) {
        if self.attempts.len() < MAX_TRIED {
            self.attempts.push(attempt);
        }
    }

    /// The number that it has, at `addr`, among `locks`.
    pub(super) fn lock(&mut self, addr: u64, locks: &mut Locks) -> Option<u32> {
        self.lock = self.lock.or_else(|| locks.add(addr, MAX_LOCK));
        self.lock
    }

    /// A plain store; of a thread that had acquired the address (`attempted`: it tried to, and has not released it) it
    /// is a release, whether others tried to acquire it meanwhile or not.
    pub(super) fn store(&mut self, s: Write, attempted: bool) {
        let acquired = self.holder.filter(|(thread, _)| *thread == s.thread);
        let released = attempted
            || self.last.is_some_and(|a| {
                a.thread == s.thread || acquired.is_some_and(|(_, site)| site == a.site)
            });
        if acquired.is_some() {
            self.holder = None;
        }
        if !released && self.stores.len() < MAX_STORES {
            self.stores.push_back(s);
        }
    }
}

/// All addresses with atomics.
#[derive(Debug, Default)]
pub(super) struct Places {
    map: FxHashMap<u64, Place>,
    seen: Seen,
}

/// Addresses where threads may meet, by a hash of [`HASH_BITS`]: most accesses are elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// A bit for each hash.
    all: Box<[u64; WORDS]>,
    /// A bit for each of those words: little of the host's caches, and enough for nearly all.
    words: Box<[u64; WORDS / 64]>,
}

const HASH_BITS: u32 = 18;
const WORDS: usize = 1 << (HASH_BITS - 6);

#[inline(always)]
fn hash(addr: u64) -> usize {
    (addr.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - HASH_BITS)) as usize
}

impl Default for Seen {
    fn default() -> Self {
        Self {
            all: Box::new([0; WORDS]),
            words: Box::new([0; WORDS / 64]),
        }
    }
}

impl Seen {
    /// May threads meet at the address?
    #[inline(always)]
    pub(super) fn perhaps(&self, addr: u64) -> bool {
        !self.is_elsewhere(addr) && self.all[hash(addr) / 64] >> (hash(addr) % 64) & 1 == 1
    }

    /// Is the address certainly none of them? Not all others are told.
    #[inline(always)]
    pub(super) fn is_elsewhere(&self, addr: u64) -> bool {
        let word = hash(addr) / 64;
        self.words[word / 64] >> (word % 64) & 1 == 0
    }

    fn note(&mut self, addr: u64) {
        let hash = hash(addr);
        self.all[hash / 64] |= 1 << (hash % 64);
        self.words[hash / 64 / 64] |= 1 << (hash / 64 % 64);
    }
}

impl Places {
    /// The address of an atomic.
    pub(super) fn at(&mut self, addr: u64) -> &mut Place {
        self.seen.note(addr);
        self.map.entry(addr).or_default()
    }

    /// Where threads may meet, by what was noted so far.
    pub(super) fn seen(&self) -> Seen {
        self.seen.clone()
    }

    /// Shows accesses of the address, whether it has atomics or not.
    pub(super) fn note(&mut self, addr: u64) {
        self.seen.note(addr);
    }

    /// Are there atomics at the address?
    pub(super) fn has(&self, addr: u64) -> bool {
        self.map.contains_key(&addr)
    }

    /// The address, if there are atomics at it.
    pub(super) fn known(&mut self, addr: u64) -> Option<&mut Place> {
        self.map.get_mut(&addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACQUIRE: SiteId = SiteId(1);
    const RELEASE: SiteId = SiteId(2);

    fn by(thread: u32, site: SiteId) -> Write {
        Write {
            thread,
            site,
            event: 0,
            stretch: 0,
            ticks: 0,
        }
    }

    #[test]
    fn a_release_is_no_message_whoever_tried_meanwhile() {
        for others in [&[][..], &[1], &[1, 2, 1]] {
            let mut lock = Place::default();
            lock.atomic(by(0, ACQUIRE));
            for &other in others {
                assert_ne!(
                    lock.atomic(by(other, ACQUIRE)),
                    Relation::Message(by(0, ACQUIRE))
                );
            }
            lock.store(by(0, RELEASE), false);
            assert!(lock.stores.is_empty(), "{others:?}");
            // The next one has it, and releases it in turn.
            lock.atomic(by(1, ACQUIRE));
            lock.atomic(by(2, ACQUIRE));
            lock.store(by(1, RELEASE), false);
            assert!(lock.stores.is_empty(), "{others:?}");
        }
    }

    #[test]
    fn a_lock_is_one_though_who_waits_tries_again_elsewhere() {
        const AGAIN: SiteId = SiteId(3);
        let mut lock = Place::default();
        lock.atomic(by(0, ACQUIRE));
        assert_eq!(lock.atomic(by(1, ACQUIRE)), Relation::Lock);
        lock.store(by(0, RELEASE), false);
        // Another one was faster.
        assert_eq!(lock.atomic(by(2, ACQUIRE)), Relation::Lock);
        lock.store(by(2, RELEASE), false);
        assert_eq!(lock.atomic(by(1, AGAIN)), Relation::Lock);
        // Who never tried there may have got a message.
        assert_eq!(lock.atomic(by(3, RELEASE)), Relation::Message(by(1, AGAIN)));
    }

    #[test]
    fn who_gave_to_several_may_be_the_first_that_others_give_to() {
        const GIVE: SiteId = SiteId(4);
        const TAKE: SiteId = SiteId(5);
        let mut word = Place::default();
        let take = |word: &mut Place, from: Write, by: Write| {
            word.handed_over(from, by, (0, 0));
        };
        word.atomic(by(0, GIVE));
        for thread in [1, 2] {
            word.atomic(by(thread, TAKE));
            take(&mut word, by(0, GIVE), by(thread, TAKE));
        }
        // The last one that took gives, and the one that gave takes first; then another one that took is the first.
        word.atomic(by(2, GIVE));
        assert_eq!(word.atomic(by(0, TAKE)), Relation::Message(by(2, GIVE)));
        take(&mut word, by(2, GIVE), by(0, TAKE));
        assert_eq!(word.atomic(by(1, TAKE)), Relation::Lock);
        assert_eq!(word.shared_message(1), Some(by(2, GIVE)));
    }

    #[test]
    fn a_store_of_a_thread_that_acquired_nothing_is_a_message() {
        let mut slot = Place::default();
        slot.store(by(0, RELEASE), false);
        slot.atomic(by(1, ACQUIRE));
        slot.store(by(0, RELEASE), false);
        assert_eq!(slot.stores.len(), 2);
    }
}
