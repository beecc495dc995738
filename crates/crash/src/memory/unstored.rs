//! Lines that were flushed and never stored to: a program may flush all that it has mapped.

use rustc_hash::FxHashMap;

use super::Key;
use crate::finding::At;

/// Lines that are kept together.
const LINES: u64 = 64;

/// Where each was flushed last. Memory: 4 bytes a line, of 4 KiB of which any was.
#[derive(Debug, Default)]
pub(super) struct Unstored {
    /// Numbers of places, from one; zero: not flushed.
    lines: FxHashMap<Key, Box<[u32; LINES as usize]>>,
    places: Vec<At>,
    numbers: FxHashMap<At, u32>,
}

impl Unstored {
    /// It is flushed at `at`; answers where it was before.
    pub(super) fn flushed(&mut self, (owner, line): Key, at: At) -> Option<At> {
        let places = &mut self.places;
        let number = *self.numbers.entry(at).or_insert_with(|| {
            places.push(at);
            places.len() as u32
        });
        let page = (self.lines.entry((owner, line / LINES)))
            .or_insert_with(|| Box::new([0; LINES as usize]));
        let before = std::mem::replace(&mut page[(line % LINES) as usize], number);
        self.place(before)
    }

    /// It is stored to: answers where it was flushed last, and forgets it.
    pub(super) fn taken(&mut self, (owner, line): Key) -> Option<At> {
        let page = self.lines.get_mut(&(owner, line / LINES))?;
        let number = std::mem::take(&mut page[(line % LINES) as usize]);
        self.place(number)
    }

    fn place(&self, number: u32) -> Option<At> {
        self.places.get((number as usize).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use prestore_trace::SiteId;
    use prestore_trace::replay::NodeId;

    use super::*;

    #[test]
    fn a_line_is_told_where_it_was_flushed_last() {
        let at = |site| At {
            site: SiteId(site),
            node: NodeId::ROOT,
        };
        let mut unstored = Unstored::default();
        assert_eq!(unstored.flushed((0, 7), at(1)), None);
        assert_eq!(unstored.flushed((0, 7), at(2)), Some(at(1)));
        assert_eq!(unstored.flushed((0, 8), at(1)), None);
        assert_eq!(unstored.flushed((1, 7), at(1)), None);
        assert_eq!(unstored.taken((0, 7)), Some(at(2)));
        assert_eq!(unstored.taken((0, 7)), None);
        assert_eq!(unstored.taken((0, 7000)), None);
        assert_eq!(unstored.flushed((0, 7), at(3)), None);
    }
}
