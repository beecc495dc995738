//! What was waiting for another thread: known at the end, when it is known who ended it.

use crate::back::BackThread;
use crate::runs::Run;
use crate::thread::Part;

/// Instructions that a thread waited.
pub(crate) fn instructions(front: &Part, back: &BackThread) -> u64 {
    polls(front, back).map(|r| r.waited).sum()
}

/// Rounds of the loops in which it did.
pub(crate) fn rounds(front: &Part, back: &BackThread) -> u64 {
    polls(front, back).map(|r| r.rounds).sum()
}

/// Blocks that have read at the same place, again and again, until another thread wrote there.
fn polls<'a>(front: &'a Part, back: &'a BackThread) -> impl Iterator<Item = &'a Run> {
    let received = |r: &&Run| {
        let accesses = back.received.get(r.first as usize..r.end as usize);
        accesses.unwrap_or_default().contains(&true)
    };
    front.runs.all.iter().filter(received)
}
