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
    /// This CPU has no instruction for it, or there is not so much memory.
    pub fn flushed(len: usize) -> Result<Memory, Error> {
        let flusher = Flusher::choose().ok_or_else(|| {
            Error::Durability("this CPU has no instruction that flushes a line".to_string())
        })?;
        let full = || Error::NoMemory { needs: len as u64 };
        // Some systems promise more than they have, and end the program that takes them at their word.
        if available().is_some_and(|bytes| bytes < len as u64) {
            return Err(full());
        }
        let mut lines = Vec::new();
        lines
            .try_reserve_exact(len.div_ceil(64))
            .map_err(|_| full())?;
        Ok(Memory {
            flusher: Some(flusher),
            ..Memory::within(lines, len)
        })
    }

    /// So many zero bytes; nothing is flushed.
    ///
    /// # Panics
    /// There is not so much memory.
    pub fn new(len: usize) -> Memory {
        Memory::within(Vec::new(), len)
    }

    fn within(mut lines: Vec<Line>, len: usize) -> Memory {
        lines.resize_with(len.div_ceil(64), || Line(UnsafeCell::new([0; 64])));
        Memory {
            lines: lines.into_boxed_slice(),
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

/// Bytes that programs can get, as Linux reckons; none if it does not say so.
fn available() -> Option<u64> {
    let about = std::fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = about.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let free = kilobytes("MemAvailable:")?.checked_add(kilobytes("SwapFree:").unwrap_or(0))?;
    free.checked_mul(1024)
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
