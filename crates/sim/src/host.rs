//! The host's caches. The tables of a simulated machine are larger than they are, and nearly every
//! simulated miss is several of the host's: what will be looked at soon is asked for ahead.

/// Asks the host to bring an element nearer. Changes nothing; without such an instruction, or
/// beyond the end, it does nothing.
#[inline]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = table.get(index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction; it reads nothing and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(element).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
