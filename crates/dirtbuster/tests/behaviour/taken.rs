//! What one thread wrote and another one gets: waits that end with it, lines that are taken.

use prestore_dirtbuster::{Findings, Verdict};
use prestore_trace::FenceKind;

use crate::synthetic::Program;
use crate::{HEAP, of_site};

const ROUNDS: u64 = 20;
const POLLS: u64 = 100;

/// Thread 0 writes a word and executes `looks`, a block of one value, at the word's line; then thread 1 polls the word. Thread 2
/// has a turn between them where `third`.
fn told(third: bool, looks: impl Fn(&mut Program) -> u32) -> Findings {
    let mut p = Program::default();
    let work = p.block(1, 0).store(0, 0, 8).compute(9).done();
    let tell = p.block(1, 10).store(0, 0, 8).done();
    let looks = looks(&mut p);
    let poll = p.block(3, 0).load(0, 0, 8).compute(3).done();
    let flag = HEAP + 0x1000_0000;
    for round in 0..ROUNDS {
        p.run(0, work, &[HEAP + round * 64]);
        p.run(0, tell, &[flag]);
        p.run(0, looks, &[flag]);
        if third {
            p.run(2, work, &[HEAP + 0x10_0000 + round * 64]);
        }
        for _ in 0..POLLS {
            p.run(1, poll, &[flag]);
        }
    }
    p.analyze().findings
}

/// Messages are copied into slots, behind a fence each published by their flag, which lies in their first line (and in the last one of the
/// slot before), or apart. Simulated on machine B, demoting those of 512 bytes took up to twice as long where flags share their lines.
#[test]
fn messages_whose_flags_share_their_lines_are_demoted_only_where_they_are_large() {
    for (words, apart, verdict) in [
        (64, false, Verdict::LeaveAlone),
        (63, false, Verdict::LeaveAlone),
        (512, false, Verdict::Demote),
        (64, true, Verdict::Demote),
    ] {
        let mut p = Program::default();
        let claim = p.block(1, 0).atomic(0, 0, 8).compute(4).done();
        let copy = p.block(2, 0).store(0, 0, 8).compute(1).done();
        let count = p.block(1, 10).atomic(0, 0, 8).done();
        let publish = p.block(1, 20).store(0, 0, 8).compute(4).done();
        let read = p.block(3, 0).load(0, 0, 8).compute(1).done();
        let slots = 32;
        for i in 0..slots * 30 {
            let slot = HEAP + i % slots * (words + 1) * 8;
            let flag = if apart {
                HEAP + (1 << 30) + i % slots * 64
            } else {
                slot
            };
            p.run(0, claim, &[flag]);
            (1..=words).for_each(|w| p.run(0, copy, &[slot + w * 8]));
            p.run(0, count, &[HEAP + (2 << 30)]);
            p.run(0, publish, &[flag]);
            (1..=words).for_each(|w| p.run(1, read, &[slot + w * 8]));
        }
        let f = p.analyze().findings;
        let place = of_site(&f, 2000);
        assert_eq!(place.verdict, verdict, "{words} {apart}: {place:#?}");
        let told = place.reason.contains("have to come back");
        assert_eq!(told, verdict == Verdict::LeaveAlone, "{}", place.reason);
    }
}

#[test]
fn a_wait_is_one_though_the_writer_read_the_word_first() {
    for third in [false, true] {
        let f = told(third, |p| p.block(2, 0).load(0, 0, 8).done());
        assert!(f.time.waited > 4 * (ROUNDS - 2) * POLLS, "{:?}", f.time);
        assert!(f.time.lines_taken >= ROUNDS - 1, "{:?}", f.time);
    }
}

#[test]
fn and_though_the_writer_read_other_bytes_of_its_line() {
    let f = told(false, |p| p.block(2, 0).load(0, 32, 8).done());
    assert!(f.time.waited > 4 * (ROUNDS - 2) * POLLS, "{:?}", f.time);
    assert!(f.time.lines_taken >= ROUNDS - 1, "{:?}", f.time);
}

#[test]
fn what_was_its_writers_alone_for_a_while_is_looked_at_again() {
    let mut p = Program::default();
    let tell = p.block(1, 0).store(0, 0, 8).done();
    let look = p.block(2, 0).load(0, 0, 8).done();
    let poll = p.block(3, 0).load(0, 0, 8).compute(3).done();
    let other = p.block(4, 0).store(0, 0, 8).done();
    for round in 0..400 {
        p.run(0, tell, &[HEAP]);
        p.run(0, look, &[HEAP]);
        p.run(1, other, &[HEAP + 4096]);
        if round >= 200 {
            for _ in 0..POLLS {
                p.run(1, poll, &[HEAP]);
            }
        }
    }
    let f = p.analyze().findings;
    assert!(f.time.waited > 4 * 150 * POLLS, "{:?}", f.time);
    assert!(f.time.lines_taken >= 150, "{:?}", f.time);
}

/// Blocks of 16 MB are filled, each told of by a store to a flag, an atomic of it, or a store behind a fence, and read by another thread.
#[test]
fn data_that_a_plain_store_tells_of_is_not_skipped_without_a_fence() {
    for (fenced, atomic) in [(false, false), (false, true), (true, false)] {
        let mut p = Program::default();
        let fill = p.block(1, 0).store(0, 0, 64).compute(2).done();
        let order = p.block(1, 10).fence(FenceKind::Store).done();
        let tell = match atomic {
            true => p.block(1, 20).atomic(0, 0, 8).done(),
            false => p.block(1, 20).store(0, 0, 8).done(),
        };
        let read = p.block(3, 0).load(0, 0, 8).compute(1).done();
        let (bytes, flag) = (16 << 20, HEAP + (1 << 36));
        for round in 0..3 {
            let block = HEAP + round * bytes;
            for line in (0..bytes).step_by(64) {
                p.run(0, fill, &[block + line]);
            }
            if fenced {
                p.run(0, order, &[]);
            }
            p.run(0, tell, &[flag]);
            p.run(1, read, &[flag]);
            for line in (0..bytes).step_by(64) {
                p.run(1, read, &[block + line]);
            }
        }
        let f = p.analyze().findings;
        let place = of_site(&f, 1000);
        assert_eq!(place.verdict, Verdict::Skip, "{place:#?}");
        let warns = place.reason.contains("need an `sfence`");
        assert_eq!(
            warns,
            !fenced && !atomic,
            "{fenced} {atomic}: {}",
            place.reason
        );
        let minds = place.reason.contains("an `sfence` must come before it");
        assert_eq!(
            minds,
            fenced || atomic,
            "{fenced} {atomic}: {}",
            place.reason
        );
    }
}
