//! Which source files belong to the compiler and its libraries and not to the program.

use crate::golang::is_go_path;

/// Folders that a distribution or toolchain owns.
const SYSTEM_ROOTS: [&str; 6] = [
    "/usr/include/",
    "/usr/local/include/c++/",
    "/usr/lib/gcc/",
    "/usr/lib/llvm",
    // Rust's standard library as its prebuilt debug information names it.
    "/rustc/",
    "/usr/src/debug/",
];

/// Parts of paths that give a library's header away wherever it is installed.
const SYSTEM_PARTS: [&str; 10] = [
    "/bits/stl_",
    "/bits/string_fortified.h",
    "/bits/new_allocator.h",
    "/include/c++/",
    "/lib/gcc/",
    "/lib/clang/",
    "/lib/rustlib/src/",
    "/sysdeps/",
    // This project's own headers, whose functions are inlined where a program calls them.
    "/include/prestore.h",
    "/include/prestore_",
];

/// Parts of paths of what a program uses and its author did not write: packages as build tools fetch them, and folders that
/// projects keep copies in.
const DEPENDENCY_PARTS: [&str; 11] = [
    "/.cargo/registry/",
    "/.cargo/git/",
    "/_deps/",
    "/third_party/",
    "/third-party/",
    "/vendor/",
    "/external/",
    "/vcpkg_installed/",
    "/.conan/",
    "/.conan2/",
    // Wherever it lies, it is hardly ever a part of the program.
    "/Eigen/src/",
];

const HEADERS: [&str; 7] = [".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tcc"];

/// Libraries whose writes are their callers': nobody puts a pre-store into them. The kernel's own, which tells the time, among them.
const GENERIC_LIBRARIES: [&str; 13] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "libm.so",
    "libpthread",
    "libstdc++",
    "libgcc_s",
    "libgomp",
    "libgfortran",
    "libpmem.so",
    "libpmem2.so",
    "libprestore.so",
    "[vdso]",
];

/// Folders of the libraries that a distribution comes with.
const SYSTEM_LIBRARIES: [&str; 3] = ["/usr/lib", "/lib/", "/lib64/"];

/// True for the paths of libraries that came with the system, which a user does not build.
pub fn is_system_library(module: &str) -> bool {
    SYSTEM_LIBRARIES.iter().any(|root| module.starts_with(root))
}

/// True for the paths of modules that write what their callers mean: the C library and its like.
pub fn is_generic_library(module: &str) -> bool {
    let file = module.rsplit('/').next().unwrap_or(module);
    GENERIC_LIBRARIES.iter().any(|l| file.starts_with(l))
}

/// True for code of a library that is meant to be compiled into its users' functions: a header, or a file of a Rust package.
pub(crate) fn is_dependency_header(path: &str) -> bool {
    let is_header = HEADERS.iter().any(|end| path.ends_with(end)) || path.ends_with(".rs");
    is_header && DEPENDENCY_PARTS.iter().any(|part| path.contains(part))
}

/// True for headers and sources of the toolchain and the C and C++ libraries: places a user cannot
/// change. Folders that only look similar (a project's own `include/`) are not.
///
/// ```
/// use prestore_report::is_system_path;
/// assert!(is_system_path("/usr/include/c++/12/bits/stl_algobase.h"));
/// assert!(!is_system_path("/home/me/kv/include/kv.h"));
/// ```
pub fn is_system_path(path: &str) -> bool {
    SYSTEM_ROOTS.iter().any(|root| path.starts_with(root))
        || SYSTEM_PARTS.iter().any(|part| path.contains(part))
        || is_go_path(path)
}
