//! The C functions for memory of a chosen type; `include/prestore_map.h` documents them.

use core::ffi::{c_char, c_int, c_void};

use crate::map_error::explain;
use crate::{MapError, typed_memory};

fn fail(error: MapError) {
    // SAFETY: this thread's errno.
    unsafe { *libc::__errno_location() = error.code() }
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_map(size: usize, memory_type: c_int) -> *mut c_void {
    // A type that does not exist is the kernel's to refuse, as a negative one is.
    match typed_memory::map(size, memory_type as u32) {
        Ok(start) => start.as_ptr().cast(),
        Err(error) => {
            fail(error);
            core::ptr::null_mut()
        }
    }
}

/// # Safety
/// The memory is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_unmap(addr: *mut c_void, size: usize) -> c_int {
    // SAFETY: passed on to C.
    match unsafe { typed_memory::unmap(addr.cast(), size) } {
        Ok(()) => 0,
        Err(error) => {
            fail(error);
            -1
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_map_why(error: c_int) -> *const c_char {
    explain(error).as_ptr().cast()
}
