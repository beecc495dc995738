//! A predictor at the private caches, as P4's: which store comes before a flush.

use std::collections::{HashMap, HashSet};

use prestore_sim::{
    Changed, Departure, Doors, Flushed, Left, Op, OpKind, Orders, Probe, Stored, Time,
};
use prestore_trace::{DemoteKind, FlushKind, LineAddr, SiteId};

use crate::program::{Thread, run, tiny};

/// Writes a line back behind a store whose site was the last before a flush once, and answers the flush when it
/// comes.
#[derive(Default)]
struct LastStore {
    sites: HashSet<SiteId>,
    last: HashMap<LineAddr, SiteId>,
    early: HashMap<LineAddr, Time>,
    answered: u64,
}

impl Probe for LastStore {
    fn changed(&mut self, _: u32, _: Time, line: LineAddr, _: Changed, by: &[Stored]) -> Orders {
        self.early.remove(&line);
        let Some(youngest) = by.last() else {
            return Orders::default();
        };
        self.last.insert(line, youngest.site);
        Orders {
            write_back: self.sites.contains(&youngest.site).then_some(true),
            hint: None,
        }
    }

    fn written_back(&mut self, _: u32, line: LineAddr, flushed: Flushed) {
        self.early.insert(line, flushed.done);
    }

    fn flush(&mut self, _: u32, _: Time, line: LineAddr, _: FlushKind) -> Option<Time> {
        if let Some(done) = self.early.remove(&line) {
            self.answered += 1;
            return Some(done);
        }
        self.sites.extend(self.last.get(&line));
        None
    }

    fn left(&mut self, gone: &Departure) {
        if matches!(gone.why, Left::Invalidated(_)) {
            self.early.remove(&gone.line);
        }
    }
}

/// Two stores to each of some lines, at sites 1 and 2, work, and a flush with a fence.
fn flushing(lines: u64) -> Thread {
    (0..lines).fold(Thread::default(), |thread, line| {
        let thread = thread.store(64 * line, 1).store(64 * line + 8, 2);
        thread.work(200).clwb(64 * line).sfence()
    })
}

#[test]
fn flushes_that_were_foreseen_are_done_when_they_come() {
    const LINES: u64 = 50;
    let machine = tiny(&[]);
    let (plain, expected) = run(&machine, [flushing(LINES)], Doors::closed());
    let mut probe = LastStore::default();
    let doors = Doors::closed().probe(&mut probe);
    let (foreseen, log) = run(&machine, [flushing(LINES)], doors);
    assert_eq!(probe.answered, LINES - 1, "the first flush teaches it");
    assert_eq!(probe.sites, HashSet::from([SiteId(2)]));
    let lines = |log: &[prestore_sim::Accepted]| -> Vec<_> {
        log.iter().map(|a| (a.line, a.bytes, a.persisted)).collect()
    };
    assert_eq!(lines(&log), lines(&expected), "the same becomes persistent");
    // A fence waited for the write-back: 30 ns to the controller, and 10 to see what the caches have.
    let gained = plain.cycles - foreseen.cycles;
    let each = gained as f64 / (LINES - 1) as f64;
    assert!((25.0..=45.0).contains(&each), "{each}");
}

#[test]
fn a_store_behind_an_early_write_back_makes_it_useless() {
    // The second store to the line comes after the one that is foreseen as the last.
    let again = |thread: Thread, line: u64| {
        let thread = thread.store(64 * line, 2).work(50).store(64 * line, 9);
        thread.work(50).clwb(64 * line).sfence()
    };
    let mut probe = LastStore::default();
    probe.sites.insert(SiteId(2));
    let threads = (0..10).fold(Thread::default(), again);
    let doors = Doors::closed().probe(&mut probe);
    let (_, log) = run(&tiny(&[]), [threads], doors);
    // Site 9 is learned from the first flush on; before, what the flush found dirty was written by itself.
    assert_eq!(probe.answered, 9);
    assert_eq!(log.len(), 20, "each line early and again");
}

/// Notes what leaves, and whose stores changed what.
#[derive(Default)]
struct Notes {
    left: Vec<Departure>,
    stores: Vec<(u32, Changed, u64)>,
}

impl Probe for Notes {
    fn changed(&mut self, core: u32, _: Time, _: LineAddr, how: Changed, by: &[Stored]) -> Orders {
        (self.stores).extend(by.iter().map(|store| (core, how, store.number)));
        Orders::default()
    }

    fn left(&mut self, gone: &Departure) {
        self.left.push(*gone);
    }
}

fn notes(threads: impl IntoIterator<Item = Thread>) -> (Notes, prestore_sim::Results) {
    let mut notes = Notes::default();
    let doors = Doors::closed().probe(&mut notes);
    let (results, _) = run(&tiny(&[]), threads, doors);
    (notes, results)
}

#[test]
fn what_leaves_a_private_cache_is_told_with_the_reason() {
    let cldemote = OpKind::Demote(DemoteKind::Cldemote);
    let clflush = OpKind::Flush(FlushKind::Clflush);
    let thread = Thread::default()
        .store(0, 1)
        .clwb(0)
        .sfence()
        .store(64, 1)
        .op(clflush, 64, 0, 0)
        .store(128, 1)
        .sfence()
        .op(cldemote, 128, 0, 0)
        .work(500);
    let (notes, _) = notes([thread]);
    let told: Vec<_> = notes
        .left
        .iter()
        .map(|d| (d.line.0, d.dirty, d.why))
        .collect();
    assert_eq!(
        told,
        [
            (0, 0xff, Left::Cleaned(0)),
            (1, 0xff, Left::Flushed(0)),
            (2, 0xff, Left::Demoted),
        ]
    );
}

#[test]
fn evictions_are_told_as_they_are_counted() {
    // 16 lines fit the nearest cache, 128 the last, which includes it.
    let thread = (0..300).fold(Thread::default(), |t, line| t.store(64 * line, 1));
    let (notes, results) = notes([thread]);
    let counted =
        results.levels[0].counts.dirty_evictions + results.levels[0].counts.clean_evictions;
    let evicted = |d: &&Departure| d.why == Left::Evicted;
    assert_eq!(notes.left.iter().filter(evicted).count() as u64, counted);
    assert!(counted > 200, "{counted}");
}

#[test]
fn another_cores_accesses_are_told_to_whom_they_take_a_line_from() {
    let owner = Thread::default().store(0, 1).store(64, 1).work(2000);
    let other = Thread::default().work(1000).load(0).store(64, 1);
    let (notes, _) = notes([owner, other]);
    let told: Vec<_> = notes
        .left
        .iter()
        .map(|d| (d.core, d.line.0, d.why))
        .collect();
    assert_eq!(
        told,
        [(0, 0, Left::Downgraded(1)), (0, 1, Left::Invalidated(1))]
    );
}

#[test]
fn each_store_is_named_once_for_each_line_it_changes() {
    let thread = Thread::default()
        .store(0, 1)
        .op(OpKind::NtStore, 64, 64, 1)
        .op(OpKind::Atomic, 128, 8, 1)
        .op(OpKind::Store, 252, 8, 1);
    let mut stores = notes([thread]).0.stores;
    stores.sort_by_key(|store| store.2);
    assert_eq!(
        stores,
        [
            (0, Changed::Cached, 0),
            (0, Changed::Around, 1),
            (0, Changed::Cached, 2),
            (0, Changed::Cached, 3),
            (0, Changed::Cached, 3),
        ]
    );
    // Op stays small: names stand beside.
    assert_eq!(size_of::<Op>(), 32);
}
