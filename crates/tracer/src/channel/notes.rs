//! What clients tell the user, through the control file.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::Note;

/// Where the places begin in the control file, and how many fit into it.
const FIRST: usize = 128;
const SIZE: usize = 128;
const PLACES: usize = 31;
const TEXT: usize = 12;

/// Which of the notes were taken already.
#[derive(Debug, Default)]
pub(super) struct NoteReader {
    taken: usize,
}

impl NoteReader {
    /// The next note that is ready, of the `begun` ones.
    pub(super) fn next(&mut self, control: &[u8], begun: u32) -> Option<Note> {
        if self.taken >= PLACES.min(begun as usize) {
            return None;
        }
        let place = control.get(FIRST + self.taken * SIZE..)?.get(..SIZE)?;
        // SAFETY: aligned, as the file is mapped at a page and places are 128 bytes apart; clients
        // change the word only by atomic operations.
        let ready = unsafe { AtomicU32::from_ptr(place.as_ptr().cast_mut().cast()) };
        if ready.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.taken += 1;
        let word = |at: usize| {
            let bytes = place[at..at + 4].try_into();
            bytes.map_or(0, u32::from_le_bytes)
        };
        let text = place[TEXT..].split(|b| *b == 0).next().unwrap_or(&[]);
        Some(Note {
            kind: word(4),
            pid: word(8),
            text: String::from_utf8_lossy(text).into_owned(),
        })
    }
}
