//! With which larger caches a verdict would be another one.

use prestore_dirtbuster::{CacheLimit, Verdict};

use crate::synthetic::Program;
use crate::{HEAP, of_site};

const MB: u64 = 1 << 20;

/// Each of so many threads writes so many bytes of its own, then reads them, so many times over.
fn limit(threads: u32, bytes: u64, rounds: u64, reads: bool) -> (Verdict, Option<CacheLimit>) {
    let mut p = Program::default();
    let write = p.block(1, 0).store(0, 0, 64).compute(8).done();
    let read = p.block(2, 0).load(0, 0, 64).compute(8).done();
    let passes = if reads {
        vec![write, read]
    } else {
        vec![write]
    };
    for _ in 0..rounds {
        for pass in &passes {
            for at in (0..bytes).step_by(64) {
                for thread in 0..threads {
                    let own = HEAP + u64::from(thread) * 0x1000_0000;
                    p.run(thread, *pass, &[own + at]);
                }
            }
        }
    }
    let f = p.analyze().findings;
    let f = of_site(&f, 1000);
    (f.verdict, f.cache_limit)
}

#[test]
fn a_cache_that_holds_what_is_swept_over_is_named() {
    for (bytes, cache) in [(12 * MB, 16), (28 * MB, 32), (40 * MB, 64)] {
        let (verdict, limit) = limit(1, bytes, 3, false);
        let limit = limit.unwrap();
        assert_eq!(
            (verdict, limit.verdict),
            (Verdict::Skip, Verdict::LeaveAlone)
        );
        assert_eq!(limit.bytes, cache * MB, "{bytes}: {limit:?}");
        // The last sweep is not written again.
        assert!((0.6..0.7).contains(&limit.rewritten), "{limit:?}");
    }
}

#[test]
fn what_is_read_back_once_is_cleaned_where_a_larger_cache_holds_it() {
    let (verdict, limit) = limit(1, 24 * MB, 1, true);
    let limit = limit.unwrap();
    assert_eq!((verdict, limit.verdict), (Verdict::Skip, Verdict::Clean));
    assert_eq!(limit.bytes, 32 * MB, "{limit:?}");
    assert!(limit.reread > 0.95 && limit.rewritten < 0.01, "{limit:?}");
}

#[test]
fn threads_at_work_share_a_cache() {
    let (_, alone) = limit(1, 14 * MB, 3, false);
    let (_, both) = limit(2, 14 * MB, 3, false);
    assert_eq!(alone.unwrap().bytes, 16 * MB);
    assert_eq!(both.unwrap().bytes, 32 * MB);
}

#[test]
fn what_is_used_once_is_no_caches() {
    assert_eq!(limit(1, 40 * MB, 1, false), (Verdict::Skip, None));
}
