//! The tests of crash images see what is wrong: of each scheme, a run that lacks one of its flushes or fences, or stores
//! a word too early, is caught by some image.
//!
//! The defect is planted into the log of a correct run: one event is taken out, or moved. A medium that ignored the
//! call would leave the very same log.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;

use std::ops::ControlFlow;

use common::{Event, Recorder, survivors_log};
use prestore_crash::{CrashImage, Domain, Survivors};
use prestore_recompute::kernels::{Gauss, Granularity, Tmm};
use prestore_recompute::{Kernel, Medium, Memory, Options, Scheme, Session};

struct Suite<'a, K> {
    kernel: &'a K,
    options: Options,
    result: usize,
    expected: Vec<u8>,
    memory: Memory,
}

impl<K: Kernel> Suite<'_, K> {
    /// Whether some image of this log, of so many events from this one on, ends in another result.
    fn catches(&mut self, events: &[Event], from: usize, many: usize) -> bool {
        let blank = vec![0; self.memory.len()];
        let until = (from + many).min(events.len());
        let (before, all) = (
            survivors_log(&blank, &events[..from]),
            survivors_log(&blank, &events[..until]),
        );
        let mut survivors = Survivors::new(&all, Domain::Adr).after(before.events().len());
        let mut check = |image: &CrashImage<'_>| {
            if self.recovers(image.bytes()) {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        survivors.systematic(2000, &mut check).stopped.is_some()
            || survivors.random(1000, 2, &mut check).stopped.is_some()
    }

    fn recovers(&mut self, image: &[u8]) -> bool {
        self.memory.fill(image);
        let Ok(mut session) = Session::open(self.kernel, &self.memory, self.options, "image")
        else {
            return false;
        };
        session.run().is_ok() && session.read::<u8>(self.result) == self.expected
    }
}

/// What is at an offset, with one worker: the format's control words, or behind them arrays, logs and copies.
fn part(at: usize) -> &'static str {
    match at {
        0..128 => "header",
        128..192 => "finished",
        192..256 => "checkpoint",
        256..320 => "progress",
        320..384 => "logged progress",
        384..448 => "transaction",
        _ => "data",
    }
}

/// A kind of defect, and the log with one of it; none for an event that nothing can be done to.
fn defect(events: &[Event], number: usize) -> Option<(String, Vec<Event>)> {
    let next = events[number + 1..].iter().find_map(|event| match event {
        Event::Store { at, .. } => Some(part(*at)),
        _ => None,
    });
    let next = next.unwrap_or("the end");
    let mut broken = events.to_vec();
    let kind = match &events[number] {
        Event::Flush { at, len, .. } => {
            broken.remove(number);
            let whole = if *at == 0 && *len > 8 { "whole " } else { "" };
            format!("no flush of {whole}{} before {next}", part(*at))
        }
        Event::Fence { .. } => {
            broken.remove(number);
            let before = events[..number].iter().rev().find_map(|event| match event {
                Event::Flush { at, .. } => Some(part(*at)),
                _ => None,
            });
            format!(
                "no fence between {} and {next}",
                before.unwrap_or("nothing")
            )
        }
        // A control word, stored just before the fence that should precede it.
        Event::Store { at, .. }
            if part(*at) != "data"
                && number > 0
                && matches!(events[number - 1], Event::Fence { .. }) =>
        {
            broken.swap(number - 1, number);
            format!("{} stored before the fence", part(*at))
        }
        Event::Store { .. } => return None,
    };
    Some((kind, broken))
}

/// Plants every defect; adds for each kind how many there were and how many were caught.
fn plant<K: Kernel>(
    kernel: &K,
    result: usize,
    scheme: Scheme,
    kinds: &mut BTreeMap<String, (usize, usize)>,
) {
    let options = Options { scheme, workers: 1 };
    let size = Session::<K, Memory>::needs(kernel, options).unwrap();
    let log = Recorder::on(Memory::new(size));
    let mut session = Session::open(kernel, &log, options, "log").unwrap();
    session.run().unwrap();
    let expected = session.read(result);
    drop(session);
    let events = log.into_events();
    let mut suite = Suite {
        kernel,
        options,
        result,
        expected,
        memory: Memory::new(size),
    };
    assert!(!suite.catches(&events, 0, events.len()), "the correct run");
    for number in 0..events.len() {
        if let Some((kind, broken)) = defect(&events, number) {
            let entry = kinds.entry(kind).or_default();
            entry.0 += 1;
            entry.1 += usize::from(suite.catches(&broken, number, 120));
        }
    }
}

/// In no scheme wrong: a loop that is not known to have begun begins again, one that is not known to be finished finishes
/// again.
const ALWAYS_HARMLESS: [&str; 4] = [
    "no fence between finished and the end",
    "no fence between header and data",
    "no flush of finished before the end",
    "no flush of header before data",
];

/// The end of the last transaction is as good as the mark that the loop is finished: its step is done by then.
const LAST_TRANSACTION: [&str; 3] = [
    "finished stored before the fence",
    "no fence between transaction and finished",
    "no flush of transaction before finished",
];

/// Some defect of every kind is caught, but for kinds that are harmless; of these none is.
#[track_caller]
fn caught(kinds: &BTreeMap<String, (usize, usize)>, harmless: &[&str]) {
    for (kind, (planted, caught)) in kinds {
        println!("{kind}: {caught} of {planted} caught");
    }
    let mut harmless = [&ALWAYS_HARMLESS, harmless].concat();
    harmless.sort_unstable();
    let missed: Vec<_> = kinds
        .iter()
        .filter(|(_, counts)| counts.1 == 0)
        .map(|(kind, _)| kind.as_str())
        .collect();
    assert_eq!(missed, harmless);
}

const TMM: fn() -> Tmm = || Tmm::new(8, 2, Granularity::Ii);

#[test]
fn checkpointing() {
    let mut kinds = BTreeMap::new();
    let scheme = Scheme::Checkpoint {
        every: 1,
        inputs: false,
    };
    plant(&TMM(), Tmm::RESULT, scheme, &mut kinds);
    caught(&kinds, &[]);
}

#[test]
fn logging() {
    let mut kinds = BTreeMap::new();
    plant(&TMM(), Tmm::RESULT, Scheme::Logging, &mut kinds);
    caught(&kinds, &LAST_TRANSACTION);
}

#[test]
fn recompute() {
    let mut kinds = BTreeMap::new();
    plant(&TMM(), Tmm::RESULT, Scheme::Recompute, &mut kinds);
    caught(&kinds, &[]);
    // Not some but all: nothing that Recompute waits for is in vain.
    let inner = kinds
        .iter()
        .filter(|(kind, _)| !ALWAYS_HARMLESS.contains(&kind.as_str()));
    for (kind, (planted, caught)) in inner {
        assert_eq!(caught, planted, "{kind}");
    }
}

#[test]
fn hybrid() {
    let mut kinds = BTreeMap::new();
    let period = |period| Scheme::Hybrid { period };
    plant(&TMM(), Tmm::RESULT, period(2), &mut kinds);
    // One region: its next step follows its copy at once.
    plant(&Gauss::new(7, 7), Gauss::RESULT, period(1), &mut kinds);
    plant(&Gauss::new(7, 7), Gauss::RESULT, period(2), &mut kinds);
    caught(&kinds, &[]);
}
