//! What is known of a line that was written.

use super::Owner;

/// The last writing of a line; two of them fill a line of the host's cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct LineState {
    /// When it was written last, in the writer's own instructions.
    pub(crate) time: u64,
    /// When this writing of it began.
    pub(crate) start: u64,
    /// Which bytes this writing has written.
    pub(crate) mask: u64,
    /// Who wrote it.
    pub(crate) owner: Owner,
    /// 0: not read since; [`MUTED`]; else the distance of the first read, plus one, [`FAR`] and [`OWN`].
    pub(crate) reread: u32,
}

/// Not read but by its writer, where that was about to write: looked at no more until the writer
/// has left the line.
const MUTED: u32 = u32::MAX;
/// The line had left the writer's core when it was read.
const FAR: u32 = 1 << 31;
/// Nobody but its writer has read it.
const OWN: u32 = 1 << 30;

impl LineState {
    /// Is it of a tracked write?
    #[inline]
    pub(crate) fn is_owned(&self) -> bool {
        self.owner.bare() != Owner::NONE
    }

    /// Instructions from its last write to its first read since; `None`: it was not read.
    #[inline]
    pub(crate) fn read_distance(&self) -> Option<u64> {
        match self.reread | OWN {
            OWN | MUTED => None,
            read => Some(u64::from(read & !(FAR | OWN)) - 1),
        }
    }

    /// Was it near the writer's core when it was read?
    #[inline]
    pub(crate) fn read_near(&self) -> bool {
        self.reread & FAR == 0
    }

    /// By its writer, unless [`LineState::set_read_by_another`] follows.
    pub(crate) fn set_read(&mut self, distance: u64, near: bool) {
        let distance = distance.min(u64::from(OWN) - 4) as u32 + 1;
        self.reread = distance | OWN | if near { 0 } else { FAR };
    }

    /// Has its writer read it, or muted it, and nobody else read it?
    #[inline]
    pub(crate) fn is_read_by_writer_only(&self) -> bool {
        self.reread & OWN != 0
    }

    /// Another thread has read it too.
    pub(crate) fn set_read_by_another(&mut self) {
        self.reread &= !OWN;
    }

    pub(crate) fn mute(&mut self) {
        self.reread = MUTED;
    }

    /// True if it was muted.
    #[inline]
    pub(crate) fn unmute(&mut self) -> bool {
        let muted = self.reread | OWN == MUTED;
        if muted {
            self.reread = 0;
        }
        muted
    }
}

/// What [`crate::Analyzer`] states of its memory.
const _: () = assert!(size_of::<LineState>() == 32);
