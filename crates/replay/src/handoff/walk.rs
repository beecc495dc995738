//! All threads in the order of their stamps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZero;
use std::thread;

use super::infer::{Stretch, Walk};
use super::places::Seen;
use super::readers::{Over, Readers};
use super::scan::{Scanner, What};
use crate::{SourceError, chosen};

/// Shows `walk` what threads do where, by `seen`, they may meet: stretch by stretch, those that overlap one behind the other, the
/// earlier begun first.
pub(super) fn in_order(
    scanners: Vec<Scanner<'_>>,
    seen: &Seen,
    walk: &mut Walk,
) -> Result<(), SourceError> {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let ahead = (processors - 1).min(scanners.len());
    let readers = Readers::new(scanners, seen);
    thread::scope(|scope| {
        let _over = Over(&readers);
        for _ in 0..ahead {
            let decoder = chosen::decoder()?;
            let name = thread::Builder::new().name("hand-offs".to_owned());
            // Where the system has no thread for it, the walk reads by itself.
            let _ = name.spawn_scoped(scope, || readers.read_ahead(decoder));
        }
        show(&readers, walk)
    })
}

fn show(readers: &Readers<'_, '_>, walk: &mut Walk) -> Result<(), SourceError> {
    let mut decoder = chosen::decoder()?;
    // A thread takes memory from when its first records come until its last have.
    let begins = readers.begins();
    let mut left: Vec<_> = begins.iter().map(|_| None).collect();
    let first = begins.into_iter().zip(0..);
    let mut queue: BinaryHeap<_> = first.map(|(t, i)| Reverse((t, i, false))).collect();
    while let Some(Reverse((ticks, thread, begun))) = queue.pop() {
        let of = Stretch { thread, ticks };
        walk.begin(of, begun);
        let next = loop {
            let (mut items, done) = match left[thread].take() {
                Some(chunk) => chunk,
                None => match readers.next(thread, &mut decoder)? {
                    Some(chunk) => (chunk.items.into_iter(), chunk.done),
                    None => break None,
                },
            };
            let mut next = None;
            for item in items.by_ref() {
                walk.has_done(of, item.before);
                if let What::Until(ticks) = item.what {
                    next = Some(ticks);
                    break;
                }
                walk.shown(of, item.what);
            }
            if next.is_some() {
                left[thread] = Some((items, done));
                break next;
            }
            walk.has_done(of, done);
        };
        match next {
            Some(ticks) => queue.push(Reverse((ticks, thread, true))),
            None => walk.end(thread),
        }
    }
    Ok(())
}
