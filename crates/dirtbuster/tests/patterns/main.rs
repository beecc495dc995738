//! The programs with known answers (P0's listings and applications), as synthetic streams.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may panic as the tests do"
)]

mod listings;
#[path = "../synthetic/mod.rs"]
mod synthetic;

use fastrand::Rng;
use prestore_dirtbuster::{Finding, Findings, Verdict};
use synthetic::{Program, SITES};

const HEAP: u64 = 0x7f00_0000_0000;
const STACK: u64 = 0x7ffc_0000_0000;

/// The finding with the most stores whose top store is in `function`.
#[track_caller]
fn of_function(f: &Findings, function: u32) -> &Finding {
    let found = f
        .findings
        .iter()
        .find(|f| f.sites[0].site.0 / SITES == function);
    found.unwrap_or_else(|| panic!("no finding in function {function}: {f:#?}"))
}

/// A store with values of 1 KB out of line, an index, and locks: YCSB A with skewed keys.
fn kv(keys: u64, puts_in_ten: u64) -> Program {
    let mut p = Program::default();
    let craft = p
        .block(1, 0)
        .store(0, 0, 32)
        .store(0, 32, 32)
        .compute(3)
        .done();
    let spill = p
        .block(4, 0)
        .store(0, -8, 8)
        .store(0, -16, 8)
        .compute(20)
        .load(0, -8, 8)
        .done();
    let lock = p.block(2, 0).compute(10).atomic(0, 0, 8).done();
    let put = p
        .block(2, 10)
        .load(0, 8, 8)
        .store(0, 16, 8)
        .store(0, 0, 8)
        .compute(5)
        .done();
    let get = p.block(3, 0).load(0, 8, 8).compute(4).done();
    let scan = p
        .block(3, 10)
        .load(0, 0, 32)
        .load(0, 32, 32)
        .compute(4)
        .done();
    let mut random = Rng::with_seed(3);
    for _ in 0..40_000 {
        // A power law: a tenth of the keys draws most of the requests.
        let draw = random.u64(..1 << 20) as f64 / f64::from(1 << 20);
        let key = ((keys as f64).powf(draw) - 1.0) as u64;
        let scattered = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) % keys;
        let value = HEAP + scattered * 1024;
        let bucket = HEAP + 0x10_0000_0000 + scattered * 64;
        p.run(0, spill, &[STACK]);
        if random.u64(..10) < puts_in_ten {
            for at in (0..1024).step_by(64) {
                p.run(0, craft, &[value + at]);
            }
            p.run(0, lock, &[bucket]);
            p.run(0, put, &[bucket]);
        } else {
            p.run(0, get, &[bucket]);
            for at in (0..1024).step_by(64) {
                p.run(0, scan, &[value + at]);
            }
        }
    }
    p
}

#[test]
fn kv_put_under_ycsb_a_skips_the_cache() {
    let out = kv(100_000, 5).analyze();
    let f = of_function(&out.findings, 1);
    assert_eq!(f.verdict, Verdict::Skip, "{f:#?}");
    assert!(f.sequential_share > 0.95, "{f:#?}");
    let fence = f.fence_distance.median.expect("a lock follows");
    assert!(fence < 100, "{f:#?}");
    let spills = of_function(&out.findings, 4);
    assert_eq!(spills.verdict, Verdict::LeaveAlone, "{spills:#?}");
}

#[test]
fn kv_under_read_mostly_load_gets_no_advice() {
    let out = kv(100_000, 0).analyze();
    assert!(!out.findings.write_intensive);
    let advice = |f: &&Finding| f.verdict != Verdict::LeaveAlone;
    assert_eq!(out.findings.findings.iter().find(advice), None);
}

#[test]
fn ring_messages_are_demoted() {
    let mut p = Program::default();
    let mut draft = p.block(1, 0).compute(3);
    for field in [8, 0, 16, 24, 40, 32, 48, 56] {
        draft = draft.store(0, field, 8);
    }
    let fill = draft.done();
    let publish = p.block(2, 0).compute(6).atomic(0, 0, 4).compute(10).done();
    let take = p
        .block(3, 0)
        .load(0, 0, 32)
        .load(0, 32, 32)
        .compute(8)
        .done();
    for i in 0..20_000u64 {
        let slot = HEAP + i % 128 * 320;
        for line in 0..4 {
            p.run(0, fill, &[slot + line * 64]);
        }
        p.run(0, publish, &[slot + 256]);
        if i % 64 == 63 {
            for j in (0..64 * 320).step_by(64) {
                p.run(1, take, &[slot - 63 * 320 + j]);
            }
        }
    }
    let out = p.analyze();
    let f = of_function(&out.findings, 1);
    assert_eq!(
        f.sites.len(),
        8,
        "the fields' stores are one finding: {f:#?}"
    );
    assert_eq!(f.verdict, Verdict::Demote, "{f:#?}");
    assert!(f.reread.share > 0.9, "{f:#?}");
}

