//! The images of small logs are those of a machine that writes back what it may, one step at a time.
#![allow(missing_docs, clippy::unwrap_used)]

mod machine;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use machine::possible;
use prestore_crash::{Domain, Log, Piece, Place, Replay, Survivors};
use proptest::prelude::*;

const BYTES: usize = 128;
/// Few, so that they meet.
const PLACES: [u64; 7] = [0, 4, 8, 20, 56, 64, 96];

#[derive(Clone, Debug)]
enum Step {
    Store(u64, usize, bool),
    Flush(u64, bool),
    Fence,
    Sync(u64, u64),
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![Just(1usize), Just(4), Just(8), Just(8), Just(16), Just(24)];
    prop_oneof![
        5 => (prop::sample::select(&PLACES), size, prop::bool::weighted(0.2))
            .prop_map(|(at, size, around)| Step::Store(at, size, around)),
        3 => (prop::sample::select(&PLACES), prop::bool::weighted(0.2))
            .prop_map(|(at, now)| Step::Flush(at, now)),
        2 => Just(Step::Fence),
        1 => (0..BYTES as u64, 1..100u64).prop_map(|(at, len)| Step::Sync(at, len)),
    ]
}

fn steps(least: usize) -> impl Strategy<Value = Vec<(u32, Step)>> {
    prop::collection::vec((0..2u32, step()), least..8)
}

/// Some store what was there.
fn log(steps: &[(u32, Step)]) -> Log {
    let mut log = Log::new(vec![0xee; BYTES]);
    for (number, (thread, step)) in (1u8..).zip(steps) {
        let number = if number % 4 == 0 { 0xee } else { number };
        log.thread(*thread);
        match *step {
            Step::Store(at, size, false) => log.store(at, &vec![number; size]),
            Step::Store(at, size, true) => log.store_around(at, &vec![number; size]),
            Step::Flush(at, false) => log.flush(at),
            Step::Flush(at, true) => log.flush_now(at),
            Step::Fence => log.fence(),
            Step::Sync(at, len) => log.sync(at, len),
        };
    }
    log
}

fn all(survivors: &mut Survivors<'_>) -> (BTreeSet<Vec<u8>>, bool) {
    let mut images = BTreeSet::new();
    let tried = survivors.systematic::<()>(u64::MAX, |image| {
        assert!(images.insert(image.bytes().to_vec()), "an image came twice");
        ControlFlow::Continue(())
    });
    assert_eq!(tried.images, images.len() as u64);
    (images, tried.complete)
}

