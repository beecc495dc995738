//! Of an image that fails, the store to blame is found, and what would have saved it.
#![allow(missing_docs, clippy::unwrap_used)]

use std::convert::Infallible;
use std::ops::ControlFlow;

use prestore_crash::{Blame, Domain, FindingKind, Log, Piece, Place, Survivors, blame};

const ONE: [u8; 8] = 1u64.to_le_bytes();

/// Is there data (line 1) where the mark (line 0) says so?
fn fails(image: &[u8]) -> bool {
    image[0] == 1 && image[64] != 1
}

/// Why the first image fails.
fn why(log: &Log, fails: fn(&[u8]) -> bool) -> Blame {
    let tried =
        Survivors::new(log, Domain::Adr).systematic(1000, |image| match fails(image.bytes()) {
            true => ControlFlow::Break(image.place()),
            false => ControlFlow::Continue(()),
        });
    let asked = |image: &[u8]| Ok::<_, Infallible>(fails(image));
    blame(log, Domain::Adr, 0, &tried.stopped.unwrap(), asked).unwrap()
}

fn log() -> Log {
    let mut log = Log::new(vec![0; 1024]);
    // What has nothing to do with it.
    for line in 2..10 {
        log.store(line * 64, &ONE).flush(line * 64);
    }
    log
}

#[test]
fn a_flush_is_missing() {
    let mut log = log();
    let store = log.events().len();
    log.store(64, &ONE).fence().store(0, &ONE).flush(0).fence();
    let why = why(&log, fails);
    assert_eq!((why.kind, why.store), (FindingKind::MissingFlush, store));
    assert_eq!(why.lost.len(), 1, "{why:?}");
    assert_eq!((why.flush, why.fence), (None, Some(store + 1)), "{why:?}");
}

#[test]
fn a_fence_is_missing() {
    let mut log = log();
    let store = log.events().len();
    log.store(64, &ONE)
        .flush(64)
        .store(0, &ONE)
        .flush(0)
        .fence();
    let why = why(&log, fails);
    assert_eq!((why.kind, why.store), (FindingKind::MissingFence, store));
    assert_eq!(
        (why.flush, why.without),
        (Some(store + 1), Some(store + 2)),
        "{why:?}"
    );
}

/// What survived was stored before what is lost: no fence behind the flush of that comes before it.
#[test]
fn what_survives_without_it_was_stored_before() {
    let mut log = log();
    let count = log.events().len();
    log.store(960, &ONE)
        .store(64, &ONE)
        .store(0, &ONE)
        .flush(0)
        .fence()
        .flush(960)
        .flush(64)
        .fence();
    // The mark is persistent by then.
    let place = Place {
        events: count + 7,
        lost: vec![Piece {
            event: count as u32 + 1,
            offset: 64,
        }],
        kept: Vec::new(),
    };
    let asked = |image: &[u8]| Ok::<_, Infallible>(fails(image) && image[960] == 1);
    let why = blame(&log, Domain::Adr, 0, &place, asked).unwrap();
    assert_eq!((why.kind, why.store), (FindingKind::Ordering, count + 1));
    let near = (why.without, why.flush);
    assert_eq!(near, (Some(count), Some(count + 6)), "{why:?}");
}

#[test]
fn the_mark_comes_first() {
    let mut log = log();
    let mark = log.events().len();
    log.store(0, &ONE)
        .flush(0)
        .fence()
        .store(64, &ONE)
        .flush(64)
        .fence();
    let why = why(&log, fails);
    assert_eq!((why.kind, why.store), (FindingKind::Ordering, mark));
    assert!(
        why.lost.is_empty(),
        "it fails with all that was stored: {why:?}"
    );
}

#[test]
fn the_flush_comes_too_late() {
    let mut log = log();
    let store = log.events().len();
    log.store(64, &ONE)
        .store(0, &ONE)
        .flush(0)
        .fence()
        .flush(64)
        .fence();
    let why = why(&log, fails);
    assert_eq!((why.kind, why.store), (FindingKind::Ordering, store));
    assert_eq!(why.flush, Some(store + 4), "{why:?}");
}

#[test]
fn a_large_store_is_torn() {
    let mut log = log();
    let store = log.events().len();
    log.store(64, &[1; 16]).flush(64).fence();
    let why = why(&log, |image| image[64] != image[72]);
    assert_eq!(
        (why.kind, why.store, why.torn),
        (FindingKind::Ordering, store, true)
    );
}

/// Both have to be lost: the one that the other relied on is to blame.
#[test]
fn of_two_the_first_is_to_blame() {
    let mut log = log();
    let store = log.events().len();
    log.store(0, &ONE)
        .store(64, &ONE)
        .store(768, &ONE)
        .flush(64)
        .flush(768)
        .fence();
    let why = why(&log, |image| image[0] != 1 && image[64] != image[768]);
    assert_eq!((why.kind, why.store), (FindingKind::MissingFlush, store));
    assert_eq!(why.lost.len(), 2, "{why:?}");
}
