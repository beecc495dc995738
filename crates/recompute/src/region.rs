//! Tells a recording where a worker's loop begins and ends: the markers of `include/prestore_region.h`, in line.

use std::ops::Range;

/// The region's id, the last there is, so that those which programs use stay free.
const ID: u32 = 4095;

/// Which iterations of the outermost loop are in the region, in every worker.
#[derive(Clone, Debug)]
pub(crate) struct Marked(pub Range<usize>);

impl Marked {
    /// Whether workers meet before this iteration, so that none measures what others do before or behind the region; `first`
    /// is the loop's first one.
    pub fn is_edge(&self, outer: usize, first: usize) -> bool {
        outer > first && (outer == self.0.start || outer == self.0.end)
    }

    /// In the region or not, for this iteration.
    pub fn set(&self, outer: usize, region: &mut Option<Region>) {
        if !self.0.contains(&outer) {
            *region = None;
        } else if region.is_none() {
            *region = Some(Region::enter());
        }
    }
}

/// In a region as long as it lives; costs an instruction that does nothing at either end.
pub(crate) struct Region;

impl Region {
    #[inline(always)]
    pub fn enter() -> Region {
        mark::<1>();
        Region
    }
}

impl Drop for Region {
    #[inline(always)]
    fn drop(&mut self) {
        mark::<2>();
    }
}

#[inline(always)]
fn mark<const EDGE: u32>() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a NOP with the marker as its displacement.
    unsafe {
        core::arch::asm!(
            ".byte 0x0f, 0x1f, 0x80",
            ".long {word}",
            word = const 0x5053_0000_u32 | EDGE << 12 | ID,
        );
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: two moves to the zero register.
    unsafe {
        core::arch::asm!(
            "movz xzr, #0x5053",
            "movz xzr, #{word}",
            word = const EDGE << 12 | ID,
        );
    }
}
