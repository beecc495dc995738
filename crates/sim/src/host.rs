//! The host's caches. The tables of a simulated machine are larger than they are, and nearly every
//! simulated miss is several of the host's: what will be looked at soon is asked for ahead.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Asks the host to bring an element nearer. Changes nothing; without such an instruction it does
/// nothing.
#[inline]
pub(crate) fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let element = table.as_ptr().wrapping_add(index);
        // SAFETY: every x86-64 processor has the instruction; it reads nothing and cannot fault,
        // wherever the address points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(element.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}

/// Bytes of a line of the host's caches.
pub(crate) const LINE: usize = 64;

/// Bytes of the host's memory that lie in one line of its caches.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Chunk([u8; LINE]);

/// A table whose first element begins a line of the host's caches, so that what is looked at together
/// lies in as few lines as it can.
#[derive(Debug)]
pub(crate) struct Aligned<T> {
    /// The elements, one behind the other.
    chunks: Box<[Chunk]>,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Copy> Aligned<T> {
    /// `elements`, so many times over.
    pub(crate) fn repeat(elements: &[T], times: usize) -> Self {
        const { assert!(align_of::<T>() <= LINE) };
        let len = elements.len() * times;
        let chunks = (len * size_of::<T>()).div_ceil(LINE);
        let mut chunks = vec![Chunk([0; LINE]); chunks].into_boxed_slice();
        let first: *mut T = chunks.as_mut_ptr().cast();
        for (n, element) in elements.iter().cycle().take(len).enumerate() {
            // SAFETY: the chunks have room for `len` elements, and are aligned for them.
            unsafe { first.add(n).write(*element) };
        }
        Self {
            chunks,
            len,
            of: PhantomData,
        }
    }
}

impl<T: Copy> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        Self::repeat(self, 1)
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements were written there when the table was made, and none without the other.
        unsafe { std::slice::from_raw_parts(self.chunks.as_ptr().cast(), self.len) }
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the table is borrowed for as long.
        unsafe { std::slice::from_raw_parts_mut(self.chunks.as_mut_ptr().cast(), self.len) }
    }
}
