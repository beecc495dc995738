use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use perf_event_open_sys::bindings::perf_event_mmap_page;

use super::{RingError, unread};

/// A kernel ring buffer mapped into this process, with its control page.
pub struct RingMapping {
    map: MmapRaw,
    page: usize,
    size: u64,
}

/// The area that hardware tracers (Arm SPE) write into directly.
pub struct AuxMapping {
    map: MmapRaw,
    size: u64,
}

/// How the kernel turns the processor's timestamp counter into perf time (nanoseconds).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockConversion {
    /// Right shift after the multiplication.
    pub shift: u16,
    /// Nanoseconds a cycle, scaled by 2^shift.
    pub mult: u32,
    /// Perf time at counter zero.
    pub zero: u64,
}

impl ClockConversion {
    /// Perf time of a counter value, by the formula documented in `linux/perf_event.h`.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        let scaled = (u128::from(cycles) * u128::from(self.mult)) >> self.shift.min(127);
        self.zero.wrapping_add(scaled as u64)
    }
}

fn page_bytes() -> usize {
    // SAFETY: sysconf only reads a constant.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096)
}

impl RingMapping {
    /// Maps `pages` data pages (a power of two) of the event.
    pub fn new(event: &impl AsRawFd, pages: usize) -> io::Result<Self> {
        let page = page_bytes();
        let map = MmapOptions::new()
            .len((pages + 1) * page)
            .map_raw(event.as_raw_fd())?;
        Ok(Self {
            map,
            page,
            size: (pages * page) as u64,
        })
    }

    fn control(&self) -> *mut perf_event_mmap_page {
        self.map.as_mut_ptr().cast()
    }

    fn position(&self, of: impl Fn(*mut perf_event_mmap_page) -> *mut u64) -> &AtomicU64 {
        // SAFETY: the first page of the mapping is the kernel's control page, live as long as
        // `self`; its positions are aligned 64-bit words that both sides access atomically.
        unsafe { AtomicU64::from_ptr(of(self.control())) }
    }

    /// Appends the unread bytes to `into` and gives their room back to the kernel.
    pub fn drain(&self, into: &mut Vec<u8>) -> Result<(), RingError> {
        // SAFETY: only the fields' addresses are formed.
        let head = self.position(|page| unsafe { &raw mut (*page).data_head });
        // SAFETY: as above.
        let tail = self.position(|page| unsafe { &raw mut (*page).data_tail });
        let end = head.load(Ordering::Acquire);
        for range in unread(self.size, tail.load(Ordering::Relaxed), end)? {
            // SAFETY: `unread` gives ranges within the data pages, which follow the control page;
            // the kernel does not touch them until the tail moves past them.
            let bytes = unsafe {
                std::slice::from_raw_parts(
                    self.map.as_ptr().add(self.page + range.start),
                    range.len(),
                )
            };
            into.extend_from_slice(bytes);
        }
        tail.store(end, Ordering::Release);
        Ok(())
    }

    /// How to convert counter values to perf time, if the kernel says so on this machine.
    pub fn clock(&self) -> Option<ClockConversion> {
        let page = self.control();
        // SAFETY: the control page is mapped; volatile because the kernel may update it meanwhile.
        // Shift, multiplier and zero change only with the clock source, so no retry loop is needed.
        unsafe {
            let capabilities =
                std::ptr::read_volatile(&raw const (*page).__bindgen_anon_1.capabilities);
            const USER_TIME_ZERO: u64 = 1 << 4;
            (capabilities & USER_TIME_ZERO != 0).then(|| ClockConversion {
                shift: std::ptr::read_volatile(&raw const (*page).time_shift),
                mult: std::ptr::read_volatile(&raw const (*page).time_mult),
                zero: std::ptr::read_volatile(&raw const (*page).time_zero),
            })
        }
    }

    /// Maps `pages` pages (a power of two) of AUX area behind the data pages.
    pub fn aux(&self, event: &impl AsRawFd, pages: usize) -> io::Result<AuxMapping> {
        let bytes = pages * self.page;
        let offset = self.page as u64 + self.size;
        let control = self.control();
        // SAFETY: the kernel reads both fields at the mmap call below and not before.
        unsafe {
            std::ptr::write_volatile(&raw mut (*control).aux_offset, offset);
            std::ptr::write_volatile(&raw mut (*control).aux_size, bytes as u64);
        }
        let map = MmapOptions::new()
            .offset(offset)
            .len(bytes)
            .map_raw(event.as_raw_fd())?;
        Ok(AuxMapping {
            map,
            size: bytes as u64,
        })
    }

    /// Tells the kernel that the AUX bytes before `position` have been read.
    pub fn release_aux(&self, position: u64) {
        // SAFETY: only the field's address is formed.
        self.position(|page| unsafe { &raw mut (*page).aux_tail })
            .store(position, Ordering::Release);
    }
}

impl AuxMapping {
    /// Copies the `length` bytes at the free-running position `offset`.
    pub fn copy(&self, offset: u64, length: u64, into: &mut Vec<u8>) -> Result<(), RingError> {
        for range in unread(self.size, offset, offset.wrapping_add(length))? {
            // SAFETY: the ranges lie within the area; the kernel announced these bytes in an AUX
            // record and leaves them alone until `aux_tail` moves past them.
            let bytes = unsafe {
                std::slice::from_raw_parts(self.map.as_ptr().add(range.start), range.len())
            };
            into.extend_from_slice(bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_values_become_nanoseconds_without_overflow() {
        // A 25 MHz Arm counter: 40 ns a tick.
        let clock = ClockConversion {
            shift: 8,
            mult: 40 << 8,
            zero: 1_000,
        };
        assert_eq!(clock.nanoseconds(5), 1_200);
        assert_eq!(clock.nanoseconds(1 << 50), 1_000 + (40 << 50));
    }
}