fn domain() -> impl Strategy<Value = Domain> {
    prop_oneof![3 => Just(Domain::Adr), 1 => Just(Domain::Eadr)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn all_images_are_those_that_a_machine_may_leave(
        domain in domain(),
        steps in steps(0),
    ) {
        let log = log(&steps);
        let (images, complete) = all(&mut Survivors::new(&log, domain));
        prop_assert!(complete);
        prop_assert_eq!(images, possible(&log, domain));
    }

    #[test]
    fn images_by_chance_are_possible_and_can_be_made_again(
        domain in domain(),
        seed: u64,
        steps in steps(0),
    ) {
        let log = log(&steps);
        let possible = possible(&log, domain);
        let mut places: Vec<(Vec<u8>, Place)> = Vec::new();
        let tried = Survivors::new(&log, domain).random::<()>(50, seed, |image| {
            places.push((image.bytes().to_vec(), image.place()));
            ControlFlow::Continue(())
        });
        prop_assert_eq!(tried.images, places.len() as u64);
        let different: BTreeSet<&Vec<u8>> = places.iter().map(|p| &p.0).collect();
        prop_assert_eq!(different.len(), places.len());
        for (bytes, place) in &places {
            prop_assert!(possible.contains(bytes));
            let mut replay = Replay::new(&log, domain, place.events);
            let (again, lost) = replay.without(|piece| place.lost.contains(piece));
            prop_assert_eq!(again, &bytes[..]);
            prop_assert_eq!(&lost, &place.lost);
        }
    }

    #[test]
    fn what_is_lost_by_itself_leaves_a_possible_image(
        domain in domain(),
        lost: u64,
        steps in steps(1),
    ) {
        let log = log(&steps);
        let possible = possible(&log, domain);
        for events in 0..=steps.len() {
            let mut replay = Replay::new(&log, domain, events);
            let pieces = replay.waiting().to_vec();
            let number = |piece: &Piece| pieces.iter().position(|p| p == piece).unwrap();
            let (image, _) = replay.without(|piece| lost >> (number(piece) % 64) & 1 == 1);
            prop_assert!(possible.contains(image));
        }
    }
}

/// Whether it survives makes no difference; each of thousands would be lost alone, at each moment.
#[test]
fn what_is_there_as_it_was_stored_again_does_not_wait() {
    let mut log = Log::new(vec![0; 1 << 20]);
    (0..16_000).for_each(|line| {
        log.store(line * 64, &[0; 8]);
    });
    log.store(64, &[1, 0, 0, 0])
        .store(65, &[0, 7])
        .store(64, &[0]);
    let waiting: Vec<u32> = {
        let replay = Replay::new(&log, Domain::Adr, log.events().len());
        replay.waiting().iter().map(|piece| piece.event).collect()
    };
    assert_eq!(
        waiting,
        [16_000, 16_001, 16_002],
        "the last takes the first back"
    );
    let (images, complete) = all(&mut Survivors::new(&log, Domain::Adr));
    assert!(complete && images.len() == 4, "{} images", images.len());
}

/// More than can be tried: what is given is possible, different, and as many as asked for.
#[test]
fn a_large_log_is_spread_over() {
    let mut log = Log::new(vec![0; 64 << 10]);
    for round in 0..200u64 {
        for line in 0..8 {
            log.store((round * 8 + line) % 1024 * 64, &(round + 1).to_le_bytes());
        }
        for line in 0..8 {
            log.flush((round * 8 + line) % 1024 * 64);
        }
        log.fence();
    }
    let mut survivors = Survivors::new(&log, Domain::Adr);
    assert_eq!(survivors.points().len(), 201);
    let mut places = Vec::new();
    let mut note = |image: &prestore_crash::CrashImage<'_>| {
        assert_eq!(image.number(), places.len() as u64);
        places.push(image.events());
        ControlFlow::<()>::Continue(())
    };
    let tried = survivors.systematic(900, &mut note).images;
    assert!((850..=900).contains(&tried), "{tried}");
    assert_eq!(survivors.random(5000, 1, &mut note).images, 5000);
    let different: BTreeSet<usize> = places.iter().copied().collect();
    assert!(different.len() > 1500, "{}", different.len());
    let last = Survivors::new(&log, Domain::Adr).after(log.events().len() - 1);
    assert_eq!(last.points().len(), 2);
}

/// Stores beyond those that are told apart are not forgotten, and none survives that could not.
#[test]
fn a_counter_that_is_never_flushed_has_its_last_values() {
    let mut log = Log::new(vec![0; 64]);
    for count in 1..=1000u64 {
        log.store(0, &count.to_le_bytes())
            .store(8, &count.to_le_bytes());
    }
    let mut replay = Replay::new(&log, Domain::Adr, log.events().len());
    let (complete, lost) = replay.without(|_| false);
    assert_eq!((complete, lost.len()), (&log.complete()[..], 0));
    let mut check = |image: &prestore_crash::CrashImage<'_>| {
        let word = |at: usize| u64::from_le_bytes(image.bytes()[at..at + 8].try_into().unwrap());
        assert!(
            word(0) == word(8) || word(0) == word(8) + 1,
            "{} {}",
            word(0),
            word(8)
        );
        ControlFlow::<()>::Continue(())
    };
    let mut survivors = Survivors::new(&log, Domain::Adr);
    assert!(survivors.systematic(1000, &mut check).images > 200);
    survivors.random(100, 3, &mut check);
}
