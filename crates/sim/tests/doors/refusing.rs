//! Leases: a core keeps a line for some time after it wrote it.

use std::collections::HashMap;

use prestore_machine::Machine;
use prestore_sim::{Changed, Departure, Doors, Left, OpKind, Orders, Probe, Request, Stored, Time};
use prestore_trace::{FlushKind, LineAddr};

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
            && let Left::Invalidated(by)
            | Left::Downgraded(by)
            | Left::Flushed(by)
            | Left::Cleaned(by) = gone.why
            && by != gone.core
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
            _ => thread.op(OpKind::Atomic, 16, 8, 1).work(30),
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

/// A thread writes a line again and again, and another does `other` to it all the while.
fn disturbed(machine: &Machine, other: OpKind, length: Time) -> Leases {
    let mut leases = Leases {
        length,
        ..Leases::default()
    };
    let writer = (0..400).fold(Thread::default(), |thread, _| {
        thread.load(0).store(0, 1).work(40)
    });
    let disturber = (0..40).fold(Thread::default().work(100), |thread, _| {
        thread.op(other, 0, 8, 1).work(100)
    });
    let doors = Doors::closed().probe(&mut leases);
    run(machine, [writer, disturber], doors);
    leases
}

#[test]
fn flushes_and_stores_past_the_caches_are_refused_too() {
    let cleans = tiny(&["core.clwb_retains=true"]);
    let through = "placement.types=[{ of = { kind = \"addresses\", first = 0, last = 63 }, type = \"write-through\" }]";
    let through = tiny(&[through]);
    let cases = [
        (&cleans, OpKind::Flush(FlushKind::Clwb)),
        (&cleans, OpKind::Flush(FlushKind::Clflushopt)),
        (&cleans, OpKind::Flush(FlushKind::Clflush)),
        (&through, OpKind::Store),
    ];
    for (machine, other) in cases {
        let free = disturbed(machine, other, Time::ZERO);
        assert!(free.kept.iter().any(|kept| *kept < ns(LEASE)), "{other:?}");
        let leases = disturbed(machine, other, ns(LEASE));
        assert!(leases.refused > 0, "{other:?}");
        assert!(!leases.kept.is_empty(), "{other:?}: it goes all the same");
        for kept in &leases.kept {
            assert!(*kept >= ns(LEASE), "{other:?}: {kept:?}");
        }
    }
}
