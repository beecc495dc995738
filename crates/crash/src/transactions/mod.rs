//! Transactions of libpmemobj: stores to data that was there before, of which the undo log has no copy.
//!
//! A transaction that a power cut ends is rolled back from its undo log, which has what was *added* to the transaction (`TX_ADD`).
//! What the program stores and did not add before survives or not as it comes. That its line may be flushed all the same, with its
//! neighbours, hides it from rules about flushes.
//!
//! What was added is what the functions that add load: they copy it; and, in recordings with values, what they are told not to copy
//! ([`uncopied`]). An object that is new need not be added; its lines are flushed at the
//! commit as those are of which something was. So what is wrong is a store to a line of which other bytes were added, and one to a
//! line that the commit does not flush. What the program flushes itself, or stores around the caches, it does not leave to the transaction.

mod persists;
mod role;
mod uncopied;

use std::collections::BTreeMap;

use prestore_trace::{SiteId, ThreadId};
use rangemap::RangeSet;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::finding::{At, First};
use crate::line::{LINE, mask};
use crate::memory::{Key, Redundant};
use crate::regions::{Part, Piece};
use crate::under_way::Store;
use persists::Persists;
use role::Role;
use uncopied::Frame;

/// A store that was not added before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlogged {
    pub(crate) at: At,
    /// Where the transaction was begun.
    pub(crate) begun: At,
    pub(crate) first: First,
    pub(crate) stores: u64,
    pub(crate) owner: u32,
}

/// What is known of a transaction when it is over.
#[derive(Debug, Default)]
pub(crate) struct Over {
    /// Stores that were not added before.
    pub(crate) unlogged: Vec<Unlogged>,
    /// Stores to what was new in it, and is gone as it was aborted, or freed that again.
    pub(crate) gone: Vec<(Key, At)>,
    /// A call to persist something, before, was redundant.
    pub(crate) redundant: Option<Redundant>,
}

/// The transactions of all threads.
#[derive(Debug, Default)]
pub(crate) struct Transactions {
    roles: FxHashMap<SiteId, Option<Role>>,
    threads: FxHashMap<ThreadId, Open>,
    /// The library flushes, which it does not where it takes the caches for persistent.
    flushes: bool,
    /// Flushes that the program made or asked for.
    asked: FxHashSet<At>,
    /// Transactions so far.
    number: u64,
    /// Lines that were stored to where an object was made, its header at least, and in which transaction last.
    made: BTreeMap<Key, u64>,
}

/// What a thread has begun.
#[derive(Debug, Default)]
struct Open {
    /// Functions of the library that it is in, with the calls it was in then.
    within: Vec<(usize, Role)>,
    /// Transactions within each other.
    nested: u32,
    /// Where the outermost was begun, and its number.
    begun: Option<At>,
    number: u64,
    /// Bytes of lines that were added, a bit each.
    added: FxHashMap<Key, u64>,
    /// What was added without a copy: whose memory, and which bytes of it. Their line may be of a new object, which need not be added.
    uncopied: RangeSet<(u32, u64)>,
    /// Stores to those.
    into_uncopied: FxHashSet<(Key, At)>,
    /// Of the function that adds.
    frame: Frame,
    /// The call to persist something that it is in.
    persists: Option<Persists>,
    stores: FxHashMap<Key, Vec<Unlogged>>,
    /// Lines that the library has flushed since they were stored to.
    flushed: FxHashSet<Key>,
    /// It was aborted: what is new is gone, and flushed by nobody.
    aborted: bool,
    /// It has made an object.
    allocated: bool,
    /// It has freed an object behind that. Which one, is in registers; nothing flushes the lines of one that it has made.
    freed: bool,
}

impl Open {
    fn role(&self) -> Option<Role> {
        self.within.last().map(|(_, role)| *role)
    }

    /// The bytes of the line that were added without a copy.
    fn uncopied_in(&self, (owner, line): Key) -> u64 {
        let (first, end) = (line * LINE, (line + 1) * LINE);
        let ranges = self.uncopied.overlapping((owner, first)..(owner, end));
        ranges.fold(0, |all, range| {
            let (start, behind) = (range.start.1.max(first), range.end.1.min(end));
            all | mask(start - first, behind - start)
        })
    }

