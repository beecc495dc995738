//! The body of a loop.

use std::ops::Range;

use crate::{Arrays, Medium, Nest};

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

    /// Fills in the arrays that are only read, and those that the first iteration finds written. Once, when the loop
    /// is begun; all arrays are zero before.
    fn init<M: Medium>(&self, arrays: &Arrays<'_, M>);

    /// Gives a region the value that it has before the first iteration, in all arrays that are written and whose value
    /// then is read: also where they have been overwritten since.
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
