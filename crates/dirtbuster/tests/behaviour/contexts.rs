//! What counts as a context, a re-read, a re-write.

use prestore_dirtbuster::Verdict;

use crate::synthetic::Program;
use crate::synthetic::copy::Copy;
use crate::{HEAP, STACK, of_site, sizes};

#[test]
fn a_context_survives_many_others_temporaries_and_long_pauses() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 64).done();
    let spill = p.block(1, 10).store(0, -8, 8).done();
    for line in 0..32 {
        for stream in 0..1000 {
            p.run(0, store, &[HEAP + stream * 0x10_0000 + line * 64]);
            p.run(0, spill, &[STACK]);
        }
        p.compute(0, 100_000);
    }
    let out = p.analyze();
    assert_eq!(sizes(of_site(&out.findings, 1000)), [(2048, 1000)]);
}

#[test]
fn a_write_after_a_very_long_pause_begins_a_context() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 64).done();
    for line in 0..64 {
        if line == 32 {
            p.compute(0, 300_000);
        }
        p.run(0, store, &[HEAP + line * 64]);
    }
    let out = p.analyze();
    assert_eq!(sizes(of_site(&out.findings, 1000)), [(2048, 2)]);
}

#[test]
fn descending_writes_are_sequential() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    for i in (0..512).rev() {
        p.run(0, store, &[HEAP + i * 8]);
    }
    let f = p.analyze().findings;
    assert_eq!(sizes(of_site(&f, 1000)), [(4096, 1)]);
    assert_eq!(of_site(&f, 1000).rewrite.share, 0.0);
}

#[test]
fn a_vectorised_copy_of_any_size_is_one_context_without_rewrites() {
    for to in [HEAP, HEAP + 8, HEAP + 40] {
        for n in 160..1200 {
            let mut p = Program::default();
            let copy = Copy::new(&mut p);
            let call = p.block(1, 0).call().done();
            p.run(0, call, &[]);
            copy.run(&mut p, 0, to, n);
            let f = p.analyze().findings;
            let f = of_site(&f, f.findings[0].sites[0].site.0);
            // A vector that lies just too far ahead may stay by itself.
            assert_eq!(f.contexts.len(), 1, "{n} bytes to {to:#x}: {f:#?}");
            assert!(
                f.contexts[0].bytes + 32 >= n,
                "{n} bytes to {to:#x}: {f:#?}"
            );
            assert_eq!(f.rewrite.share, 0.0, "{n} bytes to {to:#x}");
        }
    }
}

/// Rows of a frame whose memory was written before, each copied from its end on; they lie apart.
#[test]
fn a_copy_from_the_end_on_is_one_context_of_whole_lines() {
    for (to, n) in [
        (HEAP, 1920),
        (HEAP, 960),
        (HEAP + 32, 4096),
        (HEAP + 8, 1000),
    ] {
        let mut p = Program::default();
        let copy = Copy::new(&mut p);
        let call = p.block(1, 0).call().done();
        for row in 0..100 {
            p.run(0, call, &[]);
            copy.run_down(&mut p, 0, to + row * 8192, n);
        }
        let f = p.analyze().findings;
        let f = of_site(&f, f.findings[0].sites[0].site.0);
        assert_eq!(f.contexts.len(), 1, "{n} bytes to {to:#x}: {f:#?}");
        assert_eq!((f.contexts[0].bytes, f.contexts[0].count), (n, 100));
        assert_eq!(f.rewrite.share, 0.0, "{n} bytes to {to:#x}");
        if to == HEAP {
            assert_eq!(f.verdict, Verdict::Skip, "{n} bytes: {}", f.reason);
        }
    }
}

#[test]
fn the_first_read_counts_once_and_again_after_the_next_writing() {
    let mut p = Program::default();
    let store = p.block(1, 0).store(0, 0, 8).done();
    let load = p.block(2, 0).load(0, 0, 8).compute(1).done();
    for _ in 0..2 {
        p.run(0, store, &[HEAP]);
        for _ in 0..3 {
            p.run(0, load, &[HEAP]);
        }
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1000);
    assert_eq!((f.reread.mean, f.reread.share), (Some(1.0), 1.0));
    assert_eq!((f.rewrite.mean, f.rewrite.share), (Some(7.0), 0.5));
}

#[test]
fn the_load_of_a_counter_reads_its_last_increment() {
    let mut p = Program::default();
    let count = p.block(1, 0).increment(0, 0, 8).compute(9).done();
    for _ in 0..11 {
        p.run(0, count, &[HEAP]);
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1001);
    assert_eq!((f.reread.mean, f.rewrite.mean), (Some(10.0), Some(10.0)));
    assert_eq!(f.rewrite.share, 10.0 / 11.0);
}

