//! From a recording with values to the logs of its persistent memory.

mod one;

use prestore_trace::replay::CallTree;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::CrashError;
use crate::finding::{At, First, Spot};
use crate::regions::Piece;
use crate::survive::Log;
use crate::values::{Held, Stored};
use one::One;

/// What happened to one image, and where in the code.
#[derive(Clone, Debug)]
pub struct Logged {
    /// A file: its path; else as it was asked for.
    pub name: String,
    /// What happened.
    pub log: Log,
    /// Where, and when first: an entry an event, for which [`crate::Event::tag`] stands.
    pub origins: Vec<(u32, First)>,
    /// The places in the code, by the first number of an origin.
    pub spots: Vec<Spot>,
    /// Bytes of the log's memory before the image: images need not begin with a line.
    pub pad: usize,
    /// Bytes of the image of which it is not known what they held before: they are taken for zeros.
    pub unknown: u64,
    /// Stores to it of which it is not known what they stored: they are left out.
    pub unknown_stores: u64,
}

impl Logged {
    /// The image of a log's memory.
    pub fn image<'a>(&self, memory: &'a [u8]) -> &'a [u8] {
        memory.get(self.pad..).unwrap_or_default()
    }

    /// Where an event is in the code; `None`: the kernel.
    pub fn spot(&self, event: usize) -> Option<&Spot> {
        let origin = self.origin(event)?;
        self.spots.get(origin.0 as usize)
    }

    /// When and where `event` was; `None`: the kernel.
    pub fn first(&self, event: usize) -> Option<First> {
        self.origin(event).map(|o| o.1)
    }

    fn origin(&self, event: usize) -> Option<&(u32, First)> {
        let tag = self.log.events().get(event)?.tag;
        self.origins.get(tag as usize)
    }
}

/// The logs of all images while the program runs.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    by_owner: FxHashMap<u32, One>,
    /// Whose memory is larger than [`MOST_BYTES`]: nothing is logged of it.
    too_large: FxHashSet<u32>,
    spots: FxHashMap<At, u32>,
    places: Vec<At>,
    origins: Vec<(u32, First)>,
}

/// The tag of what the kernel does.
const KERNEL: u32 = u32::MAX;

/// Images of more bytes are not made: each takes some three times as many of the host's memory.
pub(crate) const MOST_BYTES: u64 = 16 << 30;

impl Logs {
    /// Bytes were stored.
    pub(crate) fn stored(&mut self, stored: &Stored<'_>) {
        let tag = self.tag(stored.at, stored.first);
        let by = (stored.first.thread, tag);
        if let Some(one) = self.one(stored.piece) {
            one.store(by, stored.piece, stored.bytes, stored.around);
        }
    }

    /// The log of `piece`'s memory; `None`: it is too large for one.
    fn one(&mut self, piece: Piece) -> Option<&mut One> {
        if piece.offset.saturating_add(piece.size) > MOST_BYTES {
            self.too_large.insert(piece.owner);
        }
        let fits = !self.too_large.contains(&piece.owner);
        fits.then(|| self.by_owner.entry(piece.owner).or_default())
    }

    /// The tag of what is logged next.
    fn tag(&mut self, at: At, first: First) -> u32 {
        let next = self.places.len() as u32;
        let spot = *self.spots.entry(at).or_insert(next);
        if spot == next {
            self.places.push(at);
        }
        self.origins.push((spot, first));
        self.origins.len() as u32 - 1
    }

    /// A line is flushed; `alone`: no fence is needed for that.
    pub(crate) fn flush(&mut self, at: At, first: First, piece: Piece, alone: bool) {
        let tag = self.tag(at, first);
        if let Some(one) = self.one(piece) {
            one.flush((first.thread, tag), piece, alone);
        }
    }

    pub(crate) fn fence(&mut self, at: At, first: First) {
        let thread = first.thread;
        if !self.by_owner.values().any(|one| one.awaits(thread)) {
            return;
        }
        let tag = self.tag(at, first);
        for one in self.by_owner.values_mut() {
            one.fence((thread, tag));
        }
    }

    /// `msync` has written `piece` back.
    pub(crate) fn synced(&mut self, piece: Piece) {
        if let Some(one) = self.one(piece) {
            one.synced(piece);
        }
    }

    /// `piece` is there now.
    pub(crate) fn mapped(&mut self, piece: Piece) {
        if let Some(one) = self.one(piece) {
            one.grow(piece);
        }
    }

    /// What memory held when it was mapped.
    pub(crate) fn held(&mut self, held: &Held) {
        let Some(one) = self.one(held.piece) else {
            return;
        };
        let zeros = match held.bytes {
            Some(_) => Vec::new(),
            None => vec![0; held.piece.size as usize],
        };
        let bytes = held.bytes.as_ref().unwrap_or(&zeros);
        one.held(held.piece, bytes);
    }

    /// The log of an owner of lines, if it has any; of `lost` stores it is not known what they stored.
    pub(crate) fn logged(
        self,
        owner: u32,
        name: String,
        tree: &CallTree,
        lost: u64,
    ) -> Result<Option<Logged>, CrashError> {
        if self.too_large.contains(&owner) {
            return Err(CrashError::TooLarge(name));
        }
        let spots = self.places.iter().map(|at| at.spot(tree)).collect();
        match self.by_owner.into_iter().find(|(o, _)| *o == owner) {
            Some((_, one)) if one.several => Err(CrashError::SeveralAllocations(name)),
            Some((_, one)) => Ok(Some(one.logged(name, (self.origins, spots), lost))),
            None => Ok(None),
        }
    }

    /// Who has been stored to.
    pub(crate) fn owners(&self) -> Vec<u32> {
        let stored = self.by_owner.iter().filter(|(_, one)| one.is_stored_to());
        let stored = stored.map(|(owner, _)| *owner);
        let mut all: Vec<u32> = stored.chain(self.too_large.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}
