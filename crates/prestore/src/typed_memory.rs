//! Memory of a chosen type, from the kernel module (`kernel/prestore_device.h` is its interface).

use core::ffi::{CStr, c_ulong};
use core::ptr::NonNull;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::{MapError, MemoryType, MemoryTypes};

const DEVICE: &CStr = c"/dev/prestore";

/// `struct prestore_dev_alloc`.
#[repr(C)]
struct Alloc {
    memory_type: u32,
    flags: u32,
    bytes: u64,
    reserved: u64,
}

/// `struct prestore_dev_info`.
#[repr(C)]
#[derive(Default)]
struct Info {
    version: u32,
    types: u32,
    limit: u64,
    used: u64,
    reserved: u64,
}

/// `_IOW('P', 0xe0, struct prestore_dev_alloc)`.
const ALLOC: c_ulong = request(1, 0xe0, size_of::<Alloc>());
/// `_IOR('P', 0xe1, struct prestore_dev_info)`.
const INFO: c_ulong = request(2, 0xe1, size_of::<Info>());

/// As `_IOC` of <linux/ioctl.h> on x86 and Arm.
const fn request(direction: c_ulong, number: c_ulong, size: usize) -> c_ulong {
    direction << 30 | (size as c_ulong) << 16 | (b'P' as c_ulong) << 8 | number
}

/// What the kernel module offers on this machine.
///
/// # Errors
/// It is not loaded, or may not be used.
pub fn memory_types() -> Result<MemoryTypes, MapError> {
    types_of(DEVICE)
}

fn types_of(device: &CStr) -> Result<MemoryTypes, MapError> {
    let file = open(device)?;
    let mut info = Info::default();
    // SAFETY: the request writes one `Info`.
    if unsafe { libc::ioctl(file.as_raw_fd(), INFO as _, &mut info) } != 0 {
        return Err(MapError::last());
    }
    Ok(MemoryTypes {
        types: info.types,
        limit: info.limit,
        used: info.used,
    })
}

fn open(device: &CStr) -> Result<OwnedFd, MapError> {
    if !cfg!(target_arch = "x86_64") {
        return Err(MapError::of(libc::ENOSYS));
    }
    // SAFETY: a string that ends in NUL.
    let file = unsafe { libc::open(device.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
    if file < 0 {
        return Err(MapError::last());
    }
    // SAFETY: just opened, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Maps new memory, zeroed. Answers its address.
pub(crate) fn map(size: usize, memory_type: u32) -> Result<NonNull<u8>, MapError> {
    map_from(DEVICE, size, memory_type)
}

fn map_from(device: &CStr, size: usize, memory_type: u32) -> Result<NonNull<u8>, MapError> {
    let file = open(device)?;
    let want = Alloc {
        memory_type,
        flags: 0,
        bytes: rounded(size).ok_or(MapError::of(libc::EINVAL))? as u64,
        reserved: 0,
    };
    // SAFETY: the request reads one `Alloc`.
    if unsafe { libc::ioctl(file.as_raw_fd(), ALLOC as _, &want) } != 0 {
        return Err(MapError::last());
    }
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let (none, file) = (core::ptr::null_mut(), file.as_raw_fd());
    // SAFETY: at an address that the kernel chooses. The mapping keeps the memory when the file is closed.
    let address = unsafe { libc::mmap(none, size, rights, libc::MAP_SHARED, file, 0) };
    if address == libc::MAP_FAILED {
        return Err(MapError::last());
    }
    NonNull::new(address.cast()).ok_or(MapError::of(libc::ENOMEM))
}

/// Whole pages.
fn rounded(size: usize) -> Option<usize> {
    // SAFETY: it takes a number and answers one.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    size.checked_next_multiple_of(usize::try_from(page).ok()?)
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// The memory is not used any more.
pub(crate) unsafe fn unmap(address: *mut u8, size: usize) -> Result<(), MapError> {
    // SAFETY: passed on to the caller.
    match unsafe { libc::munmap(address.cast(), size) } {
        0 => Ok(()),
        _ => Err(MapError::last()),
    }
}

/// Memory of a chosen type: zeroed, of whole pages, never swapped, and given back when dropped.
///
/// A forked process shares it. What needs a pinned page (`O_DIRECT`, io_uring's fixed buffers) cannot use it; `read` and
/// `write` can.
///
/// ```no_run
/// use prestore::{MemoryType, TypedMemory};
///
/// let log = TypedMemory::new(1 << 20, MemoryType::WriteThrough)?;
/// // SAFETY: within the memory, which nobody else writes.
/// unsafe { log.as_ptr().write(1) };
/// # Ok::<(), prestore::MapError>(())
/// ```
#[derive(Debug)]
pub struct TypedMemory {
    start: NonNull<u8>,
    size: usize,
    memory_type: MemoryType,
}

// SAFETY: it is memory, bound to no thread; all access is by the user's raw pointers.
unsafe impl Send for TypedMemory {}
// SAFETY: as above.
unsafe impl Sync for TypedMemory {}

impl TypedMemory {
    /// `size` bytes, rounded up to whole pages.
    ///
    /// # Errors
    /// The module is not loaded or may not be used, it or the machine has no such memory, or the size is 0.
    pub fn new(size: usize, memory_type: MemoryType) -> Result<TypedMemory, MapError> {
        Ok(TypedMemory {
            start: map(size, memory_type as u32)?,
            size,
            memory_type,
        })
    }

    /// Its beginning, at a page.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes, as asked for.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Its type.
    pub fn memory_type(&self) -> MemoryType {
        self.memory_type
    }
}

impl Drop for TypedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; whoever keeps a pointer keeps the memory, too. It cannot fail: the mapping is whole.
        let _ = unsafe { unmap(self.as_ptr(), self.size) };
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn without_the_module_the_error_says_how_to_get_it() {
        let error = map_from(c"/dev/no-such-device", 4096, 0).unwrap_err();
        assert_eq!(error.code(), libc::ENOENT);
        let text = error.to_string();
        assert!(
            text.contains("not loaded") && text.contains("docs/memory-types.md"),
            "{text}"
        );
    }

    #[test]
    fn another_device_is_another_version() {
        for error in [
            map_from(c"/dev/null", 4096, 0).unwrap_err(),
            types_of(c"/dev/null").unwrap_err(),
        ] {
            assert_eq!(error.code(), libc::ENOTTY);
            assert!(error.to_string().contains("another version"));
        }
    }

    #[test]
    fn a_size_beyond_all_addresses_is_an_error() {
        let error = map_from(c"/dev/null", usize::MAX, 0).unwrap_err();
        assert_eq!(error.code(), libc::EINVAL);
    }
}
