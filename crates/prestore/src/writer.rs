//! A streaming writer for values crafted piece by piece (the hard case of P0, section 7: `craftValue`).

use core::marker::PhantomData;

use crate::arch::{Source, UNIT};
use crate::fence;
use crate::skip::stream_units;

/// Collects bytes for ascending addresses and writes each whole line at once, around the caches.
///
/// The C ABI's `prestore_writer_t`, field by field; Rust programs use [`write_skip`].
#[repr(C, align(64))]
#[derive(Debug)]
pub struct RawWriter {
    /// Bytes at their offsets in the line.
    stage: [u8; UNIT],
    /// Where the line that is being collected begins.
    line: *mut u8,
    /// The first collected byte's offset: not 0 only in the first line.
    begin: u32,
    /// The next byte's offset, below [`UNIT`].
    next: u32,
}

impl RawWriter {
    /// A writer that begins at `to`, which may have any alignment.
    #[inline]
    pub fn open(to: *mut u8) -> RawWriter {
        let begin = to.addr() % UNIT;
        RawWriter {
            stage: [0; UNIT],
            line: to.wrapping_sub(begin),
            begin: begin as u32,
            next: begin as u32,
        }
    }

    /// Appends `size` bytes.
    ///
    /// # Safety
    /// `from` is readable for `size` bytes, and the memory at the writer's position writable. Before another
    /// thread may read what was written, this thread must [`close`](Self::close) and then call [`fence`].
    #[inline]
    pub unsafe fn put(&mut self, mut from: *const u8, mut size: usize) {
        while size > 0 {
            let next = self.next as usize % UNIT;
            // SAFETY: whole lines lie within the memory that the caller vouches for; `stage` holds `UNIT` bytes.
            unsafe {
                if next == 0 && size >= UNIT {
                    let units = size / UNIT;
                    stream_units(self.line, from, Source::Bytes, units);
                    self.line = self.line.wrapping_add(units * UNIT);
                    from = from.add(units * UNIT);
                    size -= units * UNIT;
                } else {
                    let taken = size.min(UNIT - next);
                    let place = self.stage.as_mut_ptr().add(next);
                    place.copy_from_nonoverlapping(from, taken);
                    self.next += taken as u32;
                    from = from.add(taken);
                    size -= taken;
                    if self.next as usize == UNIT {
                        self.write_line();
                    }
                }
            }
        }
    }

    /// Writes what is left, an incomplete line, with ordinary stores; returns the address after the last byte.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    #[inline]
    pub unsafe fn close(&mut self) -> *mut u8 {
        let end = self.line.wrapping_add(self.next as usize);
        // SAFETY: passed on.
        unsafe { self.write_part() };
        self.begin = self.next;
        end
    }

    /// Writes the collected line, complete up to its end, and begins the next.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    unsafe fn write_line(&mut self) {
        // SAFETY: the caller vouches for the line's bytes from `begin` on.
        unsafe {
            if self.begin == 0 {
                stream_units(self.line, self.stage.as_ptr(), Source::Bytes, 1);
            } else {
                self.write_part();
            }
        }
        self.line = self.line.wrapping_add(UNIT);
        self.begin = 0;
        self.next = 0;
    }

    /// Writes the collected bytes of an incomplete line.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    unsafe fn write_part(&mut self) {
        let begin = self.begin as usize;
        let size = (self.next as usize).saturating_sub(begin);
        // SAFETY: only bytes that were put, each at its place.
        unsafe {
            let from = self.stage.as_ptr().add(begin);
            self.line
                .wrapping_add(begin)
                .copy_from_nonoverlapping(from, size);
        }
    }
}

/// Writes into a slice from its beginning; see [`write_skip`].
#[derive(Debug)]
pub struct Writer<'a> {
    raw: RawWriter,
    left: usize,
    target: PhantomData<&'a mut [u8]>,
}

impl Writer<'_> {
    /// Appends as many bytes as there is room for, and returns how many.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let size = bytes.len().min(self.left);
        // SAFETY: `left` bytes of the slice are not yet written. `write_skip` closes and fences.
        unsafe { self.raw.put(bytes.as_ptr(), size) };
        self.left -= size;
        size
    }

    /// Bytes for which there is room.
    pub fn left(&self) -> usize {
        self.left
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(self.put(bytes))
    }

    /// Does nothing: an incomplete line stays with the writer until [`write_skip`] ends.
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Lets `craft` write into `to` around the caches, then fences; returns what `craft` does and the bytes written.
///
/// Whole lines go out with non-temporal stores, incomplete ones at both ends with ordinary stores. A closure,
/// not a value with a destructor, so that safe code cannot forget the fence.
///
/// ```
/// let mut value = [0u8; 100];
/// let ((), written) = prestore::write_skip(&mut value, |writer| {
///     writer.put(&7u32.to_le_bytes());
///     writer.put(b"seven");
/// });
/// assert_eq!((written, &value[4..9]), (9, &b"seven"[..]));
/// ```
pub fn write_skip<R>(to: &mut [u8], craft: impl FnOnce(&mut Writer<'_>) -> R) -> (R, usize) {
    /// Closes and fences when `craft` returns, and when it panics.
    struct Closing<'a>(Writer<'a>);
    impl Drop for Closing<'_> {
        fn drop(&mut self) {
            // SAFETY: only bytes of the slice were put.
            unsafe { self.0.raw.close() };
            fence();
        }
    }

    let room = to.len();
    let mut closing = Closing(Writer {
        raw: RawWriter::open(to.as_mut_ptr()),
        left: room,
        target: PhantomData,
    });
    let result = craft(&mut closing.0);
    let written = room - closing.0.left;
    drop(closing);
    (result, written)
}
