//! Memory for measurements.

use std::ptr;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::CalibrateError;

/// Bytes of a cache line, as far as the layout of measurements goes.
pub(crate) const LINE: usize = 64;

/// Zeroed memory of its own pages, large ones where the system gives them, all of them touched.
pub(crate) struct Buffer {
    start: *mut u8,
    size: usize,
}

// SAFETY: the memory belongs to the buffer alone; whoever writes it has it by `&mut` or takes care by itself.
unsafe impl Send for Buffer {}
// SAFETY: as above; shared access only reads.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// `size` bytes, not 0.
    pub fn new(size: usize) -> Result<Buffer, CalibrateError> {
        let size = size.max(LINE).next_multiple_of(4096);
        // SAFETY: a fresh mapping touches nothing that exists.
        let start = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                size,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .map_err(|error| CalibrateError::Memory {
            bytes: size,
            source: error.into(),
        })?
        .cast::<u8>();
        // Fewer misses of the address translation in the figures; not every system has large pages.
        // SAFETY: the mapping just made.
        let _ = unsafe { madvise(start.cast(), size, Advice::LinuxHugepage) };
        for page in (0..size).step_by(4096) {
            // SAFETY: within the mapping.
            unsafe { start.add(page).write_volatile(1) };
        }
        Ok(Buffer { start, size })
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn lines(&self) -> usize {
        self.size / LINE
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Beginning of a line; those past the end begin anew at the first.
    #[inline(always)]
    pub fn line(&self, number: usize) -> *mut u8 {
        // SAFETY: the remainder keeps it within the mapping.
        unsafe { self.start.add(number % self.lines() * LINE) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nobody has it any more. A failure leaves it mapped.
        let _ = unsafe { munmap(self.start.cast(), self.size) };
    }
}
