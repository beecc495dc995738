//! How much warms a cache that is not full yet.
//!
//! A cache that has room throws nothing out, and what it throws out is what writes cost: until the furthest one is full, or has
//! what the whole run would have brought, more warms than before other units. How much that takes depends on the program:
//! a random histogram brings a line with every other operation, transforms of small rows one with three hundred. So
//! it is told from how many lines came lately.

use prestore_sim::Filled;

/// Of the lines of the cache, the part that may be missing: as many are a matter of chance. Where no more of the lines that come to nearer
/// caches are read from memory, the furthest one keeps what it has.
const PART: u64 = 32;

/// So many times what fills it, at the rate of the lines that came lately: fewer do as it fills.
const MARGIN: (u64, u64) = (3, 2);

/// Where the cache is, and how it comes along.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Filling {
    /// When it was looked at last.
    warmed: u64,
    filled: Filled,
    /// Lines that came between the last two looks, of so many operations.
    came: Option<(u64, u64)>,
    /// Those that were read from memory meanwhile, and those that came to nearer caches.
    read: u64,
    nearer: u64,
    /// Operations that were passed over so far.
    skipped: u64,
}

impl Filling {
    /// The next look is at what comes from here on, after `warmed` operations in all.
    pub(super) fn begin(&mut self, warmed: u64, filled: Filled) {
        (self.warmed, self.filled) = (warmed, filled);
    }

    /// The cache is looked at after `warmed` operations in all.
    pub(super) fn look(&mut self, warmed: u64, filled: Filled) {
        let over = warmed - self.warmed;
        if over > 0 {
            self.came = Some((filled.lines.saturating_sub(self.filled.lines), over));
            self.read = filled.read.saturating_sub(self.filled.read);
            self.nearer = filled.nearer.saturating_sub(self.filled.nearer);
        }
        (self.warmed, self.filled) = (warmed, filled);
    }

    /// Is it known how fast it fills?
    pub(super) fn is_known(&self) -> bool {
        self.came.is_some()
    }

    /// How many operations read as many lines as the cache has, at the rate of lately: then it has what it would have, wherever
    /// it was before. `None`: nothing is known, or there is no cache.
    pub(super) fn turns_over(&self) -> Option<u64> {
        self.brings(self.filled.of, self.read)
    }

    /// How many operations bring as many `lines` to nearer caches. Where memory is read, those of its lines alone count: what they take the
    /// place of in the furthest cache matters as well.
    pub(super) fn turns_nearer_over(&self, lines: u64) -> Option<u64> {
        let lately = match self.keeps() {
            true => self.nearer,
            false => self.read,
        };
        self.brings(lines, lately)
    }

    /// Is hardly anything read from memory lately, but from the furthest cache?
    pub(super) fn keeps(&self) -> bool {
        self.is_known() && self.read <= self.nearer / PART
    }

    /// How many operations bring so many `lines`, where those between the last two looks brought `lately`.
    fn brings(&self, lines: u64, lately: u64) -> Option<u64> {
        let (_, over) = self.came.filter(|_| self.filled.of > 0)?;
        let all = u128::from(lines) * u128::from(over);
        let operations = all.checked_div(lately.into());
        Some(operations.map_or(u64::MAX, |n| u64::try_from(n).unwrap_or(u64::MAX)))
    }

    /// How many operations more fill it, where `gap` come before a unit and `warm` of them warm anyway. `None`: it is full, or
    /// has all but a few lines of what the run has brought by then.
    pub(super) fn needs(&self, gap: u64, warm: u64) -> Option<u64> {
        let (came, over) = self.came?;
        let (came, over) = (u128::from(came), u128::from(over));
        let of = self.filled.of;
        let empty = self.filled.room;
        let passed_over = u128::from(self.skipped + gap.saturating_sub(warm));
        let missing = (came * passed_over / over).min(empty.into());
        if missing <= (of / PART).into() {
            return None;
        }
        let fills = u128::from(empty) * over * u128::from(MARGIN.0);
        Some(u64::try_from(fills / (came * u128::from(MARGIN.1))).unwrap_or(u64::MAX))
    }

    /// So many operations are passed over.
    pub(super) fn skip(&mut self, operations: u64) {
        self.skipped += operations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(lines: u64) -> Filled {
        Filled {
            lines,
            room: 3200 - lines,
            of: 3200,
            read: 2 * lines,
            nearer: 5 * lines,
        }
    }

    #[test]
    fn what_reads_much_turns_over_soon() {
        let mut filling = Filling::default();
        assert_eq!(filling.turns_over(), None);
        filling.look(0, filled(0));
        filling.look(1000, filled(200));
        // 3200 lines at two of five operations.
        assert_eq!(filling.turns_over(), Some(8000));
        assert_eq!(filling.turns_nearer_over(100), Some(250));
        filling.look(2000, filled(200));
        assert_eq!(filling.turns_over(), Some(u64::MAX));
    }

    #[test]
    fn where_memory_is_hardly_read_nearer_caches_are_turned_over_from_the_furthest() {
        let mut filling = Filling::default();
        let some = |read| Filled {
            nearer: 32 * 5,
            read,
            ..filled(100)
        };
        filling.look(0, filled(0));
        filling.look(1000, some(6));
        assert_eq!(filling.turns_nearer_over(16), Some(2666));
        let mut filling = Filling::default();
        filling.look(0, filled(0));
        filling.look(1000, some(5));
        assert_eq!(filling.turns_nearer_over(16), Some(100));
    }

    #[test]
    fn what_fills_slowly_takes_longer() {
        let mut filling = Filling::default();
        assert_eq!(filling.needs(1_000_000, 10), None, "nothing is known yet");
        filling.look(0, filled(0));
        filling.look(1000, filled(200));
        // 3000 lines at one of five operations, and half as much again.
        assert_eq!(filling.needs(1_000_000, 10), Some(22_500));
        filling.look(21_000, filled(600));
        assert_eq!(filling.needs(1_000_000, 10), Some(2600 * 50 * 3 / 2));
    }

    #[test]
    fn what_is_full_or_has_all_there_is_needs_nothing() {
        let mut filling = Filling::default();
        filling.look(0, filled(0));
        filling.look(1000, filled(200));
        // What was passed over would have brought 100 lines.
        assert_eq!(filling.needs(510, 10), None);
        filling.skip(500);
        assert!(filling.needs(510, 10).is_some());
        filling.look(2000, filled(200));
        assert_eq!(filling.needs(1_000_000, 10), None, "no line comes any more");
        filling.look(3000, filled(3150));
        assert_eq!(filling.needs(1_000_000, 10), None, "it is full");
    }
}
