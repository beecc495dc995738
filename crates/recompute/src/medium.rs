//! Where persistent bytes are: the one seam that all stores, flushes and fences pass.

use crate::Error;

/// Persistent bytes that are stored to in place.
///
/// Whoever stores calls [`Medium::stored`] behind it, so that a medium can keep a log of everything that reaches it and
/// a test can tell what a power cut may leave. For real memory that is nothing.
///
/// # Safety
/// `base` is valid for reads and writes of `len` bytes as long as the medium lives, by several threads, and begins at
/// a cache line (64 bytes).
pub unsafe trait Medium: Sync {
    /// The first byte.
    fn base(&self) -> *mut u8;

    /// How many bytes there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// This thread has stored to these bytes.
    #[inline(always)]
    fn stored(&self, at: usize, len: usize) {
        let _ = (at, len);
    }

    /// Begins to make these bytes' lines durable; done when this thread's next fence is.
    fn flush(&self, at: usize, len: usize);

    /// Waits until everything that this thread has flushed is durable, and orders its stores.
    ///
    /// # Errors
    /// The storage behind it fails.
    fn fence(&self) -> Result<(), Error>;
}

// SAFETY: passed on.
unsafe impl<M: Medium + Send> Medium for &M {
    #[inline(always)]
    fn base(&self) -> *mut u8 {
        (**self).base()
    }

    #[inline(always)]
    fn len(&self) -> usize {
        (**self).len()
    }

    #[inline(always)]
    fn stored(&self, at: usize, len: usize) {
        (**self).stored(at, len);
    }

    #[inline]
    fn flush(&self, at: usize, len: usize) {
        (**self).flush(at, len);
    }

    #[inline]
    fn fence(&self) -> Result<(), Error> {
        (**self).fence()
    }
}

/// The bytes at `at`, as they are now.
pub(crate) fn load_word(medium: &impl Medium, at: usize) -> u64 {
    assert!(at.is_multiple_of(8) && at + 8 <= medium.len());
    // SAFETY: within the medium and aligned, as its base is.
    unsafe { medium.base().add(at).cast::<u64>().read_volatile() }
}

/// Stores a word; it becomes durable whole or not at all.
pub(crate) fn store_word(medium: &impl Medium, at: usize, value: u64) {
    assert!(at.is_multiple_of(8) && at + 8 <= medium.len());
    // SAFETY: within the medium and aligned, as its base is.
    unsafe { medium.base().add(at).cast::<u64>().write_volatile(value) }
    medium.stored(at, 8);
}

/// Stores a word and waits until it is durable.
pub(crate) fn persist_word(medium: &impl Medium, at: usize, value: u64) -> Result<(), Error> {
    store_word(medium, at, value);
    medium.flush(at, 8);
    medium.fence()
}

/// Copies within the medium.
pub(crate) fn copy(medium: &impl Medium, from: usize, to: usize, len: usize) {
    assert!(from + len <= medium.len() && to + len <= medium.len());
    assert!(from + len <= to || to + len <= from);
    // SAFETY: both within the medium and apart.
    unsafe {
        let base = medium.base();
        base.add(from).copy_to_nonoverlapping(base.add(to), len);
    }
    medium.stored(to, len);
}

/// Stores zeros.
pub(crate) fn zero(medium: &impl Medium, at: usize, len: usize) {
    assert!(at + len <= medium.len());
    // SAFETY: within the medium.
    unsafe { medium.base().add(at).write_bytes(0, len) };
    medium.stored(at, len);
}

/// Stores bytes.
pub(crate) fn store_bytes(medium: &impl Medium, at: usize, bytes: &[u8]) {
    assert!(at + bytes.len() <= medium.len());
    // SAFETY: within the medium; the bytes are the caller's, not the medium's.
    unsafe {
        medium
            .base()
            .add(at)
            .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
    medium.stored(at, bytes.len());
}

/// The bytes as they are now.
pub(crate) fn load_bytes(medium: &impl Medium, at: usize, len: usize) -> Vec<u8> {
    assert!(at + len <= medium.len());
    let mut bytes = vec![0; len];
    // SAFETY: within the medium; the vector is apart.
    unsafe {
        medium
            .base()
            .add(at)
            .copy_to_nonoverlapping(bytes.as_mut_ptr(), len);
    }
    bytes
}
