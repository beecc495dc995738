//! The one loop over the cache lines of a range, for every instruction.

/// What is done to one cache line: an instruction, or a mock that counts.
pub trait LineOp {
    /// Acts on the line that begins at `line`.
    ///
    /// # Safety
    /// `line` must be an address that the caller could read, rounded down to a line; what else is needed (that
    /// the CPU has the instruction, say) is the implementation's to state.
    unsafe fn line(&mut self, line: *const u8);
}

/// Applies `op` once to every line that holds a byte of the `size` bytes at `start`, in ascending order.
///
/// `line_size` is in bytes, a power of two. A size of 0 touches nothing; a range past the end of the address
/// space ends there.
///
/// # Safety
/// As [`LineOp::line`], for every line of the range.
#[inline(always)]
pub unsafe fn for_each_line<O: LineOp>(
    start: *const u8,
    size: usize,
    line_size: usize,
    op: &mut O,
) {
    if size == 0 {
        return;
    }
    let mask = !(line_size - 1);
    let first = start.addr() & mask;
    let last = start.addr().saturating_add(size - 1) & mask;
    let mut line = first;
    loop {
        // SAFETY: `line` holds a byte of the caller's range.
        unsafe { op.line(start.with_addr(line)) };
        // Compared before the step, so that the last line of the address space ends the loop too.
        if line == last {
            return;
        }
        line += line_size;
    }
}
