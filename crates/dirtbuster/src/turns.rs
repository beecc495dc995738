//! Between which sequential contexts a piece of code turns, and how many it has open at a time.

use std::array;

use crate::contexts::Context;

/// Contexts that are remembered of a writer: more than any core has buffers that gather non-temporal stores.
const REMEMBERED: usize = 32;

/// The contexts that a writer (a function in a thread) turned to lately.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// How often it turned to another context, and the serial of the last one.
    count: u32,
    last: u32,
    /// `None`: there was none yet.
    recent: Option<Box<Recent>>,
}

#[derive(Clone, Debug)]
struct Recent {
    /// Where the next newcomer goes: to the oldest's place.
    next: usize,
    serials: [u32; REMEMBERED],
    /// The turn at which each was turned to last and first; 0: unused.
    latest: [u32; REMEMBERED],
    first: [u32; REMEMBERED],
    /// When it was turned to last, in the thread's instructions.
    at: [u64; REMEMBERED],
}

impl Default for Recent {
    fn default() -> Self {
        Self {
            next: 0,
            serials: [0; REMEMBERED],
            latest: [0; REMEMBERED],
            first: [0; REMEMBERED],
            at: [0; REMEMBERED],
        }
    }
}

/// Where a context stands in its writer's turns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// The turn to it, the latest and the first one; 0: none yet.
    pub(crate) latest: u32,
    first: u32,
}

/// A turn to a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turned {
    /// Turns to others since the one before.
    pub(crate) turns: u32,
    /// Different contexts among them, as far as they are remembered; of a line that is left, such as had been begun before the
    /// turn before, and none where it was written in one go.
    pub(crate) others: u64,
}

impl Turns {
    /// Did the writer turn to the context of that serial last?
    #[inline]
    pub(crate) fn is_at(&self, serial: u32) -> bool {
        self.last == serial
    }

    /// Turns to `context` at `now`, to the line of it that was written last (`returns`) or to another. The instruction that
    /// does so had last written there at `left`; 0: not. `None`: the writer was there already, or turned to fewer than `most`
    /// others since.
    pub(crate) fn turn(
        &mut self,
        context: &mut Context,
        returns: bool,
        (now, left): (u64, u64),
        most: u64,
    ) -> Option<Turned> {
        if self.last == context.serial {
            return None;
        }
        self.last = context.serial;
        self.count = self.count.wrapping_add(1).max(1);
        let place = &mut context.place;
        let before = place.latest;
        place.latest = self.count;
        let recent = self.recent.get_or_insert_default();
        let slot = usize::from(context.slot);
        let is_known = recent.serials[slot] == context.serial;
        // Where the line was complete soon after the turn to it, it took one visit.
        let at = if is_known { recent.at[slot] } else { 0 };
        let visited = left > at && left.saturating_sub(at) * 2 >= now.saturating_sub(left);
        let turns = self.count.wrapping_sub(before);
        // No more others than turns: mostly there is nothing to count.
        let turned = (before != 0 && u64::from(turns) > most).then(|| Turned {
            turns,
            others: match returns {
                true => recent.since(before),
                false if visited => recent.lasting(before),
                false => 0,
            },
        });
        if before == 0 {
            place.first = self.count;
        }
        let slot = if is_known { slot } else { recent.next };
        if !is_known {
            recent.next = (slot + 1) % REMEMBERED;
            context.slot = slot as u8;
            recent.serials[slot] = context.serial;
            recent.first[slot] = place.first;
        }
        recent.latest[slot] = self.count;
        recent.at[slot] = now;
        turned
    }
}

/// Is `a` a later turn than `b`? Turns are counted round and round.
#[inline]
fn later(a: u32, b: u32) -> bool {
    a != 0 && a.wrapping_sub(b) as i32 > 0
}

impl Recent {
    fn since(&self, turn: u32) -> u64 {
        let since: u32 = self.latest.iter().map(|&t| u32::from(later(t, turn))).sum();
        u64::from(since)
    }

    /// Contexts that were begun by `turn` and turned to since.
    fn lasting(&self, turn: u32) -> u64 {
        let lasts: [bool; REMEMBERED] =
            array::from_fn(|i| later(self.latest[i], turn) && !later(self.first[i], turn));
        lasts.into_iter().filter(|&l| l).count() as u64
    }
}
