//! What happens between the events of a thread: hand-offs, waiting, stretches left out.

/// Something between two events of a thread. In the order in which those at one place happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// Hand-off `.0` is published by what came before.
    HandOff(u32),
    /// Lock `.0` is released by what came before.
    Release(u32),
    /// What began with a [`Mark::Leave`] ends.
    Resume,
    /// What follows waits for hand-off `.0`.
    Await(u32),
    /// What follows acquires lock `.0`.
    Acquire(u32),
    /// What follows acquires lock `.0` beside others that share it.
    Share(u32),
    /// What follows is left out up to a [`Mark::Resume`].
    Leave,
}

impl Mark {
    /// What follows acquires `lock`, for itself or beside others that share it.
    pub(crate) fn acquire(lock: u32, shared: bool) -> Self {
        if shared {
            Self::Share(lock)
        } else {
            Self::Acquire(lock)
        }
    }
}

/// Numbers of hand-offs are smaller.
pub(crate) const MAX_NUMBER: u32 = (1 << 30) - 1;

/// Numbers of locks are smaller.
pub(crate) const MAX_LOCK: u32 = (1 << 28) - 1;

/// Only counts events.
const FAR: u32 = 3 << 30 | 2;
const LEAVE: u32 = 3 << 30;
const RESUME: u32 = 3 << 30 | 1;

/// The marks of one thread, in order: 8 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(Vec<(u32, u32)>);

impl Marks {
    /// Packs marks, each with the number of events before it, in order.
    pub(crate) fn pack(marks: impl IntoIterator<Item = (u64, Mark)>) -> Self {
        let mut packed = Vec::new();
        let mut at = 0;
        for (place, mark) in marks {
            let mut after = place.saturating_sub(at);
            while after > u64::from(u32::MAX) {
                packed.push((u32::MAX, FAR));
                after -= u64::from(u32::MAX);
            }
            at = place;
            let code = match mark {
                Mark::HandOff(n) => n & MAX_NUMBER,
                Mark::Await(n) => 1 << 30 | (n & MAX_NUMBER),
                Mark::Acquire(n) => 2 << 30 | (n & MAX_LOCK) << 2,
                Mark::Release(n) => 2 << 30 | (n & MAX_LOCK) << 2 | 1,
                Mark::Share(n) => 2 << 30 | (n & MAX_LOCK) << 2 | 2,
                Mark::Leave => LEAVE,
                Mark::Resume => RESUME,
            };
            packed.push((after as u32, code));
        }
        packed.shrink_to_fit();
        Self(packed)
    }

    /// All marks, each with the number of events before it.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, Mark)> + '_ {
        let mut reader = Reader::default();
        std::iter::from_fn(move || {
            let next = reader.peek(self)?;
            reader.pass_to(next.0);
            Some(next)
        })
    }
}

/// A place in [`Marks`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    next: usize,
    at: u64,
}

impl Reader {
    /// The next mark and the number of events before it.
    pub(crate) fn peek(&mut self, marks: &Marks) -> Option<(u64, Mark)> {
        loop {
            let &(after, code) = marks.0.get(self.next)?;
            let mark = match code {
                FAR => {
                    self.next += 1;
                    self.at += u64::from(after);
                    continue;
                }
                LEAVE => Mark::Leave,
                RESUME => Mark::Resume,
                n if n >> 30 == 0 => Mark::HandOff(n),
                n if n >> 30 == 1 => Mark::Await(n & MAX_NUMBER),
                n if n & 3 == 0 => Mark::Acquire(n >> 2 & MAX_LOCK),
                n if n & 3 == 1 => Mark::Release(n >> 2 & MAX_LOCK),
                n => Mark::Share(n >> 2 & MAX_LOCK),
            };
            return Some((self.at + u64::from(after), mark));
        }
    }

    /// Passes the mark that was peeked at, whose place is `at`.
    pub(crate) fn pass_to(&mut self, at: u64) {
        self.next += 1;
        self.at = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_is_read() {
        let far = 3 * u64::from(u32::MAX) + 7;
        let marks = [
            (0, Mark::Await(3)),
            (5, Mark::HandOff(MAX_NUMBER)),
            (5, Mark::Acquire(MAX_LOCK)),
            (5, Mark::Share(MAX_LOCK)),
            (5, Mark::Leave),
            (7, Mark::Release(MAX_LOCK)),
            (8, Mark::Acquire(0)),
            (9, Mark::Resume),
            (far, Mark::Await(0)),
            (far, Mark::HandOff(0)),
        ];
        let packed = Marks::pack(marks);
        assert_eq!(packed.iter().collect::<Vec<_>>(), marks);
    }
}
