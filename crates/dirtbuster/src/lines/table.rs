//! The states of lines: a table that grows in place.

use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use memmap2::{Advice, MmapMut, RemapOptions};

use super::LineState;

/// States that there is room for at first: a page of them.
const FIRST: usize = 4096 / size_of::<LineState>();

/// Bytes from which large pages are asked for.
const LARGE: usize = 4 << 20;

/// Line states by number, all [`LineState::default`] at first.
///
/// A mapping of its own instead of a `Vec`: to grow, its pages are remapped, while an allocator copies a block of this alignment.
/// Once it is large it asks for large pages: lines are met in any order, each a miss of the translation buffers else.
#[derive(Debug)]
pub(crate) struct Table {
    room: MmapMut,
    len: usize,
}

impl Default for Table {
    fn default() -> Self {
        let room = MmapMut::map_anon(bytes(FIRST)).unwrap_or_else(|_| out_of_memory(FIRST));
        Self { room, len: 0 }
    }
}

impl Table {
    /// Appends `n` states.
    pub(super) fn extend(&mut self, n: usize) {
        let len = self.len + n;
        if bytes(len) > self.room.len() {
            self.make_room(len.next_power_of_two());
        }
        self.len = len;
    }

    #[cold]
    fn make_room(&mut self, states: usize) {
        let moving = RemapOptions::new().may_move(true);
        // SAFETY: the mapping is anonymous, so all of its new length can be accessed; references into it borrow the table, of which there
        // is none while this has it exclusively.
        if unsafe { self.room.remap(bytes(states), moving) }.is_err() {
            out_of_memory(states)
        }
        if bytes(states) >= LARGE {
            // Without them it is a few per cent slower.
            let _refused = self.room.advise(Advice::HugePage);
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        bytes(self.len)
    }
}

impl Deref for Table {
    type Target = [LineState];

    #[inline(always)]
    fn deref(&self) -> &[LineState] {
        // SAFETY: the mapping is aligned to a page and at least `len` states long; its bytes were zero or written as states, and zeros are a
        // state (a test holds that it is the default).
        unsafe { from_raw_parts(self.room.as_ptr().cast(), self.len) }
    }
}

impl DerefMut for Table {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [LineState] {
        // SAFETY: as above, and the table is borrowed exclusively.
        unsafe { from_raw_parts_mut(self.room.as_mut_ptr().cast(), self.len) }
    }
}

const fn bytes(states: usize) -> usize {
    states * size_of::<LineState>()
}

/// As a `Vec` would end.
#[cold]
fn out_of_memory(states: usize) -> ! {
    let layout = Layout::array::<LineState>(states).unwrap_or(Layout::new::<LineState>());
    handle_alloc_error(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Owner;

    #[test]
    fn what_was_written_stays_when_it_grows() {
        let mut table = Table::default();
        let state = |i: usize| LineState {
            time: i as u64,
            start: 1,
            mask: !0,
            owner: Owner::context(7),
            reread: 9,
        };
        for i in 0..100 * FIRST {
            table.extend(1);
            assert_eq!(
                format!("{:?}", table[i]),
                format!("{:?}", LineState::default())
            );
            table[i] = state(i);
        }
        for (i, found) in table.iter().enumerate() {
            assert_eq!(format!("{found:?}"), format!("{:?}", state(i)));
        }
        assert_eq!(table.memory(), bytes(100 * FIRST));
    }
}
