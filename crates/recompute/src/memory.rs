//! Ordinary memory as a medium: nothing survives, nothing is flushed.

use std::cell::UnsafeCell;

use crate::{Error, Medium};

/// A cache line's bytes.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u8; 64]>);

/// Ordinary memory, to run a loop on it without a file, or on the image of one.
pub struct Memory {
    lines: Box<[Line]>,
    len: usize,
}

// SAFETY: plain bytes; who writes what at which time is the kernels' promise (`Kernel`).
unsafe impl Sync for Memory {}

impl Memory {
    /// So many zero bytes.
    pub fn new(len: usize) -> Memory {
        let lines = (0..len.div_ceil(64)).map(|_| Line(UnsafeCell::new([0; 64])));
        Memory {
            lines: lines.collect(),
            len,
        }
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Memory {
        let mut memory = Memory::new(bytes.len());
        memory.fill(bytes);
        memory
    }

    /// Replaces all bytes by these.
    ///
    /// # Panics
    /// There are not as many.
    pub fn fill(&mut self, bytes: &[u8]) {
        assert_eq!(bytes.len(), self.len);
        for (line, part) in self.lines.iter_mut().zip(bytes.chunks(64)) {
            line.0.get_mut()[..part.len()].copy_from_slice(part);
        }
    }
}

// SAFETY: the lines are one block of at least that many bytes, and begin at a line.
unsafe impl Medium for Memory {
    fn base(&self) -> *mut u8 {
        self.lines.as_ptr().cast::<u8>().cast_mut()
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn flush(&self, _at: usize, _len: usize) {}

    #[inline]
    fn fence(&self) -> Result<(), Error> {
        Ok(())
    }
}
