//! How many sequential contexts a piece of code has open at a time.

use prestore_dirtbuster::{Finding, Verdict};

use crate::synthetic::Program;
use crate::{HEAP, STACK, of_site};

/// Records of so many bytes go to so many buckets at random.
fn distribution(buckets: usize, record: u32) -> Program {
    let mut p = Program::default();
    let put = p.block(1, 0).store(0, 0, record).compute(6).done();
    let mut filled = vec![0; buckets];
    let mut random = 1u64;
    for _ in 0..400_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
        let bucket = (random >> 33) as usize % buckets;
        let at = bucket as u64 * 0x100_0000 + filled[bucket];
        p.run(0, put, &[HEAP + at]);
        filled[bucket] += u64::from(record);
    }
    p
}

#[test]
fn many_streams_at_a_time_are_not_one_sequential_write() {
    let mut p = Program::default();
    let put = p.block(1, 0).store(0, 0, 4).compute(6).done();
    for i in 0..400_000u64 {
        p.run(0, put, &[HEAP + i % 1024 * 0x10_0000 + i / 1024 * 4]);
    }
    let f = p.analyze().findings;
    let place = of_site(&f, 1000);
    assert!(place.sequential_share > 0.9, "{place:#?}");
    assert_eq!(place.verdict, Verdict::LeaveAlone, "{place:#?}");
    assert!(
        place.streams.share > 0.9 && place.streams.visits > 8.0,
        "{place:#?}"
    );
    assert!(place.streams.between > 900.0, "{place:#?}");
    assert!(place.reason.contains("by turns"), "{}", place.reason);
}

/// A loop with a store instruction for each of its arrays, each of `size` bytes.
fn arrays(count: u64, size: u32) -> Program {
    let mut p = Program::default();
    let mut fill = p.block(1, 0);
    for nth in 0..count {
        fill = fill.store(nth as u16, 0, size);
    }
    let fill = fill.compute(2).done();
    // Whole lines are aligned.
    let apart = if size == 64 { 64 } else { 72 };
    for i in 0..(2_000_000 / count / u64::from(size)) {
        let address = |nth| HEAP + nth * (0x100_0000 + apart) + i * u64::from(size);
        let addresses: Vec<u64> = (0..count).map(address).collect();
        p.run(0, fill, &addresses);
    }
    p
}

#[test]
fn streams_of_many_instructions_count_together() {
    for (count, size) in [(8, 8), (10, 8), (24, 8), (40, 8), (10, 32)] {
        let f = arrays(count, size).analyze().findings;
        for nth in 0..count {
            let place = of_site(&f, 1000 + nth as u32);
            assert_eq!(
                place.verdict,
                Verdict::LeaveAlone,
                "{count} of {size}, {nth}: {place:#?}"
            );
            assert!(place.reason.contains("by turns"), "{}", place.reason);
            let others = place.streams.between;
            let most = (count - 1).min(32) as f64;
            assert!(others >= 7.0 && others <= most, "{count}: {place:#?}");
        }
    }
    for (count, size) in [(1, 8), (3, 8), (7, 8), (10, 64)] {
        let f = arrays(count, size).analyze().findings;
        for nth in 0..count {
            let place = of_site(&f, 1000 + nth as u32);
            assert_eq!(place.verdict, Verdict::Skip, "{count}: {place:#?}");
        }
    }
}

/// A matrix that is transposed in blocks, of which each row takes two lines.
#[test]
fn short_streams_have_first_lines_too() {
    let mut p = Program::default();
    let put = p.block(1, 0).store(0, 0, 8).compute(4).done();
    for block in 0..200u64 {
        for y in 0..16 {
            for x in 0..16 {
                let row = block / 64 * 16 + x;
                let at = HEAP + row * 0x1_0000 + block % 64 * 128 + y * 8;
                p.run(0, put, &[at]);
            }
        }
    }
    let f = p.analyze().findings;
    let place = of_site(&f, 1000);
    assert!(place.streams.share > 0.9, "{place:#?}");
    assert_eq!(place.verdict, Verdict::LeaveAlone, "{place:#?}");
}

