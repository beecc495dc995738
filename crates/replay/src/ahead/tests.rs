//! What is brought ahead is what would have been given, in the same order, with the same end.

use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use prestore_sim::{Next, Op, OpKind, Source};
use prestore_trace::SiteId;

use super::beside;

/// Threads of so many loads each, three at a time; the thread `fails` has an error in the end.
struct Loads {
    left: Vec<u64>,
    fails: Option<u32>,
}

fn load(instr: u64) -> Op {
    Op {
        instr,
        addr: 64,
        size: 8,
        site: SiteId(0),
        kind: OpKind::Load,
        after: 0,
    }
}

impl Source for Loads {
    type Error = u32;

    fn threads(&self) -> u32 {
        self.left.len() as u32
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, u32> {
        let left = &mut self.left[thread as usize];
        if *left == 0 {
            let end = Next::End { instrs: 1000 };
            return if self.fails == Some(thread) {
                Err(thread)
            } else {
                Ok(end)
            };
        }
        for _ in 0..3.min(*left) {
            ops.push(load(*left));
            *left -= 1;
        }
        Ok(Next::More)
    }
}

/// All of one thread: its operations' numbers, and how it ended.
fn drain<S: Source>(source: &mut S, thread: u32) -> (Vec<u64>, Result<Next, S::Error>) {
    let (mut ops, mut numbers) = (Vec::new(), Vec::new());
    loop {
        ops.clear();
        let next = source.fill(thread, &mut ops);
        numbers.extend(ops.iter().map(|op| op.instr));
        if !matches!(next, Ok(Next::More)) {
            return (numbers, next);
        }
    }
}

#[test]
fn each_thread_gets_its_operations_in_order() {
    let left = vec![100, 0, 7, 4000];
    let all = |n: u64| (1..=n).rev().collect::<Vec<u64>>();
    // One behind the other: the last one's fillings wait long, and the others' come meanwhile.
    let (_, ended) = beside(Loads { left, fails: None }, |mut source| {
        assert_eq!(source.threads(), 4);
        [3, 0, 2, 1].map(|thread| drain(&mut source, thread))
    });
    let end = Ok(Next::End { instrs: 1000 });
    let expected = [4000, 100, 7, 0].map(|n| (all(n), end));
    assert_eq!(ended, expected);
}

#[test]
fn an_end_is_told_as_often_as_it_is_asked_for() {
    let left = vec![2];
    let ends = beside(Loads { left, fails: None }, |mut source| {
        let first = drain(&mut source, 0).1;
        (first, drain(&mut source, 0))
    });
    let end = Ok(Next::End { instrs: 1000 });
    assert_eq!(ends.1, (end, (vec![], end)));
}

#[test]
fn operations_before_an_error_come_before_it() {
    let fails = Some(1);
    let (_, ended) = beside(
        Loads {
            left: vec![10, 10],
            fails,
        },
        |mut source| [0, 1].map(|thread| drain(&mut source, thread)),
    );
    assert_eq!(ended[0].1, Ok(Next::End { instrs: 1000 }));
    assert_eq!(ended[1], ((1..=10).rev().collect(), Err(1)));
}

#[test]
fn what_is_not_asked_for_any_more_is_not_brought() {
    let left = vec![u64::MAX; 3];
    let (source, taken) = beside(Loads { left, fails: None }, |mut source| {
        let mut ops = vec![load(0)];
        source.fill(2, &mut ops).map(|_| ops.len())
    });
    // What was there stays in front.
    assert_eq!(taken, Ok(4));
    assert!(source.left.iter().all(|&left| left > u64::MAX - 1000));
}

/// One that cannot go on.
struct Broken;

impl Source for Broken {
    type Error = Infallible;

    fn threads(&self) -> u32 {
        1
    }

    fn fill(&mut self, _: u32, _: &mut Vec<Op>) -> Result<Next, Infallible> {
        panic!("broken");
    }
}

#[test]
fn a_panic_of_the_source_is_passed_on() {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        beside(Broken, |mut source| drain(&mut source, 0).0);
    }));
    assert!(caught.is_err());
}
