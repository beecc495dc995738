//! What is near: by the bytes that came meanwhile, however many instructions it took.

use prestore_dirtbuster::{Finding, Verdict};

use crate::synthetic::Program;
use crate::{HEAP, of_site};

/// A buffer of so many bytes is written, then read, again and again, with so many instructions a
/// line.
fn rounds(bytes: u64, instrs: u16) -> Program {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 64).compute(instrs).done();
    let read = p.block(2, 0).load(0, 0, 64).compute(instrs).done();
    for round in 0..4 {
        let to = HEAP + round * 0x1000_0000;
        for at in (0..bytes).step_by(64) {
            p.run(0, write, &[to + at]);
        }
        for at in (0..bytes).step_by(64) {
            p.run(0, read, &[to + at]);
        }
    }
    p
}

#[test]
fn a_verdict_depends_on_the_bytes_between_and_not_on_the_instructions() {
    for instrs in [1, 8, 60] {
        let small = rounds(256 << 10, instrs).analyze().findings;
        let large = rounds(8 << 20, instrs).analyze().findings;
        // It has left the core's own cache, and is still in its part of the shared one.
        let between = rounds(2 << 20, instrs).analyze().findings;
        let between = of_site(&between, 1000);
        assert_eq!(between.verdict, Verdict::Clean, "{instrs}: {between:#?}");
        assert_eq!(
            of_site(&small, 1000).verdict,
            Verdict::Clean,
            "{instrs}: {small:#?}"
        );
        assert_eq!(
            of_site(&large, 1000).verdict,
            Verdict::Skip,
            "{instrs}: {large:#?}"
        );
        let far = of_site(&large, 1000);
        assert!(
            far.reread.share > 0.99 && far.reread_near.share < 0.1,
            "{far:#?}"
        );
    }
}

/// An array of so many bytes is swept over, three times.
fn sweeps(bytes: u64, in_place: bool) -> Program {
    let mut p = Program::default();
    let draft = p.block(1, 0);
    let draft = if in_place {
        draft.load(0, 0, 64)
    } else {
        draft
    };
    let write = draft.store(0, 0, 64).compute(8).done();
    for _ in 0..3 {
        for at in (0..bytes).step_by(64) {
            p.run(0, write, &[HEAP + at]);
        }
    }
    p
}

#[test]
fn what_is_written_again_in_any_cache_is_left_there() {
    for in_place in [false, true] {
        for megabytes in [1, 2, 3, 8, 16] {
            let f = sweeps(megabytes << 20, in_place).analyze().findings;
            let f = of_site(&f, 1000 + u32::from(in_place));
            let leaves = megabytes > 10;
            let verdict = match (leaves, in_place) {
                (false, _) => Verdict::LeaveAlone,
                (true, false) => Verdict::Skip,
                (true, true) => Verdict::Clean,
            };
            assert_eq!(f.verdict, verdict, "{megabytes} MB, {in_place}: {f:#?}");
            // The figures say the same.
            assert_eq!(f.rewrite_near.mean.is_none(), leaves, "{f:#?}");
            let lines = 3 * (megabytes << 20) / 64;
            assert_eq!(f.lines_to_memory > lines / 2, leaves, "{f:#?}");
        }
    }
}

/// Arrays of so many megabytes each are swept over by turns, each `times` times in a row; at its last sweep the first one is written.
fn by_turns(megabytes: &[u64], times: u64) -> Program {
    let mut p = Program::default();
    let read = p.block(1, 0).load(0, 0, 64).compute(2).done();
    let write = p.block(2, 0).load(0, 0, 64).store(0, 0, 64).done();
    for _ in 0..3 {
        for (i, size) in megabytes.iter().enumerate() {
            for sweep in 1..=times {
                let block = if i == 0 && sweep == times {
                    write
                } else {
                    read
                };
                for at in (0..size << 20).step_by(64) {
                    p.run(0, block, &[HEAP + i as u64 * 0x1000_0000 + at]);
                }
            }
        }
    }
    p
}