#[test]
fn stencil_sweeps_are_cleaned_and_skipped() {
    let mut p = Program::default();
    let sweep = |p: &mut Program, function| {
        let mut draft = p.block(function, 0);
        for at in [-512, 0, 512] {
            draft = draft.load(0, at, 8);
        }
        draft.compute(2).store(1, 0, 8).compute(2).done()
    };
    let (resid, psinv) = (sweep(&mut p, 1), sweep(&mut p, 2));
    let (n, row) = (64, 64 * 8);
    for pass in 0..40u64 {
        let (r, u) = (
            HEAP + pass * 0x40_0000,
            HEAP + 0x1000_0000 + pass * 0x40_0000,
        );
        for i in 1..n - 1 {
            for j in 1..n - 1 {
                p.run(
                    0,
                    resid,
                    &[HEAP + 0x4000_0000 + i * row + j * 8, r + i * row + j * 8],
                );
            }
        }
        for i in 2..n - 2 {
            for j in 2..n - 2 {
                p.run(0, psinv, &[r + i * row + j * 8, u + i * row + j * 8]);
            }
        }
    }
    let out = p.analyze();
    let f = of_function(&out.findings, 1);
    assert_eq!(f.verdict, Verdict::Clean, "{f:#?}");
    assert_eq!(f.contexts.len(), 1);
    assert!(f.contexts[0].bytes.abs_diff(n * row) < 3 * row, "{f:#?}");
    let f = of_function(&out.findings, 2);
    assert_eq!(f.verdict, Verdict::Skip, "{f:#?}");
}

#[test]
fn random_counting_is_left_alone_as_rewritten_or_not_sequential() {
    for (size, counters) in [
        (4, 1 << 12),
        (4, 1 << 16),
        (8, 1 << 12),
        (8, 1 << 16),
        (8, 1 << 20),
    ] {
        let mut p = Program::default();
        let count = p
            .block(1, 0)
            .load(0, 0, 4)
            .increment(1, 0, size)
            .compute(2)
            .done();
        let mut random = Rng::with_seed(5);
        for i in 0..400_000u64 {
            let counter = random.u64(..counters) * u64::from(size);
            p.run(0, count, &[STACK + i * 4 % 65536, HEAP + counter]);
        }
        let out = p.analyze();
        let f = of_function(&out.findings, 1);
        assert_eq!(f.verdict, Verdict::LeaveAlone, "{f:#?}");
        println!("{size} {counters}: {}", f.sequential_share);
        assert!(f.sequential_share < 0.2, "{size} {counters}: {f:#?}");
        // Up to half a megabyte its lines are written again before they leave the cache.
        let why = if counters * u64::from(size) > 1 << 19 {
            "Not sequential"
        } else {
            "written again after"
        };
        assert!(f.reason.contains(why), "{size} {counters}: {}", f.reason);
    }
}

#[test]
fn tensor_loop_is_cleaned_and_shows_both_sizes() {
    let mut p = Program::default();
    let packet = p
        .block(1, 0)
        .load(0, 0, 16)
        .load(1, 0, 16)
        .store(2, 0, 16)
        .compute(2)
        .done();
    let tail = p
        .block(1, 10)
        .load(0, 0, 8)
        .store(1, 0, 8)
        .compute(2)
        .done();
    let read = p.block(2, 0).load(0, 0, 16).compute(1).done();
    let big = 4 << 20;
    for i in (0..big).step_by(16) {
        p.run(0, packet, &[HEAP + i, HEAP + big + i, HEAP + 2 * big + i]);
    }
    for i in 0..60_000u64 {
        let small = HEAP + 0x1_0000_0000 + i * 320;
        for at in (0..240).step_by(16) {
            p.run(0, packet, &[STACK, STACK + 256, small + at]);
            p.run(0, read, &[small + at]);
        }
        let _ = tail;
    }
    let out = p.analyze();
    let f = of_function(&out.findings, 1);
    assert_eq!(f.verdict, Verdict::Clean, "{f:#?}");
    let sizes: Vec<u64> = f.contexts.iter().map(|c| c.bytes).collect();
    assert_eq!(sizes, [240, big], "{f:#?}");
    assert_eq!(f.contexts[0].reread.mean, Some(3.0));
    assert_eq!(f.contexts[1].reread.mean, None);
    assert!(
        f.reason.contains("4.0 MB") && f.reason.contains("240 B"),
        "{}",
        f.reason
    );
}

#[test]
fn fft_long_copies_are_advised_and_the_small_buffer_left_alone() {
    let mut p = Program::default();
    let small = p
        .block(1, 0)
        .load(0, 0, 16)
        .store(0, 0, 16)
        .store(1, 0, 16)
        .compute(4)
        .done();
    let out_copy = p
        .block(2, 0)
        .load(0, 0, 16)
        .store(1, 0, 16)
        .compute(2)
        .done();
    for row in 0..500u64 {
        for _ in 0..4 {
            for at in (0..4096).step_by(16) {
                p.run(0, small, &[HEAP + at, HEAP + 0x10_0000 + at]);
            }
        }
        for at in (0..4096).step_by(16) {
            p.run(
                0,
                out_copy,
                &[HEAP + at, HEAP + 0x100_0000 + row * 4096 + at],
            );
        }
    }
    let out = p.analyze();
    let f = of_function(&out.findings, 1);
    assert_eq!(f.verdict, Verdict::LeaveAlone, "{f:#?}");
    assert!(f.reason.contains("written again"), "{}", f.reason);
    let f = of_function(&out.findings, 2);
    assert!(
        matches!(f.verdict, Verdict::Clean | Verdict::Skip),
        "{f:#?}"
    );
}
