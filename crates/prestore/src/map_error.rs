//! Why memory of a type was not given.

use core::fmt;

/// Memory of a type was not given: what the system said, what that means and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapError {
    code: i32,
}

impl MapError {
    pub(crate) fn of(code: i32) -> MapError {
        MapError { code }
    }

    /// What the last system call said.
    pub(crate) fn last() -> MapError {
        let code = std::io::Error::last_os_error().raw_os_error();
        MapError::of(code.unwrap_or(libc::EIO))
    }

    /// The system's number, `ENOENT` say.
    pub fn code(&self) -> i32 {
        self.code
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(explain(self.code).trim_end_matches('\0'))
    }
}

impl std::error::Error for MapError {}

/// What happened, why and what to do, ending in NUL for C.
pub(crate) fn explain(code: i32) -> &'static str {
    match code {
        libc::ENOENT | libc::ENXIO | libc::ENODEV => {
            "there is no /dev/prestore: the kernel module prestore is not loaded; `modprobe prestore` loads it where it \
             is installed, docs/memory-types.md says how to install it\0"
        }
        libc::EACCES | libc::EPERM => {
            "/dev/prestore may not be opened: it is root's alone; run as root, or give it to a group by the udev rule of \
             docs/memory-types.md\0"
        }
        libc::EOPNOTSUPP => {
            "this machine cannot have memory of this type: its kernel runs without PAT (boot option nopat, or an old \
             CPU); WB and UC can be had\0"
        }
        libc::EINVAL => {
            "no such memory: its size is 0 or too large for an address, or the type is none of WB, WT, WC, UC\0"
        }
        libc::ENOSPC => {
            "the module prestore gives no more memory: its limit is reached; unmap some, or load it with a larger \
             max_mib\0"
        }
        libc::ENOMEM => {
            "the system has no memory left for it, which cannot be swapped: ask for less, or end other programs\0"
        }
        libc::ENOTTY | libc::EBADFD => {
            "/dev/prestore does not understand the request: it belongs to another version of the module; install that \
             of this library (docs/memory-types.md)\0"
        }
        libc::ENOSYS => "memory types can be had on x86-64 under Linux alone\0",
        libc::EINTR => "a signal ended the request: ask again\0",
        libc::EMFILE | libc::ENFILE => {
            "no file can be opened any more, and the request needs one: close some, or raise `ulimit -n`\0"
        }
        _ => "the system refused the memory; `dmesg` may say why\0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_sentence_that_c_can_read() {
        for code in -1..200 {
            let text = explain(code);
            assert_eq!(text.find('\0'), Some(text.len() - 1), "{code}");
        }
    }
}
