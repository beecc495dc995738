//! A streaming writer for values crafted piece by piece (the hard case of P0, section 7: `craftValue`).

use core::marker::PhantomData;

use crate::arch::UNIT;
use crate::fence;
use crate::skip::stream_units;

/// Collects bytes for ascending addresses and writes each whole line at once, around the caches.
///
/// A line goes when the next one is complete, too: its bytes have left the core's store buffer by then. A load of a
/// whole line cannot be forwarded from the narrower stores before it, so at once it would wait for them, and they for
/// the line before, one after the other.
///
/// The C ABI's `prestore_writer_t`, field by field; Rust programs use [`write_skip`].
#[repr(C, align(64))]
#[derive(Debug)]
pub struct RawWriter {
    /// Bytes at their offsets in two lines: the one that is being collected and the one before.
    stage: [u8; 2 * UNIT],
    /// Where the line that is being collected begins.
    line: *mut u8,
    /// The first collected byte's offset in its line: not 0 only in the first line.
    begin: u32,
    /// The next byte's place in the stage.
    next: u32,
    /// The other half of the stage has the line before, complete.
    held: u32,
}

impl RawWriter {
    /// A writer that begins at `to`, which may have any alignment.
    #[inline]
    pub fn open(to: *mut u8) -> RawWriter {
        let begin = to.addr() % UNIT;
        RawWriter {
            stage: [0; 2 * UNIT],
            line: to.wrapping_sub(begin),
            begin: begin as u32,
            next: begin as u32,
            held: 0,
        }
    }

    /// Offset in the line of the next byte.
    #[inline(always)]
    fn offset(&self) -> usize {
        self.next as usize % UNIT
    }

    /// Appends `size` bytes.
    ///
    /// # Safety
    /// `from` is readable for `size` bytes, and the memory at the writer's position writable. Before another
    /// thread may read what was written, this thread must [`close`](Self::close) and then call [`fence`].
    #[inline]
    pub unsafe fn put(&mut self, mut from: *const u8, mut size: usize) {
        while size > 0 {
            let offset = self.offset();
            // SAFETY: whole lines lie within the memory that the caller vouches for; `next` lies in the stage, and
            // what is taken ends with its half.
            unsafe {
                if offset == 0 && size >= UNIT {
                    self.write_held();
                    let units = size / UNIT;
                    stream_units(self.line, from, units);
                    self.line = self.line.wrapping_add(units * UNIT);
                    from = from.add(units * UNIT);
                    size -= units * UNIT;
                } else {
                    let taken = size.min(UNIT - offset);
                    let place = self.stage.as_mut_ptr().add(self.next as usize);
                    // Words are what values are made of, and a call for each would cost more than the copy.
                    if taken == size_of::<u64>() {
                        let word = from.cast::<u64>().read_unaligned();
                        place.cast::<u64>().write_unaligned(word);
                    } else {
                        place.copy_from_nonoverlapping(from, taken);
                    }
                    from = from.add(taken);
                    size -= taken;
                    if offset + taken == UNIT {
                        self.end_line();
                    } else {
                        self.next += taken as u32;
                    }
                }
            }
        }
    }

    /// Writes what is left, an incomplete line with ordinary stores; returns the address after the last byte.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    #[inline]
    pub unsafe fn close(&mut self) -> *mut u8 {
        let offset = self.offset();
        // SAFETY: passed on.
        unsafe {
            self.write_held();
            self.write_part(offset);
        }
        self.begin = offset as u32;
        self.line.wrapping_add(offset)
    }

    /// The line that was collected is complete up to its end; the next begins in the other half.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    unsafe fn end_line(&mut self) {
        // SAFETY: the caller vouches for the line's bytes from `begin` on.
        unsafe {
            self.write_held();
            if self.begin == 0 {
                self.held = 1;
            } else {
                self.write_part(UNIT);
            }
        }
        self.line = self.line.wrapping_add(UNIT);
        self.begin = 0;
        self.next = (self.half() ^ UNIT) as u32;
    }

    /// Where the half of the stage begins that collects.
    #[inline(always)]
    fn half(&self) -> usize {
        self.next as usize & UNIT
    }

    /// The line before goes, around the caches.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    #[inline]
    unsafe fn write_held(&mut self) {
        if self.held != 0 {
            self.held = 0;
            // SAFETY: that line was put as a whole.
            unsafe {
                let from = self.stage.as_ptr().add(self.half() ^ UNIT);
                stream_units(self.line.wrapping_sub(UNIT), from, 1);
            }
        }
    }

    /// Writes the collected bytes of an incomplete line, up to `end` in it.
    ///
    /// # Safety
    /// As [`put`](Self::put).
    unsafe fn write_part(&mut self, end: usize) {
        let begin = self.begin as usize;
        // SAFETY: only bytes that were put, each at its place.
        unsafe {
            let from = self.stage.as_ptr().add(self.half() + begin);
            self.line
                .wrapping_add(begin)
                .copy_from_nonoverlapping(from, end.saturating_sub(begin));
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
