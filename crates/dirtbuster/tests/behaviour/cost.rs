//! Time, and what places weigh: bytes and lines, not instructions.

use prestore_dirtbuster::Verdict;

use crate::synthetic::Program;
use crate::{HEAP, STACK, of_site};

/// A kernel with few stores among many instructions, all of them to fresh lines.
fn kernel(instrs: u16, width: u32) -> Program {
    let mut p = Program::default();
    let point = p.block(1, 0).store(0, 0, width).compute(instrs).done();
    for i in 0..200_000 {
        p.run(0, point, &[HEAP + i * u64::from(width)]);
    }
    p
}

#[test]
fn a_kernel_whose_few_stores_fill_memory_is_write_intensive() {
    let f = kernel(13, 8).analyze().findings;
    assert!(f.store_fraction < 0.08, "{}", f.store_fraction);
    assert!(f.write_intensive, "{:?}", f.time);
    assert_eq!(of_site(&f, 1000).verdict, Verdict::Skip);
    // 25 000 lines of 8 stores each, for one of which the line must be got.
    assert_eq!(f.time.lines_written, 25_000);
    assert_eq!(f.time.writing, (200_000 + 25_000 * 28) as f64);
}

#[test]
fn the_same_stores_to_lines_that_stay_cached_are_not() {
    let mut p = Program::default();
    let point = p.block(1, 0).store(0, 0, 8).compute(13).done();
    for i in 0..200_000 {
        p.run(0, point, &[HEAP + i % 4096 * 8]);
    }
    let f = p.analyze().findings;
    assert!(!f.write_intensive, "{:?}", f.time);
    assert!(f.time.lines_written < 1000, "{:?}", f.time);
}

#[test]
fn what_is_dismissed_says_what_it_would_be() {
    let f = kernel(400, 8).analyze().findings;
    assert!(!f.write_intensive);
    let place = of_site(&f, 1000);
    assert_eq!(place.verdict, Verdict::LeaveAlone);
    assert!(
        place.reason.contains("not write-intensive"),
        "{}",
        place.reason
    );
    let else_it_would_be = place.dismissed.as_ref().unwrap();
    assert_eq!(else_it_would_be.verdict, Verdict::Skip);
    assert!(
        else_it_would_be.reason.contains("non-temporal"),
        "{place:#?}"
    );
}

#[test]
fn repeated_stores_weigh_by_their_bytes() {
    let mut p = Program::default();
    let fill = p.block(1, 0).rep_store(0, 1, 1).compute(50).done();
    let count = p.block(2, 0).increment(0, 0, 8).compute(2).done();
    for i in 0..100 {
        p.run(0, fill, &[HEAP + i * 4096, 4096]);
        for _ in 0..400 {
            p.run(0, count, &[STACK]);
        }
    }
    let f = p.analyze().findings;
    assert!(f.write_intensive, "{:?}", f.time);
    let first = &f.findings[0];
    assert_eq!(first.sites[0].site.0, 1000, "{f:#?}");
    assert!(
        first.store_share < 0.01 && first.write_share > 0.6,
        "{first:#?}"
    );
    assert_eq!(first.verdict, Verdict::Skip);
}

#[test]
fn waiting_for_another_thread_takes_no_time() {
    let run = |polls: u64| {
        let mut p = Program::default();
        let write = p.block(1, 0).store(0, 0, 8).compute(9).done();
        let tell = p.block(1, 10).store(0, 0, 8).done();
        let poll = p.block(2, 0).load(0, 0, 8).compute(3).done();
        let flag = HEAP + 0x1000_0000;
        for round in 0..10 {
            for _ in 0..polls {
                p.run(1, poll, &[flag]);
            }
            for i in 0..1000 {
                p.run(0, write, &[HEAP + (round * 1000 + i) * 8]);
            }
            p.run(0, tell, &[flag]);
            p.run(1, poll, &[flag]);
        }
        p.analyze().findings
    };
    let (few, many) = (run(2), run(5000));
    assert!(many.instructions > 2 * few.instructions);
    assert!(many.time.waited > 190_000, "{:?}", many.time);
    let share = (few.time.share(), many.time.share());
    assert!((share.0 - share.1).abs() < 0.02, "{share:?}");
}

/// A reader takes the slot of a message, finds it empty, and gives it back: X9's shared inboxes, and each queue that is looked at under
/// a lock.
#[test]
fn looking_under_a_lock_whether_there_is_something_is_waiting() {
    let waited = |given_back: u64| {
        let mut p = Program::default();
        let tell = p.block(1, 10).store(0, 0, 8).done();
        let take = p.block(2, 0).atomic(0, 0, 1).done();
        let look = p.block(2, 5).load(0, 8, 1).done();
        let give = p.block(2, 10).store(0, 0, 1).compute(3).done();
        let fetch = p.block(2, 20).store(0, 0, 8).compute(3).done();
        for round in 0..10 {
            for _ in 0..500 {
                p.run(1, take, &[HEAP]);
                p.run(1, look, &[HEAP]);
                p.run(1, give, &[HEAP + given_back]);
            }
            p.run(0, tell, &[HEAP + 8]);
            for (block, at) in [
                (take, 0),
                (look, 0),
                (fetch, 4096 + round * 8),
                (give, given_back),
            ] {
                p.run(1, block, &[HEAP + at]);
            }
        }
        p.analyze().findings.time.waited
    };
    assert!(waited(0) > 6 * 4000, "{}", waited(0));
    // Something else was written: a counter, say.
    assert_eq!(waited(4), 0);
}

#[test]
fn reading_the_same_constant_again_and_again_is_no_waiting() {
    let mut p = Program::default();
    let work = p.block(1, 0).load(0, 0, 8).compute(6).done();
    let store = p.block(1, 10).store(0, 0, 8).done();
    p.run(0, store, &[HEAP]);
    for _ in 0..1000 {
        p.run(0, work, &[HEAP]);
    }
    assert_eq!(p.analyze().findings.time.waited, 0);
}

/// A row of one matrix with a column of another: two addresses that go on by 8 and 1024 bytes.
#[test]
fn a_loop_over_two_arrays_is_no_waiting() {
    let mut p = Program::default();
    let multiply = p.block(2, 0).load(0, 0, 8).load(1, 0, 8).compute(3).done();
    let work = p.block(1, 0).store(0, 0, 8).compute(9).done();
    let (row, column) = (HEAP + 0x1000_0000, HEAP + 0x2000_0000);
    for _ in 0..10 {
        for i in 0..500 {
            p.run(1, multiply, &[row + 8 * i, column + 1024 * i]);
        }
        // What is read last is new.
        p.run(0, work, &[row + 8 * 500]);
        p.run(1, multiply, &[row + 8 * 500, column + 1024 * 500]);
    }
    assert_eq!(p.analyze().findings.time.waited, 0);
}
