//! Why an image fails: the least that has to be lost, and what would have saved it.

mod ddmin;
mod history;

use std::ops::Range;

use crate::finding::FindingKind;
use crate::image::Domain;
use crate::survive::{Happening, Log, Piece, Place, Replay};
use ddmin::ddmin;
use history::{between_flush_and_fence, first_fence, first_flush};

/// Images that are made to find the least.
const MOST: usize = 400;

/// Why an image fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    /// What kind of mistake it is.
    pub kind: FindingKind,
    /// The store that is to blame: an index of [`Log::events`]. Where something is lost, it is what was
    /// lost; else the store from which on recovery fails even if all is kept.
    pub store: usize,
    /// How many events had happened.
    pub events: usize,
    /// The least that has to be lost; the rest is kept. Nothing: it fails with all that was stored by then.
    pub lost: Vec<Piece>,
    /// What had survived although it was stored later, or must not survive without what is lost: the
    /// store, if one is known.
    pub without: Option<usize>,
    /// The store is there in part.
    pub torn: bool,
    /// The first flush of the store's line behind it, if any.
    pub flush: Option<usize>,
    /// The first fence of its thread behind the flush, or where there is none, behind the store.
    pub fence: Option<usize>,
}

/// Finds why the image at `place` fails, where the power stayed until `from` events had happened. `fails` is
/// asked whether others do.
///
/// # Errors
/// What `fails` returns.
pub fn blame<E>(
    log: &Log,
    domain: Domain,
    from: usize,
    place: &Place,
    mut fails: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Blame, E> {
    let mut replay = Replay::new(log, domain, place.events);
    if place.lost.is_empty() || fails(replay.without(|_| false).0)? {
        return in_order(log, domain, from..place.events, fails);
    }
    let lost = least_lost(&mut replay, &place.lost, &mut fails)?;
    let survives = least_kept(&mut replay, &lost, &mut fails)?;
    // Of several that have to be lost, the first is what the others relied on.
    let Some(missing) = lost.iter().min_by_key(|p| (p.event, p.offset)) else {
        return in_order(log, domain, from..place.events, fails);
    };
    let store = missing.event as usize;
    let over = survives.iter().map(|p| p.event).max().map(|e| e as usize);
    // What was persistent already, where nothing that waits had to survive.
    let persistent = || {
        (from..place.events)
            .rev()
            .find(|&e| makes_persistent(log, e))
    };
    let without = over.or_else(persistent);
    // What is stored too early fails in the order of the program as well.
    if let Some(early) = without.filter(|&early| (from..store).contains(&early)) {
        let (image, events) = (&mut Replay::new(log, domain, early + 1), early + 1);
        if fails(image.without(|_| false).0)? {
            return in_order(log, domain, from..events, fails);
        }
    }
    let torn = over == Some(store);
    let flush = first_flush(log, store, missing.offset);
    let fence = first_fence(log, flush.unwrap_or(store), log.events()[store].thread);
    let by = without.filter(|&w| w > store).unwrap_or(place.events);
    let kind = match flush {
        _ if torn || between_flush_and_fence(log, store) => FindingKind::Ordering,
        None if domain == Domain::Adr && !around(log, store) => FindingKind::MissingFlush,
        None => FindingKind::MissingFence,
        // Nothing that comes behind it makes it precede what was stored before.
        Some(_) if over.is_some_and(|over| over < store) => FindingKind::Ordering,
        Some(flush) if flush < by => FindingKind::MissingFence,
        Some(_) => FindingKind::Ordering,
    };
    Ok(Blame {
        kind,
        store,
        events: place.events,
        lost,
        without,
        torn,
        flush,
        fence,
    })
}

/// With all that was stored by the end of `events` it fails: the store from which on it does.
fn in_order<E>(
    log: &Log,
    domain: Domain,
    events: Range<usize>,
    mut fails: impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Blame, E> {
    let stores: Vec<usize> = (events.start..events.end.min(log.events().len()))
        .filter(|&e| matches!(log.events()[e].happening, Happening::Store { .. }))
        .collect();
    let (mut good, mut bad) = (0, stores.len());
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        let mut replay = Replay::new(log, domain, stores[middle - 1] + 1);
        match fails(replay.without(|_| false).0)? {
            true => bad = middle,
            false => good = middle,
        }
    }
    let store = bad
        .checked_sub(1)
        .and_then(|i| stores.get(i))
        .copied()
        .unwrap_or(0);
    let flush = match log.events().get(store).map(|e| &e.happening) {
        Some(Happening::Store { offset, .. }) => first_flush(log, store, *offset),
        _ => None,
    };
    Ok(Blame {
        kind: FindingKind::Ordering,
        store,
        events: store + 1,
        lost: Vec::new(),
        without: None,
        torn: false,
        flush,
        fence: None,
    })
}

/// The least of `lost` that has to be lost, with what cannot be kept without it.
fn least_lost<E>(
    replay: &mut Replay,
    lost: &[Piece],
    fails: &mut impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<Piece>, E> {
    let least = ddmin(lost, MOST, |some| {
        fails(replay.without(|p| some.contains(p)).0)
    })?;
    let mut all = replay.without(|p| least.contains(p)).1;
    // Stores of a line are lost from some on: does it fail with later ones alone?
    for piece in all.clone() {
        let some: Vec<Piece> = all.iter().copied().filter(|p| *p != piece).collect();
        let (image, rest) = replay.without(|p| some.contains(p));
        if rest.len() < all.len() && !rest.is_empty() && fails(image)? {
            all = rest;
        }
    }
    Ok(all)
}

/// The least of what waits that has to survive beside what is lost.
fn least_kept<E>(
    replay: &mut Replay,
    lost: &[Piece],
    fails: &mut impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<Piece>, E> {
    if fails(replay.without(|_| true).0)? {
        return Ok(Vec::new());
    }
    let waiting = replay.waiting().iter();
    let kept: Vec<Piece> = waiting.filter(|p| !lost.contains(p)).copied().collect();
    ddmin(&kept, MOST, |some| {
        fails(replay.without(|p| !some.contains(p)).0)
    })
}

fn around(log: &Log, store: usize) -> bool {
    matches!(
        log.events()[store].happening,
        Happening::Store { around: true, .. }
    )
}

/// May something be persistent behind `event` that was not?
fn makes_persistent(log: &Log, event: usize) -> bool {
    match &log.events()[event].happening {
        Happening::Store { .. } | Happening::Flush { .. } => false,
        Happening::FlushNow { .. } | Happening::Fence | Happening::Sync { .. } => true,
    }
}
