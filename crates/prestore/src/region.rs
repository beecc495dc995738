//! Region markers for languages without C's macros, where the id is known at run time only.
//!
//! A marker's id is part of the instruction (`include/prestore_region.h`), so there is one tiny function an id: the
//! marker and a return. Calling the right one costs a call, a NOP and a return.

use core::ffi::c_int;

/// Which end of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    Begin,
    End,
}

/// Ids are below this.
const IDS: c_int = 4096;

/// Executes the marker; -1 if the id is not from 0 to 4095, else 0.
pub(crate) fn mark(edge: Edge, id: c_int) -> c_int {
    if !(0..IDS).contains(&id) {
        return -1;
    }
    execute(edge, id as usize);
    0
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
core::arch::global_asm!(
    ".pushsection .text.prestore_region,\"ax\",@progbits",
    ".balign 16",
    ".hidden prestore_region_stubs",
    ".globl prestore_region_stubs",
    "prestore_region_stubs:",
    // Begin is operation 1, end is 2: ids go on from one to the other.
    ".set prestore_region_word, 0x50531000",
    ".rept 8192",
    ".byte 0x0f, 0x1f, 0x80",
    ".long prestore_region_word",
    "ret",
    ".set prestore_region_word, prestore_region_word + 1",
    ".endr",
    ".popsection",
);

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
core::arch::global_asm!(
    ".pushsection .text.prestore_region,\"ax\",@progbits",
    ".balign 16",
    ".hidden prestore_region_stubs",
    ".globl prestore_region_stubs",
    "prestore_region_stubs:",
    ".set prestore_region_word, 0x1000",
    ".rept 8192",
    // movz xzr, #0x5053; movz xzr, #word; ret
    ".inst 0xd2800000 | (0x5053 << 5) | 31",
    ".inst 0xd2800000 | (prestore_region_word << 5) | 31",
    "ret",
    "nop",
    ".set prestore_region_word, prestore_region_word + 1",
    ".endr",
    ".popsection",
);

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn execute(edge: Edge, id: usize) {
    // SAFETY: `id` is below 4096 and `stub` gives the beginning of a function without arguments or effects.
    unsafe {
        let stub: extern "C" fn() = core::mem::transmute(stub(edge, id));
        stub();
    }
}

/// The function that executes one marker.
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn stub(edge: Edge, id: usize) -> *const u8 {
    const STUB_BYTES: usize = if cfg!(target_arch = "x86_64") { 8 } else { 16 };
    unsafe extern "C" {
        static prestore_region_stubs: u8;
    }
    let first = match edge {
        Edge::Begin => 0,
        Edge::End => IDS as usize,
    };
    (&raw const prestore_region_stubs).wrapping_add((first + id) * STUB_BYTES)
}

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
fn execute(_: Edge, _: usize) {
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

#[cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_its_marker() {
        for (edge, op) in [(Edge::Begin, 1u32), (Edge::End, 2)] {
            for id in 0..IDS as u32 {
                // SAFETY: the stubs are 8 bytes of readable code each.
                let code = unsafe { *stub(edge, id as usize).cast::<[u8; 8]>() };
                assert_eq!(code[..3], [0x0f, 0x1f, 0x80]);
                let word = u32::from_le_bytes([code[3], code[4], code[5], code[6]]);
                assert_eq!(word, 0x5053 << 16 | op << 12 | id);
                assert_eq!(code[7], 0xc3);
            }
        }
    }

    #[test]
    fn markers_run_and_ids_out_of_range_are_refused() {
        assert_eq!(mark(Edge::Begin, 0), 0);
        assert_eq!(mark(Edge::End, 4095), 0);
        assert_eq!(mark(Edge::Begin, 4096), -1);
        assert_eq!(mark(Edge::Begin, -1), -1);
    }
}
