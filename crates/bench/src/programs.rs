//! The workloads, compiled into this crate.

use std::ffi::{CString, c_char, c_int};

use crate::Program;

// What the workloads call by C's names; nothing else refers to it.
use prestore as _;

#[cfg(programs)]
unsafe extern "C" {
    fn prestore_bench_listing1(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_listing2(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_listing3(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_ring(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_kv(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_stencil(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_fft(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_modes_array(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_modes_queue(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_modes_hash(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_modes_cowlist(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn prestore_bench_tensor(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

/// Runs a workload in this process with these arguments (without its name) and gives its exit code.
///
/// For a process of its own: the workload prints to stdout, keeps its memory, and may end the process. A build
/// without workloads gives 3.
pub fn program_main(program: Program, arguments: &[String]) -> i32 {
    if program == Program::RecomputeKernels {
        return prestore_recompute::program::run(arguments.iter().cloned()).into();
    }
    let mut owned: Vec<CString> = Vec::new();
    for text in std::iter::once(program.name()).chain(arguments.iter().map(String::as_str)) {
        // An argument with a NUL inside is none that a workload knows.
        owned.push(CString::new(text).unwrap_or_default());
    }
    let mut pointers: Vec<*mut c_char> = owned.iter().map(|a| a.as_ptr().cast_mut()).collect();
    let count = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    enter(program, count, pointers.as_mut_ptr())
}

#[cfg(programs)]
fn enter(program: Program, count: c_int, pointers: *mut *mut c_char) -> c_int {
    let main = match program {
        Program::Listing1 => prestore_bench_listing1,
        Program::Listing2 => prestore_bench_listing2,
        Program::Listing3 => prestore_bench_listing3,
        Program::Ring => prestore_bench_ring,
        Program::Kv => prestore_bench_kv,
        Program::Stencil => prestore_bench_stencil,
        Program::Fft => prestore_bench_fft,
        Program::Tensor => prestore_bench_tensor,
        Program::ModesArray => prestore_bench_modes_array,
        Program::ModesQueue => prestore_bench_modes_queue,
        Program::ModesHash => prestore_bench_modes_hash,
        Program::ModesCowlist => prestore_bench_modes_cowlist,
        // Not C's; it has been entered above.
        Program::RecomputeKernels => return 3,
    };
    // SAFETY: a C main with arguments as C wants them: `count` strings and a null pointer. The workloads read the
    // strings only.
    unsafe { main(count, pointers) }
}

#[cfg(not(programs))]
fn enter(_: Program, _: c_int, _: *mut *mut c_char) -> c_int {
    3
}

/// Whether this build has the workloads.
pub(crate) const BUILT: bool = cfg!(programs);
