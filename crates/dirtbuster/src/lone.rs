//! Lone lines that are written whole: records of a line at any places, each complete at once.
//!
//! They are in no sequence, but a non-temporal store of a whole line saves its fetch as it does in a sequence.

use crate::cores::Core;
use crate::far::Far;
use crate::lines::LineState;
use crate::loaded::Loaded;

/// Instructions from the first to the last write of a line, at most, that is written at once: 64 stores of a byte with their loop.
const AT_ONCE: u64 = 256;

/// Of lines that are no sequential context's: how many were written whole at once, whether they had just been read, and which
/// larger caches would have kept them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lone {
    pub(crate) whole: u64,
    pub(crate) loaded: Loaded,
    pub(crate) far: Far,
}

impl Lone {
    /// A line's writing has ended.
    #[inline]
    pub(crate) fn end(&mut self, line: &LineState) {
        self.whole += u64::from(is_whole(line));
    }

    /// A line is read for the first time when its writer's `core` has lost it.
    pub(crate) fn read(&mut self, line: &LineState, core: &Core) {
        if is_whole(line) {
            self.far.read(&core.horizons, line.time);
        }
    }

    /// It is written again then.
    pub(crate) fn write(&mut self, line: &LineState, core: &Core) {
        if is_whole(line) {
            self.far.write(&core.horizons, line.time);
        }
    }

    pub(crate) fn merge(&mut self, o: &Self) {
        self.whole += o.whole;
        self.loaded.merge(&o.loaded);
        self.far.merge(&o.far);
    }

    /// Counts for `weight` times as much.
    pub(crate) fn scale(&mut self, weight: u64) {
        self.whole *= weight;
        self.loaded.scale(weight);
        self.far.scale(weight);
    }
}

fn is_whole(line: &LineState) -> bool {
    line.mask == u64::MAX && line.time - line.start <= AT_ONCE
}