/// Compilers write the last bytes of a structure early.
#[test]
fn within_its_lines_a_context_is_written_in_any_order() {
    for order in [
        [0, 7, 1, 2, 3, 4, 5, 6],
        [1, 7, 0, 2, 3, 4, 5, 6],
        [0, 5, 1, 2, 3, 4, 6, 7],
        [0, 7, 3, 4, 5, 6, 1, 2],
    ] {
        let mut p = Program::default();
        let mut node = p.block(1, 0);
        for word in order {
            node = node.store(0, word * 8, 8);
        }
        let node = node.compute(2).done();
        for line in 0..40_000u64 {
            p.run(0, node, &[HEAP + line * 64]);
        }
        let f = p.analyze().findings;
        let place = of_site(&f, 1000);
        assert_eq!(sizes(place), [(40_000 * 64, 1)], "{order:?}");
        assert_eq!(place.verdict, Verdict::Skip, "{order:?}: {place:#?}");
    }
}

/// A value is stored, then clipped: another instruction stores some elements again, at once.
#[test]
fn what_is_stored_again_at_once_is_one_writing() {
    for every in [1, 2, 3, 13, 40] {
        let mut p = Program::default();
        let store = p.block(1, 0).store(0, 0, 4).compute(20).done();
        let clip = p.block(1, 10).store(0, 0, 4).compute(2).done();
        for i in 0..100_000u64 {
            p.run(0, store, &[HEAP + i * 4]);
            if i % every == 0 {
                p.run(0, clip, &[HEAP + i * 4]);
            }
        }
        let f = p.analyze().findings;
        let place = of_site(&f, 1000);
        assert!(place.rewrite_near.share < 0.01, "{every}: {place:#?}");
        assert_eq!(place.verdict, Verdict::Skip, "{every}: {place:#?}");
    }
}

/// Records of which other code writes the first bytes: following advice to skip the rest took 2.8 times as long.
#[test]
fn lines_that_other_code_completes_are_written_in_part() {
    for (rest, verdict) in [
        (112, Verdict::Clean),
        (240, Verdict::Clean),
        (1008, Verdict::Skip),
    ] {
        let mut p = Program::default();
        let header = p.block(1, 0).store(0, 0, 8).store(0, 8, 8).done();
        let payload = p.block(2, 0).rep_store(0, 1, 8).done();
        for record in 0..8000u64 {
            let at = HEAP + record * (rest + 16);
            p.run(0, header, &[at]);
            p.run(0, payload, &[at + 16, rest / 8]);
        }
        let f = p.analyze().findings;
        let place = of_site(&f, 2000);
        assert_eq!(place.verdict, verdict, "{rest}: {place:#?}");
    }
}

/// Records of a line at random places: each is whole at once, and so a non-temporal store saves its fetch.
#[test]
fn lone_lines_that_are_written_whole_are_skipped() {
    let of = |words: u64, reads: bool, slots: u64| {
        let mut p = Program::default();
        let mut put = p.block(1, 0);
        for word in 0..words {
            put = put.store(0, word as i64 * 8, 8);
        }
        let put = put.compute(4).done();
        let get = p.block(2, 0).load(0, 0, 8).compute(4).done();
        let mut random = 1u64;
        for _ in 0..if slots == 1 << 19 { 2_400_000 } else { 300_000 } {
            random = random.wrapping_mul(6_364_136_223_846_793_005) + 1;
            let at = HEAP + (random >> 33) % slots * 192;
            if reads {
                p.run(0, get, &[at]);
            }
            p.run(0, put, &[at]);
        }
        let f = p.analyze().findings;
        of_site(&f, 1000).clone()
    };
    let whole = of(8, false, 1 << 20);
    assert_eq!(whole.verdict, Verdict::Skip, "{whole:#?}");
    assert!(
        whole.reason.contains("written whole and at once"),
        "{whole:#?}"
    );
    assert_eq!(whole.cache_limit, None, "{whole:#?}");
    // A larger cache keeps all of these.
    let kept = of(8, false, 1 << 19);
    assert_eq!(kept.verdict, Verdict::Skip, "{kept:#?}");
    let limit = kept.cache_limit.unwrap();
    assert!((32 << 20..=64 << 20).contains(&limit.bytes), "{kept:#?}");
    assert_eq!(limit.verdict, Verdict::LeaveAlone, "{kept:#?}");
    // In part, in place, and in the cache.
    for other in [
        of(6, false, 1 << 20),
        of(8, true, 1 << 20),
        of(8, false, 1 << 10),
    ] {
        assert_eq!(other.verdict, Verdict::LeaveAlone, "{other:#?}");
    }
}
