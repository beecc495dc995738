//! What the user is to know of a process that could not be recorded as asked.

use std::fmt;

/// A process's note, as the client in it left it (`enum note_kind` of `client/wire.h`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub(crate) kind: u32,
    pub(crate) pid: u32,
    /// The file that it executes, or the reason.
    pub(crate) text: String,
}

impl Note {
    /// Is it the same, of whichever process?
    pub fn says_the_same(&self, other: &Self) -> bool {
        (self.kind, &self.text) == (other.kind, &other.text)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, pid, text } = self;
        let why = match kind {
            1 => "has privileges of its own, which an engine must not get",
            2 => "is held by a debugger",
            3 => "brings an engine of its own",
            4 => "cannot reach the recorder's files as that user or in that root directory",
            5 => "is not x86-64 code",
            6 => "is under a seccomp filter",
            7 => return write!(f, "process {pid} went on unrecorded: {text}"),
            8 => "controls processes as a debugger does, and would find the engine in them",
            9 => "may be executed but not read",
            10 => "has no path",
            11 => {
                return write!(
                    f,
                    "process {pid} let its parent control it (PTRACE_TRACEME), which has seen the \
                     recorder's code, calls and signals there beside the program's: let it execute a \
                     program, which then runs natively, or run it without prestore"
                );
            }
            _ => "cannot be followed",
        };
        write!(
            f,
            "{text} ran natively, unrecorded (process {pid}): it {why}"
        )
    }
}
