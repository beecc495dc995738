//! A loop of C, from its beginning to its end.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::describe::{CKernel, CNest};
use super::message;
use crate::{Durability, Error, File, Memory, Options, Session, State};

/// `prestore_loop` of the header.
pub struct CLoop {
    session: ManuallyDrop<Place>,
    /// What the session refers to: goes after it.
    kernel: *mut CKernel,
    durability: CString,
}

enum Place {
    File(Session<'static, CKernel, File>),
    Memory(Session<'static, CKernel, Memory>),
}

impl Drop for CLoop {
    fn drop(&mut self) {
        // SAFETY: the session is not used any more, then nobody refers to the kernel.
        unsafe {
            ManuallyDrop::drop(&mut self.session);
            drop(Box::from_raw(self.kernel));
        }
    }
}

/// `prestore_loop_report` of the header.
#[repr(C)]
pub struct CReport {
    was_finished: c_int,
    resumed_at: usize,
    recomputed: u64,
    steps: u64,
}

/// # Safety
/// `nest` as the header says; the texts end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_open(
    nest: *const CNest,
    path: *const c_char,
    scheme: *const c_char,
    workers: c_uint,
    durability: c_int,
) -> *mut CLoop {
    // SAFETY: passed on to C.
    match unsafe { open(nest, path, scheme, workers, durability) } {
        Ok(opened) => Box::into_raw(Box::new(opened)),
        Err(why) => {
            message::set(&why);
            std::ptr::null_mut()
        }
    }
}

/// # Safety
/// As [`prestore_loop_open`].
unsafe fn open(
    nest: *const CNest,
    path: *const c_char,
    scheme: *const c_char,
    workers: c_uint,
    durability: c_int,
) -> Result<CLoop, String> {
    if scheme.is_null() {
        return Err("the scheme is NULL: take none, CP8, L, R or HRx64".to_string());
    }
    // SAFETY: passed on to C.
    let scheme = unsafe { CStr::from_ptr(scheme) }.to_string_lossy();
    let options = Options {
        scheme: scheme.parse()?,
        workers: workers as usize,
    };
    let durability = match durability {
        0 => Durability::Auto,
        1 => Durability::Flush,
        2 => Durability::Msync,
        other => {
            return Err(format!(
                "durability {other} is none: take auto, flush or msync"
            ));
        }
    };
    // SAFETY: passed on to C.
    let kernel = Box::into_raw(Box::new(unsafe { CKernel::new(nest) }?));
    // SAFETY: freed behind the session, or below.
    let of = unsafe { &*kernel };
    let place = if path.is_null() {
        in_memory(of, options).map(Place::Memory)
    } else {
        // SAFETY: passed on to C.
        let path = Path::new(std::ffi::OsStr::from_bytes(
            unsafe { CStr::from_ptr(path) }.to_bytes(),
        ));
        Session::on_file(of, path, options, durability).map(Place::File)
    };
    match place {
        Ok(place) => {
            let said = match &place {
                Place::File(session) => session.medium().durability(),
                Place::Memory(_) => "ordinary memory: nothing survives".to_string(),
            };
            Ok(CLoop {
                session: ManuallyDrop::new(place),
                kernel,
                durability: CString::new(said).unwrap_or_default(),
            })
        }
        Err(error) => {
            // SAFETY: no session refers to it.
            drop(unsafe { Box::from_raw(kernel) });
            Err(error.to_string())
        }
    }
}

fn in_memory(
    kernel: &'static CKernel,
    options: Options,
) -> Result<Session<'static, CKernel, Memory>, Error> {
    let memory = Memory::flushed(Session::<CKernel, Memory>::needs(kernel, options)?)?;
    Session::open(kernel, memory, options, kernel.name())
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_loop_error() -> *const c_char {
    message::last()
}

/// # Safety
/// `of` was opened and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_state(of: *const CLoop) -> c_int {
    // SAFETY: passed on to C.
    let state = match unsafe { &*(*of).session } {
        Place::File(session) => session.state(),
        Place::Memory(session) => session.state(),
    };
    match state {
        State::New => 0,
        State::Begun => 1,
        State::Finished => 2,
    }
}

/// # Safety
/// `of` was opened and not closed, and no other thread uses it; `report` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_run(of: *mut CLoop, report: *mut CReport) -> c_int {
    // SAFETY: passed on to C.
    let done = match unsafe { &mut *(*of).session } {
        Place::File(session) => session.run(),
        Place::Memory(session) => session.run(),
    };
    match done {
        Ok(done) => {
            if !report.is_null() {
                let answer = CReport {
                    was_finished: done.was_finished.into(),
                    resumed_at: done.resumed_at,
                    recomputed: done.recomputed,
                    steps: done.steps,
                };
                // SAFETY: passed on to C.
                unsafe { report.write(answer) };
            }
            0
        }
        Err(error) => {
            message::set(&error.to_string());
            -1
        }
    }
}

/// # Safety
/// `of` was opened and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_array_at(of: *const CLoop, array: usize) -> *mut c_void {
    // SAFETY: passed on to C.
    let of = unsafe { &*of };
    // SAFETY: alive as long as the loop.
    let count = crate::Kernel::nest(unsafe { &*of.kernel }).arrays.len();
    if array >= count {
        message::set(&format!(
            "array {array}: the loop has {count}, the first is number 0"
        ));
        return std::ptr::null_mut();
    }
    match &*of.session {
        Place::File(session) => session.address(array).cast(),
        Place::Memory(session) => session.address(array).cast(),
    }
}

/// # Safety
/// `of` was opened and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_durability(of: *const CLoop) -> *const c_char {
    // SAFETY: passed on to C.
    unsafe { &*of }.durability.as_ptr()
}

/// # Safety
/// `of` is null, or was opened and not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_loop_close(of: *mut CLoop) {
    if !of.is_null() {
        // SAFETY: made by `prestore_loop_open`.
        drop(unsafe { Box::from_raw(of) });
    }
}
