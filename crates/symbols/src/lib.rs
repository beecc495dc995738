//! Code addresses of a recorded program to functions, files, lines and inlined frames.
//!
//! The traced program's own files are read, long after it ran and perhaps rebuilt since. Design
//! constraints:
//! - **no wrong name**: a file whose build id differs from the recorded one is not used, and a
//!   function is named only where its `[start, start + size)` covers the address; what cannot be
//!   named is given as module and offset, and a [`Note`] says why and what would help;
//! - **no panic on any file**: a malformed one is a note or an error;
//! - **no network**: separate debug files are looked for by build id and by debug link under
//!   `/usr/lib/debug`, in directories the caller gives, and in debuginfod's local cache;
//! - **pay for what is asked**: a module's symbol table is read at the first
//!   [`Symbols::function`], its DWARF at the first [`Symbols::locate`], each address once.
//!
//! Addresses are *stated virtual memory addresses*: as the module's own symbol table has them
//! (run-time address minus load bias), which is also what `addr2line -e MODULE` takes.
//!
//! ```no_run
//! use prestore_symbols::{ModuleRef, Options, Symbols};
//!
//! let mut symbols = Symbols::new(Options::default());
//! let module = ModuleRef { path: "/usr/bin/sqlite3", build_id: "" };
//! println!("{}", symbols.locate(&module, 0x1_2340));
//! for note in symbols.notes() {
//!     eprintln!("{note}");
//! }
//! ```

mod debug;
mod demangle;
mod elf;
mod inspect;
mod location;
mod module;
mod note;
mod options;
mod perf_map;
mod symbols;

pub use demangle::demangle;
pub use elf::{Class, FileError, Machine, build_id};
pub use inspect::{ElfProgram, Executable, InspectError, Script, inspect};
pub use location::{Frame, FunctionName, Location, ModuleRef};
pub use note::{Note, Remark};
pub use options::Options;
pub use symbols::Symbols;
