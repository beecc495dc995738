//! Where an image comes from, and how it is made again.

use serde::{Deserialize, Serialize};

use super::image::Memory;
use super::log::{Log, WORD};
use super::pending::{Pending, Word};
use super::view::View;
use crate::image::Domain;

/// Part of a store that waits: its bytes in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The store: an index of [`Log::events`].
    pub event: u32,
    /// First byte of the word, from the beginning of the memory.
    pub offset: u64,
}

/// Where an image comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// How many events had happened when the power was cut.
    pub events: usize,
    /// What waited and did not survive.
    pub lost: Vec<Piece>,
    /// What waited and survived.
    pub kept: Vec<Piece>,
}

/// A moment of a log, of which one image after another is made.
#[derive(Clone, Debug)]
pub struct Replay {
    memory: Memory,
    view: View,
    pieces: Vec<Piece>,
    under: Vec<(u64, u64)>,
    kept: Vec<bool>,
}

impl Replay {
    /// After the first `events` of `log`.
    pub fn new(log: &Log, domain: Domain, events: usize) -> Self {
        let mut memory = Memory::new(log.initial());
        let mut pending = Pending::new(log, domain);
        while pending.events < events.min(log.events().len()) {
            pending.step(&mut |word| {
                memory.write(word);
            });
        }
        let mut view = View::default();
        view.fill(&pending, &memory);
        let pieces = view.words.iter().map(Piece::from).collect();
        Self {
            memory,
            view,
            pieces,
            under: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// What waits.
    pub fn waiting(&self) -> &[Piece] {
        &self.pieces
    }

    /// The image in which of [`Replay::waiting`] what `lost` says is lost, and what cannot
    /// survive without it. Returns the image and what is lost of it.
    pub fn without(&mut self, lost: impl Fn(&Piece) -> bool) -> (&[u8], Vec<Piece>) {
        for (place, value) in self.under.drain(..).rev() {
            self.memory.take_back(place, value);
        }
        self.kept.clear();
        self.kept.extend(self.pieces.iter().map(|p| !lost(p)));
        self.view.close(&mut self.kept);
        keep(&mut self.memory, &self.view, &self.kept, &mut self.under);
        (self.memory.bytes(), chosen(&self.view, &self.kept, false))
    }
}

impl From<&Word> for Piece {
    fn from(word: &Word) -> Self {
        Self {
            event: word.event,
            offset: word.place * WORD,
        }
    }
}

/// Writes what is kept; `under` gets what was there.
pub(super) fn keep(memory: &mut Memory, view: &View, kept: &[bool], under: &mut Vec<(u64, u64)>) {
    for (word, _) in view.words.iter().zip(kept).filter(|(_, kept)| **kept) {
        under.push((word.place, memory.write(word)));
    }
}

/// Of what waits that which is kept, or is not.
pub(super) fn chosen(view: &View, kept: &[bool], wanted: bool) -> Vec<Piece> {
    let words = view.words.iter().zip(kept).filter(|(_, k)| **k == wanted);
    words.map(|(word, _)| Piece::from(word)).collect()
}