    /// A call to persist something that is over, and was redundant.
    fn returned(&mut self) -> Option<Redundant> {
        let over = self.persists.take_if(|_| self.within.is_empty());
        over.and_then(Persists::returned)
    }
}

impl Transactions {
    /// Does a function of the library begin at `site`? `named` answers the name of the one whose first instruction is there.
    pub(crate) fn is_entry(
        &mut self,
        site: SiteId,
        named: &mut dyn FnMut(SiteId) -> Option<String>,
    ) -> bool {
        let role = || named(site).and_then(|name| Role::of(&name));
        self.roles.entry(site).or_insert_with(role).is_some()
    }

    /// `thread` goes on `depth` calls deep, [elsewhere](Self::is_entry). Answers a call to persist something that is over by that, and was
    /// redundant.
    #[inline]
    pub(crate) fn goes_on(&mut self, thread: ThreadId, depth: usize) -> Option<Redundant> {
        let open = self.threads.get_mut(&thread)?;
        open.within.retain(|(at, _)| *at <= depth);
        open.returned()
    }

    /// `thread` enters the function of the library that begins `at`, `depth` calls deep, from `call`, by which a transaction may be
    /// over. `waits`: what it has flushed waits for a fence.
    pub(crate) fn enter(
        &mut self,
        thread: ThreadId,
        (at, call): (At, Option<At>),
        depth: usize,
        waits: bool,
    ) -> Over {
        let Some(role) = self.roles.get(&at.site).copied().flatten() else {
            return Over::default();
        };
        let open = self.threads.entry(thread).or_default();
        // One that jumps to the next is over, as one that has returned is.
        open.within.retain(|(at, _)| *at < depth);
        // The program goes on when it is in none: what is left was left by `longjmp`, as what aborts is.
        if matches!(role, Role::Stage | Role::End) && !open.within.is_empty() {
            open.within.clear();
            open.aborted = open.begun.is_some();
        }
        // What the library calls of its own interface, it calls for itself.
        let called = open.within.is_empty();
        let redundant = open.returned();
        open.within.push((depth, role));
        match role {
            Role::Begin if called => {
                open.nested += 1;
                if open.begun.is_none() {
                    self.number += 1;
                    (open.begun, open.number) = (Some(at), self.number);
                }
            }
            Role::Persist if called => open.persists = call.map(|c| Persists::called(c, waits)),
            Role::Add => open.frame = Frame::default(),
            Role::Abort => open.aborted = open.begun.is_some(),
            Role::Allocate => open.allocated = true,
            Role::Free => open.freed |= open.allocated,
            Role::End if called => open.nested = open.nested.saturating_sub(1),
            _ => {}
        }
        let over = match open.begun.is_some() && open.nested == 0 {
            true => self.over(thread),
            false => Over::default(),
        };
        Over { redundant, ..over }
    }

    /// The outermost transaction of `thread` has ended.
    fn over(&mut self, thread: ThreadId) -> Over {
        let Some(open) = self.threads.get_mut(&thread) else {
            return Over::default();
        };
        let next = Open {
            within: open.within.clone(),
            ..Open::default()
        };
        let open = std::mem::replace(open, next);
        // What is not flushed by then was freed again, or is gone with an aborted transaction.
        let is_gone = |(key, _): &(Key, At)| !open.flushed.contains(key);
        let gone = (open.into_uncopied.into_iter()).filter(is_gone).collect();
        let mut over = Over {
            gone,
            ..Over::default()
        };
        for (key, stores) in open.stores {
            if open.added.contains_key(&key) {
                over.unlogged.extend(stores);
                continue;
            }
            if open.flushed.contains(&key) {
                continue;
            }
            if open.aborted || open.freed && self.may_be_new(key, open.number) {
                over.gone.extend(stores.iter().map(|s| (key, s.at)));
            } else if self.flushes {
                over.unlogged.extend(stores);
            }
        }
        over
    }

    /// May a line be of an object that transaction `number` has made? Nearest before it then is what was stored to make that.
    fn may_be_new(&self, key: Key, number: u64) -> bool {
        let nearest = self.made.range(..=key).next_back();
        nearest.is_some_and(|(near, by)| near.0 == key.0 && *by == number)
    }

    /// Is a load of `thread` one of what is added?
    pub(crate) fn adds(&self, thread: ThreadId) -> bool {
        let open = self.threads.get(&thread);
        open.is_some_and(|open| open.begun.is_some() && open.role() == Some(Role::Add))
    }