#[test]
fn what_is_swept_over_again_and_again_drives_out_no_more_than_once() {
    // 5 MB are all that the caches are asked to hold, though 17 MB come to the core's own.
    let cases = [
        (&[2, 3][..], 5),
        (&[2, 3], 1),
        (&[8, 8], 2),
        (&[3, 3, 3, 3], 2),
    ];
    for (megabytes, times) in cases {
        let f = by_turns(megabytes, times).analyze().findings;
        let f = of_site(&f, 2001);
        let leaves = megabytes.iter().sum::<u64>() > 10;
        assert_eq!(
            f.verdict == Verdict::LeaveAlone,
            !leaves,
            "{megabytes:?}, {times}: {f:#?}"
        );
        assert_eq!(f.rewrite_near.mean.is_none(), leaves, "{f:#?}");
    }
}

/// Thread 0 fills a ring of so many megabytes, one after the other; as many others read each before the next. Where they had read
/// what it had written, the writer had written it again "while still cached", however large the ring was.
#[test]
fn what_others_read_leaves_the_writers_caches_as_well() {
    for (megabytes, readers) in [(1, 1), (16, 1), (16, 2)] {
        let mut p = Program::default();
        let write = p.block(1, 0).store(0, 0, 64).compute(3).done();
        let read = p.block(2, 0).load(0, 0, 64).compute(3).done();
        for turn in 0..3 * megabytes {
            let lines = (0..1 << 20).step_by(64);
            let lines = lines.map(|at| HEAP + ((turn % megabytes) << 20) + at);
            lines.clone().for_each(|at| p.run(0, write, &[at]));
            for reader in 1..=readers {
                lines.clone().for_each(|at| p.run(reader, read, &[at]));
            }
        }
        let f = p.analyze().findings;
        let f = of_site(&f, 1000);
        let leaves = megabytes > 10;
        assert_eq!(f.rewrite_near.mean.is_none(), leaves, "{megabytes}: {f:#?}");
        let left_alone = f.verdict == Verdict::LeaveAlone;
        assert_eq!(left_alone, !leaves, "{megabytes}, {readers}: {f:#?}");
    }
}

#[test]
fn a_reason_quotes_what_decided() {
    // One line in two is read soon, the other one much later.
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 64).compute(3).done();
    let read = p.block(2, 0).load(0, 0, 64).compute(5).done();
    let lines = 200_000;
    for i in 0..lines {
        p.run(0, write, &[HEAP + i * 64]);
        if i % 2 == 1 {
            p.run(0, read, &[HEAP + (i - 1) * 64]);
        }
    }
    for i in (1..lines).step_by(2) {
        p.run(0, read, &[HEAP + i * 64]);
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1000);
    assert_eq!(f.verdict, Verdict::Clean, "{f:#?}");
    assert!(f.reread.mean > Some(100_000.0), "{f:#?}");
    assert_eq!(
        (f.reread_near.mean, f.reread_near.share > 0.49),
        (Some(8.0), true)
    );
    assert!(f.reason.contains("after 8 instructions"), "{}", f.reason);
}

#[test]
fn a_reason_to_clean_tells_how_much_is_written_again() {
    let of = |every: u64| {
        let mut p = Program::default();
        let write = p.block(1, 0).store(0, 0, 64).compute(3).done();
        let read = p.block(2, 0).load(0, 0, 64).compute(5).done();
        for i in 0..100_000 {
            p.run(0, write, &[HEAP + i * 64]);
            p.run(0, read, &[HEAP + i * 64]);
            if i % every == 3 {
                p.run(0, write, &[HEAP + (i - 3) * 64]);
            }
        }
        of_site(&p.analyze().findings, 1000).clone()
    };
    let (never, some) = (of(u64::MAX), of(4));
    assert_eq!(
        (never.verdict, some.verdict),
        (Verdict::Clean, Verdict::Clean)
    );
    assert!(
        never
            .reason
            .contains("but none of it is written again before"),
        "{}",
        never.reason
    );
    assert!(some.reason.contains("but only"), "{}", some.reason);
    assert!(some.rewrite_near.share > 0.1, "{some:#?}");
}

