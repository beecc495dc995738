//! The host's caches. The tables of a simulated machine are larger than they are, and nearly every
//! simulated miss is several of the host's: what will be looked at soon is asked for ahead.

use std::ops::{Deref, DerefMut, Index, IndexMut};

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

/// A table whose first element begins a line of the host's caches, so that what is looked at together
/// lies in as few lines as it can.
#[derive(Debug)]
pub(crate) struct Aligned<T> {
    elements: Vec<T>,
    /// Of `elements`, the first that is used.
    first: usize,
}

impl<T: Copy> Aligned<T> {
    /// `elements`, so many times over.
    pub(crate) fn repeat(elements: &[T], times: usize) -> Self {
        let spare = LINE.div_ceil(size_of::<T>().max(1));
        let mut all: Vec<T> = Vec::with_capacity(spare + elements.len() * times);
        let first = all.as_ptr().align_offset(LINE).min(spare);
        let cycle = elements.iter().copied().cycle();
        let unused = elements.iter().copied().cycle().take(first);
        all.extend(unused);
        all.extend(cycle.take(elements.len() * times));
        Self {
            elements: all,
            first,
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

    #[inline]
    fn deref(&self) -> &[T] {
        &self.elements[self.first..]
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.elements[self.first..]
    }
}

/// A table of words, eight to a line of the host's caches: one is found with one check. Places in it are a multiple
/// of eight.
#[derive(Clone, Debug)]
pub(crate) struct Eights<T>(Vec<Eight<T>>);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Eight<T>([T; 8]);

impl<T: Copy> Eights<T> {
    /// `element`, in at least so many places.
    pub(crate) fn repeat(element: T, places: usize) -> Self {
        Self(vec![Eight([element; 8]); places.div_ceil(8)])
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(|eight| &eight.0)
    }

    /// The host's line with place `index` will be looked at soon.
    #[inline(always)]
    pub(crate) fn soon(&self, index: usize) {
        prefetch(&self.0, index / 8);
    }
}

impl<T> Index<usize> for Eights<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        &self.0[index / 8].0[index % 8]
    }
}

impl<T> IndexMut<usize> for Eights<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.0[index / 8].0[index % 8]
    }
}
