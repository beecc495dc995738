//! What becomes of a store later on.

use crate::line::LINE;
use crate::survive::{Happening, Log};

/// The first flush behind `store` of the line of `offset`, before something else is stored there.
pub(super) fn first_flush(log: &Log, store: usize, offset: u64) -> Option<usize> {
    let takes = |what: &Happening| match what {
        Happening::Flush { line } | Happening::FlushNow { line } => *line == offset / LINE,
        Happening::Sync { offset: first, len } => (*first..first + len).contains(&offset),
        _ => false,
    };
    let over = |what: &Happening| match what {
        Happening::Store {
            offset: first,
            bytes,
            ..
        } => (*first..first + bytes.len() as u64).contains(&offset),
        _ => false,
    };
    behind(log, store)
        .take_while(|&e| !over(&log.events()[e].happening))
        .find(|&e| takes(&log.events()[e].happening))
}

/// The first fence of `thread` behind `event`.
pub(super) fn first_fence(log: &Log, event: usize, thread: u32) -> Option<usize> {
    let is = |e: &usize| {
        let event = &log.events()[*e];
        event.happening == Happening::Fence && event.thread == thread
    };
    behind(log, event).find(is)
}

/// Does `store` come between a flush of its line and the fence of that thread, which is the store's too?
pub(super) fn between_flush_and_fence(log: &Log, store: usize) -> bool {
    let Happening::Store { offset, .. } = &log.events()[store].happening else {
        return false;
    };
    let (line, thread) = (*offset / LINE, log.events()[store].thread);
    let own = log.events()[..store]
        .iter()
        .rev()
        .filter(|e| e.thread == thread);
    own.take_while(|e| e.happening != Happening::Fence)
        .any(|e| e.happening == Happening::Flush { line })
}

fn behind(log: &Log, event: usize) -> std::ops::Range<usize> {
    event + 1..log.events().len()
}