/// What another place writes while the line of a stream is open, one after the other.
#[test]
fn messages_beside_a_stream_are_not_open_together() {
    let mut p = Program::default();
    let log = p.block(1, 0).store(0, 0, 8).compute(2).done();
    let message = p.block(1, 1).store(0, 0, 8).done();
    for i in 0..20_000u64 {
        p.run(0, log, &[HEAP + i * 8]);
        for word in 0..32 {
            p.run(0, message, &[HEAP + 0x1000_0000 + i * 0x1000 + word * 8]);
        }
    }
    let f = p.analyze().findings;
    for place in &f.findings {
        assert!(place.streams.share < 0.1, "{place:#?}");
    }
}

/// Where a third of the lines leaves in parts, these cost more than all that whole lines save.
#[test]
fn somewhat_more_streams_than_can_be_open_are_too_many() {
    for (buckets, record) in [(9, 16), (10, 32), (13, 32)] {
        let f = distribution(buckets, record).analyze().findings;
        let place = of_site(&f, 1000);
        assert_eq!(place.verdict, Verdict::LeaveAlone, "{buckets}: {place:#?}");
    }
}

#[test]
fn few_streams_and_whole_lines_are() {
    for (buckets, record) in [(4, 8), (7, 8), (1024, 64)] {
        let f = distribution(buckets, record).analyze().findings;
        let place = of_site(&f, 1000);
        assert!(place.streams.share < 0.1, "{buckets} {record}: {place:#?}");
    }
}

/// An array is filled, with an atomic (as of a lock) behind every few elements.
fn with_fences(elements: u64, into: u64) -> Finding {
    with_fences_by(1, elements, into)
}

/// So many threads do that, each with an array of its own.
fn with_fences_by(threads: u32, elements: u64, into: u64) -> Finding {
    let mut p = Program::default();
    let put = p.block(1, 0).store(0, 0, 8).compute(4).done();
    let lock = p.block(2, 0).atomic(0, 0, 8).compute(2).done();
    for thread in 0..threads {
        let own = u64::from(thread) << 32;
        for i in 0..200_000 {
            p.run(thread, put, &[HEAP + own + into + i * 8]);
            if i % elements == 0 {
                p.run(thread, lock, &[STACK + own]);
            }
        }
    }
    of_site(&p.analyze().findings, 1000).clone()
}

/// Simulated, clean and skip took up to nine times as long where lines are cut to pieces, and paid with 4 KB between fences.
#[test]
fn fences_amid_lines_speak_against_sending_them_out() {
    for elements in [1, 3, 8, 16] {
        let place = with_fences(elements, 16);
        assert_eq!(place.verdict, Verdict::LeaveAlone, "{elements}: {place:#?}");
        assert!(place.reason.contains("between two stores"), "{place:#?}");
    }
    for elements in [64, 512] {
        let place = with_fences(elements, 16);
        assert_eq!(place.verdict, Verdict::Skip, "{elements}: {place:#?}");
    }
}

/// Whole lines, one to four of them, with a fence each: simulated on machine A, clean and skip took up to three times as long.
#[test]
fn fences_every_few_lines_speak_against_it_too() {
    for (elements, into) in [(8, 56), (16, 56), (32, 56), (32, 16)] {
        let place = with_fences(elements, into);
        assert_eq!(place.verdict, Verdict::LeaveAlone, "{elements}: {place:#?}");
        assert!(
            place.reason.contains("lie between two of them"),
            "{place:#?}"
        );
    }
    // What several threads evict takes all of the memory's rate; but not where each line has a fence.
    for (threads, elements, verdict) in [
        (2, 16, Verdict::LeaveAlone),
        (2, 32, Verdict::Skip),
        (4, 16, Verdict::Skip),
        (10, 8, Verdict::LeaveAlone),
    ] {
        let place = with_fences_by(threads, elements, 56);
        assert_eq!(place.verdict, verdict, "{threads}, {elements}: {place:#?}");
    }
    // From six lines on both gain; memory that is farther makes them wait up to some thirty.
    for (elements, far) in [(48, true), (64, true), (128, true), (512, false)] {
        let place = with_fences(elements, 56);
        assert_eq!(place.verdict, Verdict::Skip, "{elements}: {place:#?}");
        assert_eq!(place.reason.contains("behind CXL"), far, "{place:#?}");
    }
}