    /// `thread` has loaded `piece`, and [adds](Self::adds) it.
    pub(crate) fn added(&mut self, thread: ThreadId, piece: Piece) {
        if let Some(open) = self.threads.get_mut(&thread) {
            for part in piece.lines() {
                *open.added.entry(part.key).or_default() |= bytes(&part);
            }
        }
    }

    /// `thread`, which [adds](Self::adds), has stored `bytes` to its own memory: perhaps the last of what it was told to add
    /// without a copy, which no load tells. Where in the pool, and how many bytes.
    pub(crate) fn told(&mut self, thread: ThreadId, addr: u64, bytes: &[u8]) -> Option<(u64, u64)> {
        self.threads.get_mut(&thread)?.frame.stored(addr, bytes)
    }

    /// `thread` has added `piece` without a copy.
    pub(crate) fn uncopied(&mut self, thread: ThreadId, piece: Piece) {
        if let Some(open) = self.threads.get_mut(&thread) {
            let end = piece.at + piece.size;
            (open.uncopied).insert((piece.owner, piece.at)..(piece.owner, end));
        }
    }

    /// `thread` has stored to `piece`.
    pub(crate) fn store(&mut self, thread: ThreadId, store: Store, piece: Piece) {
        let Store { at, first, .. } = store;
        let Some(open) = self.threads.get_mut(&thread) else {
            return;
        };
        if open.role() == Some(Role::Allocate) {
            let lines = piece.lines().map(|part| (part.key, open.number));
            self.made.extend(lines);
        }
        let is_meant = open.within.is_empty() && !store.non_temporal;
        let Some(begun) = open.begun.filter(|_| is_meant) else {
            return;
        };
        for part in piece.lines() {
            open.flushed.remove(&part.key);
            let added = open.added.get(&part.key).copied().unwrap_or_default();
            let others = bytes(&part) & !added;
            if others == 0 {
                continue;
            }
            if others & !open.uncopied_in(part.key) == 0 {
                open.into_uncopied.insert((part.key, at));
                continue;
            }
            let stores = open.stores.entry(part.key).or_default();
            match stores.iter_mut().find(|s| s.at == at) {
                Some(known) => known.stores += 1,
                None => stores.push(Unlogged {
                    at,
                    begun,
                    first: First {
                        address: piece.addr + part.further,
                        offset: piece.offset + part.further,
                        ..first
                    },
                    stores: 1,
                    owner: part.key.0,
                }),
            }
        }
    }

    /// `thread` has flushed a line at `at`; `redundant`: which had nothing to write back.
    pub(crate) fn flushed(&mut self, thread: ThreadId, at: At, redundant: Option<Redundant>) {
        let Some(open) = self.threads.get_mut(&thread) else {
            return;
        };
        if matches!(open.role(), None | Some(Role::Persist)) {
            self.asked.insert(at);
        }
        if let Some(persists) = &mut open.persists {
            // Who knows only the interface cannot count on what the library has flushed by itself.
            let was_asked = |r: &Redundant| r.before.is_some_and(|b| self.asked.contains(&b));
            persists.flushed(redundant.filter(was_asked));
        }
    }

    /// `thread` flushes the lines of `piece`, or has them written back.
    pub(crate) fn flush(&mut self, thread: ThreadId, piece: Piece) {
        let Some(open) = self.threads.get_mut(&thread) else {
            return;
        };
        let is_own = matches!(open.role(), None | Some(Role::Persist));
        self.flushes |= !is_own;
        let (first, last) = (piece.at / LINE, (piece.at + piece.size - 1) / LINE);
        // What is written back may be far more than was stored to, and what was stored to far more than a line.
        let lines: Vec<Key> = if last - first < open.stores.len() as u64 {
            (first..=last).map(|line| (piece.owner, line)).collect()
        } else {
            let within = |key: &&Key| key.0 == piece.owner && (first..=last).contains(&key.1);
            open.stores.keys().filter(within).copied().collect()
        };
        for key in lines {
            if is_own {
                open.stores.remove(&key);
            } else {
                open.flushed.insert(key);
            }
        }
    }
}

fn bytes(part: &Part) -> u64 {
    mask(part.from, part.size)
}
