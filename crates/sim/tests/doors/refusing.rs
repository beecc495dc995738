//! Leases: a core keeps a line for some time after it wrote it.

use std::collections::HashMap;

use prestore_sim::{Changed, Departure, Doors, Left, Orders, Probe, Request, Stored, Time};
use prestore_trace::LineAddr;

use crate::program::{Thread, ns, run, tiny};

const LEASE: u64 = 500;

#[derive(Default)]
struct Leases {
    /// How long; zero: nothing is refused.
    length: Time,
    /// By core and line: when it was written first after the core got it.
    written: HashMap<(u32, LineAddr), Time>,
    refused: u64,
    /// How long cores kept lines that others wanted.
    kept: Vec<Time>,
}

impl Probe for Leases {
    fn changed(&mut self, core: u32, at: Time, line: LineAddr, _: Changed, _: &[Stored]) -> Orders {
        self.written.entry((core, line)).or_insert(at);
        Orders::default()
    }

    fn refuses(&mut self, holder: u32, request: &Request) -> Option<Time> {
        if self.length == Time::ZERO {
            return None;
        }
        let since = self.written.get(&(holder, request.line))?;
        let until = *since + self.length;
        self.refused += u64::from(until > request.at);
        Some(until)
    }

    fn left(&mut self, gone: &Departure) {
        if let Some(since) = self.written.remove(&(gone.core, gone.line))
            && matches!(gone.why, Left::Invalidated(_) | Left::Downgraded(_))
        {
            self.kept.push(gone.at.since(since));
        }
    }
}

/// Two threads write and read the same line.
fn contended(length: Time) -> (Leases, u64) {
    let mut leases = Leases {
        length,
        ..Leases::default()
    };
    let thread = |first: u64| {
        (0..100).fold(Thread::default().work(first), |thread, n| match n % 3 {
            0 => thread.store(0, 1).work(30),
            1 => thread.load(8).work(30),
            _ => thread.op(prestore_sim::OpKind::Atomic, 16, 8, 1).work(30),
        })
    };
    let doors = Doors::closed().probe(&mut leases);
    let (results, _) = run(&tiny(&[]), [thread(0), thread(7)], doors);
    (leases, results.cycles)
}

#[test]
fn a_line_stays_where_it_is_while_requests_are_refused() {
    let (free, without) = contended(Time::ZERO);
    assert_eq!(free.refused, 0);
    assert!(free.kept.iter().any(|kept| *kept < ns(LEASE)));
    let (leases, with) = contended(ns(LEASE));
    assert!(leases.refused > 0);
    assert!(leases.kept.len() > 2, "it changes hands all the same");
    for kept in &leases.kept {
        assert!(*kept >= ns(LEASE), "{kept:?}");
    }
    assert!(with > without);
}
