//! Ordinary memory as a medium: nothing survives.

use std::cell::UnsafeCell;

use crate::flusher::Flusher;
use crate::{Error, Medium};

/// A cache line's bytes.
#[repr(C, align(64))]
struct Line(UnsafeCell<[u8; 64]>);

/// Ordinary memory, to run a loop on it without a file, or on the image of one.
pub struct Memory {
    lines: Box<[Line]>,
    len: usize,
    flusher: Option<Flusher>,
}

// SAFETY: plain bytes; who writes what at which time is the kernels' promise (`Kernel`).
unsafe impl Sync for Memory {}

impl Memory {
    /// So many zero bytes, as if they were persistent: flushes and fences are executed, to measure them.
    ///
    /// # Errors
    /// This CPU has no instruction for it.
    pub fn flushed(len: usize) -> Result<Memory, Error> {
        let flusher = Flusher::choose().ok_or_else(|| {
            Error::Durability("this CPU has no instruction that flushes a line".to_string())
        })?;
        Ok(Memory {
            flusher: Some(flusher),
            ..Memory::new(len)
        })
    }

    /// So many zero bytes; nothing is flushed.
    pub fn new(len: usize) -> Memory {
        let lines = (0..len.div_ceil(64)).map(|_| Line(UnsafeCell::new([0; 64])));
        Memory {
            lines: lines.collect(),
            len,
            flusher: None,
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
    fn flush(&self, at: usize, len: usize) {
        debug_assert!(at + len <= self.len);
        if let Some(flusher) = self.flusher {
            // SAFETY: within the lines.
            unsafe { flusher.flush(self.base().add(at), len) }
        }
    }

    #[inline]
    fn fence(&self) -> Result<(), Error> {
        if self.flusher.is_some() {
            prestore::fence();
        }
        Ok(())
    }
}
