//! The body of a loop.

use std::ops::Range;

use crate::{Arrays, Medium, Nest};

/// How arrays get back what they held before the first iteration, where a loop has to begin again or a torn region has
/// to be computed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// [`Kernel::reset`] gives it to one region after the other. What is only read stays as it is.
    Reset,
    /// Only to all arrays at once: they are zeroed, and [`Kernel::init`] is called again. One torn region cannot have it
    /// anew, so [`Dependence::Carried`](crate::Dependence::Carried) is refused under R and HR.
    Init,
    /// Zeros in all that is written: [`Kernel::init`] fills in at most what is only read, and is not called again.
    Zeros,
}

/// A loop: its description and its body.
///
/// # Safety
/// A step writes the region's tiles of the arrays that its iteration writes and nothing else in persistent memory; it
/// reads what [`Dependence`](crate::Dependence) says, so that no other worker writes it meanwhile; and it stays within
/// the arrays (checked where debug assertions are).
pub unsafe trait Kernel: Sync {
    /// What a worker keeps from step to step in ordinary memory: buffers, packed blocks. Nothing may depend on it.
    type Scratch: Default;

    /// The description. Always the same.
    fn nest(&self) -> Nest;

    /// How arrays get back what they held before the first iteration.
    fn initial(&self) -> Initial {
        Initial::Reset
    }

    /// Fills in the arrays that are only read, and those that the first iteration finds written. Once, when the loop
    /// is begun, and with [`Initial::Init`] whenever it begins again, with the same result; all arrays are zero before.
    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>);

    /// Gives a region the value that it has before the first iteration, in all arrays that are written and whose value
    /// then is read: also where they have been overwritten since. Called with [`Initial::Reset`] only.
    fn reset<M: Medium>(&self, arrays: &Arrays<'_, M>, region: usize);

    /// The step of this outermost iteration and region.
    fn step<M: Medium>(
        &self,
        arrays: &Arrays<'_, M>,
        scratch: &mut Self::Scratch,
        outer: usize,
        region: usize,
    );

    /// The regions among which are those that this iteration writes.
    fn regions(&self, outer: usize) -> Range<usize> {
        let _ = outer;
        0..usize::MAX
    }

    /// Whether this iteration writes this region, of [`Kernel::regions`].
    fn writes(&self, outer: usize, region: usize) -> bool {
        let _ = (outer, region);
        true
    }
}