#[test]
fn the_next_element_of_a_line_is_no_re_read_of_it() {
    // a[i] = a[i] + 1, element by element: what is read was not written yet.
    let mut p = Program::default();
    let add = p.block(1, 0).increment(0, 0, 8).compute(4).done();
    for i in 0..100_000 {
        p.run(0, add, &[HEAP + i * 8]);
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1001);
    assert_eq!((f.reread.mean, f.rewrite.mean), (None, None), "{f:#?}");
    assert_eq!(f.verdict, Verdict::Clean);
}

/// Lines are written, each read before by so many lines, with so many instructions a line; or written from others.
fn changed(before: u64, instrs: u16, same: bool) -> Verdict {
    let mut p = Program::default();
    let read = p.block(1, 0).load(0, 0, 32).load(0, 32, 32).done();
    let write = p.block(2, 0).store(0, 0, 32).store(0, 32, 32);
    let write = write.compute(instrs).done();
    let from = if same { HEAP } else { HEAP + (1 << 30) };
    for line in 0..100_000 + before {
        p.run(0, read, &[from + line * 64]);
        if let Some(line) = line.checked_sub(before) {
            p.run(0, write, &[HEAP + line * 64]);
        }
    }
    of_site(&p.analyze().findings, 2000).verdict
}

#[test]
fn what_is_read_just_before_is_changed_in_place_and_cleaned() {
    assert_eq!(changed(0, 4, true), Verdict::Clean);
    assert_eq!(changed(0, 4, false), Verdict::Skip);
    // An unrolled loop, and one that is compiled badly.
    assert_eq!(changed(4, 8, true), Verdict::Clean);
    assert_eq!(changed(0, 200, true), Verdict::Clean);
    // A row is read and worked on elsewhere before it is written.
    assert_eq!(changed(100, 8, true), Verdict::Skip);
}

#[test]
fn the_element_before_is_one_and_so_is_any_once_the_line_was_left() {
    let mut p = Program::default();
    let sum = p
        .block(1, 0)
        .load(0, -8, 8)
        .store(0, 0, 8)
        .compute(4)
        .done();
    for i in 0..100_000 {
        p.run(0, sum, &[HEAP + i * 8]);
    }
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1001).verdict, Verdict::Clean, "{f:#?}");

    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 8).done();
    let read = p.block(2, 0).load(0, 0, 8).done();
    p.run(0, write, &[HEAP]);
    p.run(0, read, &[HEAP + 8]);
    p.run(0, write, &[HEAP + 640]);
    p.run(0, read, &[HEAP + 8]);
    let f = p.analyze().findings;
    assert_eq!(of_site(&f, 1000).reread.mean, Some(3.0));
}

/// Rows of so many bytes, written one behind the other, or the last first, of each of which one element is read at once.
fn rows_read_at_once(row: usize, downwards: bool) -> Finding {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 8).compute(2).done();
    let read = p.block(2, 0).load(0, 0, 8).compute(2).done();
    let all = 30 << 20;
    for up in (0..all).step_by(row) {
        let row_at = if downwards { all - row as u64 - up } else { up };
        for at in (0..row as u64).step_by(8) {
            p.run(0, write, &[HEAP + row_at + at]);
        }
        p.run(0, read, &[HEAP + row_at]);
    }
    of_site(&p.analyze().findings, 1000).clone()
}

#[test]
fn what_is_read_soon_is_not_skipped_whatever_the_direction() {
    for downwards in [false, true] {
        for (row, verdict, said) in [
            (512, Verdict::Clean, "waits until memory has it"),
            (2048, Verdict::Clean, "waits until memory has it"),
            (4096, Verdict::Clean, "waits until memory has it"),
            (8192, Verdict::Skip, "waits for the memory"),
            (32768, Verdict::Skip, "sequential"),
        ] {
            let f = rows_read_at_once(row, downwards);
            assert_eq!(f.verdict, verdict, "{row}, {downwards}: {f:#?}");
            let parts = downwards && verdict == Verdict::Clean;
            let said = if parts { "re-read in part" } else { said };
            assert!(f.reason.contains(said), "{row}: {}", f.reason);
            let warned = f.reason.contains("waits for the memory");
            assert_eq!(warned, row == 8192, "{row}: {}", f.reason);
        }
    }
}
