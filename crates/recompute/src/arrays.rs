//! Persistent arrays as a loop's body sees them.

use std::marker::PhantomData;

use crate::Medium;

/// A number that arrays hold.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {}

mod sealed {
    /// Every pattern of bits is a value.
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty),*) => {
        $(impl Element for $type {}
        impl sealed::Sealed for $type {})*
    };
}
elements!(u8, i32, u32, i64, u64, f32, f64);

/// The persistent arrays of a loop, in the order of its description.
pub struct Arrays<'a, M> {
    medium: &'a M,
    /// Offset and bytes of each.
    places: &'a [(usize, usize)],
}

impl<'a, M: Medium> Arrays<'a, M> {
    pub(crate) fn new(medium: &'a M, places: &'a [(usize, usize)]) -> Arrays<'a, M> {
        Arrays { medium, places }
    }

    /// An array, as elements of a type.
    ///
    /// # Panics
    /// There is no array of this number.
    #[inline]
    pub fn of<T: Element>(&self, array: usize) -> Elements<'a, T, M> {
        let (start, bytes) = self.places[array];
        // SAFETY: places are within the medium.
        let first = unsafe { self.medium.base().add(start) };
        Elements {
            medium: self.medium,
            first: first.cast(),
            len: bytes / size_of::<T>(),
            kind: PhantomData,
        }
    }

    /// Where an array begins in memory.
    pub(crate) fn address(&self, array: usize) -> *mut u8 {
        self.of::<u8>(array).first
    }
}

/// One array, as elements of a type.
pub struct Elements<'a, T, M> {
    medium: &'a M,
    first: *mut T,
    len: usize,
    kind: PhantomData<T>,
}

impl<T, M> Clone for Elements<'_, T, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, M> Copy for Elements<'_, T, M> {}

impl<T: Element, M: Medium> Elements<'_, T, M> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The element, as it is now.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        // SAFETY: kernels promise to stay within (`Kernel`), and that nobody writes it now.
        unsafe { self.first.add(index).read() }
    }

    /// Stores an element.
    #[inline(always)]
    pub fn put(&self, index: usize, value: T) {
        debug_assert!(index < self.len);
        // SAFETY: kernels promise to stay within their region (`Kernel`), which is this worker's.
        unsafe {
            let place = self.first.add(index);
            place.write(value);
            let at = place.cast::<u8>().offset_from_unsigned(self.medium.base());
            self.medium.stored(at, size_of::<T>());
        }
    }
}
