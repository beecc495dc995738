//! A file in memory as a medium: on persistent memory, tmpfs or a disk.

mod begin;
mod durability;
mod open;

use std::fs;
use std::sync::{Mutex, PoisonError};

use crate::{Error, Medium};
pub use durability::Durability;
use durability::Means;

/// A file in memory, locked against other processes.
pub struct File {
    /// Keeps the lock.
    _file: fs::File,
    base: *mut u8,
    len: usize,
    means: Means,
    /// Of [`Means::Msync`]: what is flushed and not yet written.
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    /// First byte and end.
    ranges: Vec<(usize, usize)>,
    /// The storage has failed: what it took is not known, and asking again would hide that (fsync's errors come once).
    failed: bool,
}

// SAFETY: the mapping belongs to this value; who writes what at which time is the kernels' promise (`Kernel`).
unsafe impl Send for File {}
// SAFETY: as above.
unsafe impl Sync for File {}

const PAGE: usize = 4096;

impl File {
    /// How what is flushed becomes durable, and what it survives, in words.
    pub fn durability(&self) -> String {
        self.means.to_string()
    }

    /// Writes all pages of what waits, in as few calls as it takes.
    fn write_waiting(&self, waiting: &mut Waiting) -> Result<(), Error> {
        let failure = |source| Error::Storage(std::io::Error::from(source));
        if waiting.failed {
            return Err(failure(rustix::io::Errno::IO));
        }
        waiting.ranges.sort_unstable();
        let mut ranges = waiting.ranges.drain(..).peekable();
        while let Some((first, mut end)) = ranges.next() {
            while let Some(next) = ranges.next_if(|next| next.0 <= end.next_multiple_of(PAGE)) {
                end = end.max(next.1);
            }
            let first = first / PAGE * PAGE;
            // SAFETY: within the mapping, which begins at a page.
            let done = unsafe {
                rustix::mm::msync(
                    self.base.add(first).cast(),
                    end - first,
                    rustix::mm::MsyncFlags::SYNC,
                )
            };
            if let Err(source) = done {
                waiting.failed = true;
                return Err(failure(source));
            }
        }
        Ok(())
    }
}

// SAFETY: the mapping is that long, begins at a page, and lives as long as the value.
unsafe impl Medium for File {
    #[inline(always)]
    fn base(&self) -> *mut u8 {
        self.base
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn flush(&self, at: usize, len: usize) {
        assert!(at + len <= self.len);
        match self.means {
            // SAFETY: within the mapping.
            Means::Flush { flusher, .. } => unsafe { flusher.flush(self.base.add(at), len) },
            Means::Msync if len > 0 => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.ranges.push((at, at + len));
            }
            Means::Msync => {}
        }
    }

    #[inline]
    fn fence(&self) -> Result<(), Error> {
        match self.means {
            Means::Flush { .. } => {
                prestore::fence();
                Ok(())
            }
            // Under the lock, so that nobody leaves whose range another thread is still writing.
            Means::Msync => {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                self.write_waiting(&mut waiting)
            }
        }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: mapped by `open`, and nobody has it any more.
        let _ = unsafe { rustix::mm::munmap(self.base.cast(), self.len) };
    }
}
