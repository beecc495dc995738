//! Writes that wait in a controller.

use crate::Time;

/// A line that is to be written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Address in the device.
    pub addr: u64,
    /// Its bytes that are to be written.
    pub mask: u128,
    /// When the controller took it.
    pub since: Time,
}

/// Waiting writes, oldest first; a line waits once.
#[derive(Clone, Debug)]
pub(crate) struct PendingWrites {
    lines: Vec<Pending>,
    /// How many lines share a hash, so that most lookups end here.
    filter: Box<[u8; FILTER]>,
}

const FILTER: usize = 256;

impl PendingWrites {
    pub(crate) fn new() -> Self {
        Self {
            lines: Vec::new(),
            filter: Box::new([0; FILTER]),
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn oldest(&self) -> Option<Pending> {
        self.lines.first().copied()
    }

    /// The oldest but `n`.
    pub(crate) fn nth(&self, n: usize) -> Option<Pending> {
        self.lines.get(n).copied()
    }

    /// Takes out the line with the least key, the oldest of them where several have.
    pub(crate) fn take_first_by<K: Ord>(&mut self, key: impl Fn(&Pending) -> K) -> Option<Pending> {
        let first = (0..self.lines.len()).min_by_key(|i| key(&self.lines[*i]))?;
        let line = self.lines.remove(first);
        self.forget(line.addr);
        Some(line)
    }

    /// The write that waits for the line at `addr`.
    #[inline]
    pub(crate) fn find(&mut self, addr: u64) -> Option<&mut Pending> {
        if self.filter[hash(addr)] == 0 {
            return None;
        }
        self.lines.iter_mut().find(|line| line.addr == addr)
    }

    /// Adds a line that does not wait yet.
    pub(crate) fn push(&mut self, line: Pending) {
        let count = &mut self.filter[hash(line.addr)];
        *count = count.saturating_add(1);
        self.lines.push(line);
    }

    /// Takes out the oldest line.
    pub(crate) fn pop(&mut self) -> Option<Pending> {
        if self.lines.is_empty() {
            return None;
        }
        let line = self.lines.remove(0);
        self.forget(line.addr);
        Some(line)
    }

    /// Moves `count` lines to `out` in the order in which a controller writes them: the oldest, then
    /// those of its row, then the oldest of the others, and so on.
    pub(crate) fn take_by_row(
        &mut self,
        count: usize,
        row: impl Fn(u64) -> u64,
        out: &mut Vec<Pending>,
    ) {
        out.clear();
        while out.len() < count && !self.lines.is_empty() {
            let wanted = row(self.lines[0].addr);
            self.lines.retain(|line| {
                let taken = out.len() < count && row(line.addr) == wanted;
                if taken {
                    out.push(*line);
                }
                !taken
            });
        }
        for line in out {
            self.forget(line.addr);
        }
    }

    fn forget(&mut self, addr: u64) {
        let count = &mut self.filter[hash(addr)];
        // A count that was too high for its byte stays: lookups are then slower, not wrong.
        if *count < u8::MAX {
            *count -= 1;
        }
    }
}

/// Which counter an address has.
#[inline]
fn hash(addr: u64) -> usize {
    (addr.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}
