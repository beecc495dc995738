//! The C ABI behind `include/prestore.h`, which documents each function.

use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::info::Details;
use crate::resolve::Chosen;
use crate::{Instruction, Op, RawWriter, arch, region};

const DEMOTE: c_int = Op::Demote as c_int;
const CLEAN: c_int = Op::Clean as c_int;
const SKIP: c_int = Op::Skip as c_int;

/// `prestore_info` of the header.
#[repr(C)]
pub struct PrestoreInfo {
    instruction: *const c_char,
    reason: *const c_char,
    warning: *const c_char,
    line_source: *const c_char,
    line_size: usize,
    active: c_int,
    retains: c_int,
}

fn operation(number: c_int) -> Option<Op> {
    match number {
        DEMOTE => Some(Op::Demote),
        CLEAN => Some(Op::Clean),
        SKIP => Some(Op::Skip),
        _ => None,
    }
}

/// # Safety
/// As [`crate::prestore`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore(addr: *const c_void, size: usize, op: c_int) {
    // SAFETY: passed on to C.
    unsafe {
        match op {
            CLEAN => crate::prestore(addr.cast(), size, Op::Clean),
            DEMOTE => crate::prestore(addr.cast(), size, Op::Demote),
            _ => {}
        }
    }
}

/// Applies the operation as [`prestore`] does, and tells the header (`prestore_library.h`) which operations it may
/// apply itself: bytes a line for those behind which its own instruction stands, 1 for those that do nothing.
///
/// # Safety
/// As [`crate::prestore`]; `usual` is valid for writes of both words, by several threads at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_remember_(
    addr: *const c_void,
    size: usize,
    op: c_int,
    usual: *mut [AtomicU32; 2],
) {
    let chosen = Chosen::get();
    for (op, instructions) in [
        (Op::Demote, [Instruction::Cldemote, Instruction::DcCvau]),
        (Op::Clean, [Instruction::Clwb, Instruction::DcCvac]),
    ] {
        let word = match chosen.instruction(op) {
            Instruction::None => 1,
            chosen_one if instructions.contains(&chosen_one) => chosen.line_size() as u32,
            _ => continue,
        };
        // SAFETY: passed on to C.
        unsafe { &(*usual)[op as usize] }.store(word, Relaxed);
    }
    // SAFETY: passed on to C.
    unsafe { prestore(addr, size, op) }
}

/// # Safety
/// As [`crate::copy_skip_unfenced`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_copy_skip(
    dst: *mut c_void,
    src: *const c_void,
    n: usize,
) -> *mut c_void {
    if n > 0 {
        // SAFETY: passed on to C.
        unsafe { crate::copy_skip_unfenced(dst.cast(), src.cast(), n) };
    }
    dst
}

/// # Safety
/// As [`crate::fill_skip_unfenced`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_fill_skip(
    dst: *mut c_void,
    byte: c_int,
    n: usize,
) -> *mut c_void {
    if n > 0 {
        // As memset: the value is converted to unsigned char.
        // SAFETY: passed on to C.
        unsafe { crate::fill_skip_unfenced(dst.cast(), byte as u8, n) };
    }
    dst
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_fence() {
    arch::fence();
}

/// # Safety
/// `writer` is valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_writer_open(writer: *mut RawWriter, dst: *mut c_void) {
    // SAFETY: passed on to C. The old value is plain data, perhaps not initialised: it is not read.
    unsafe { writer.write(RawWriter::open(dst.cast())) }
}

/// # Safety
/// `writer` was opened; otherwise as [`RawWriter::put`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_writer_put(
    writer: *mut RawWriter,
    bytes: *const c_void,
    n: usize,
) {
    // SAFETY: passed on to C.
    unsafe { (*writer).put(bytes.cast(), n) }
}

/// # Safety
/// As [`prestore_writer_put`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_writer_close(writer: *mut RawWriter) -> *mut c_void {
    // SAFETY: passed on to C.
    unsafe { (*writer).close().cast() }
}

/// # Safety
/// `info` is valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prestore_query(op: c_int, info: *mut PrestoreInfo) -> c_int {
    let Some(op) = operation(op) else { return -1 };
    let details = Details::of(op);
    let answer = PrestoreInfo {
        instruction: details.instruction.c_name().as_ptr().cast(),
        reason: details.reason.as_ptr().cast(),
        warning: details
            .warning
            .map_or(core::ptr::null(), |text| text.as_ptr().cast()),
        line_source: arch::LINE_SOURCE.as_ptr().cast(),
        line_size: details.line_size,
        active: details.active.into(),
        retains: details.retains as c_int,
    };
    // SAFETY: passed on to C.
    unsafe { info.write(answer) };
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_chosen(op: c_int) -> *const c_char {
    match operation(op) {
        Some(op) => Details::of(op).instruction.c_name().as_ptr().cast(),
        None => core::ptr::null(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_region_begin(id: c_int) -> c_int {
    region::mark(region::Edge::Begin, id)
}

#[unsafe(no_mangle)]
pub extern "C" fn prestore_region_end(id: c_int) -> c_int {
    region::mark(region::Edge::End, id)
}
