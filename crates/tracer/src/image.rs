//! What is executed, with its environment in the order in which it was given.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

unsafe extern "C" {
    static environ: *const *const libc::c_char;
}

/// An ELF file with arguments and environment. The standard library's `Command` sorts the variables and leaves out what does
/// not look like one, which the program could see.
pub(crate) struct Image {
    path: CString,
    arguments: Strings,
    environment: Strings,
}

impl Image {
    /// The file at `path`, with arguments from `argv[0]` on, and this process's environment with `more` behind it.
    pub(crate) fn new(path: &Path, arguments: &[OsString], more: &[(&str, &OsStr)]) -> Self {
        let more = more.iter().map(|&(name, value)| {
            let prefix = [name.as_bytes(), b"="].concat();
            (
                prefix.clone(),
                text(&[&prefix[..], value.as_bytes()].concat()),
            )
        });
        let (prefixes, more): (Vec<_>, Vec<_>) = more.unzip();
        let mut environment = own_environment();
        environment.retain(|is| !prefixes.iter().any(|p| is.as_bytes().starts_with(p)));
        environment.extend(more);
        let arguments = arguments.iter().map(|a| text(a.as_bytes())).collect();
        Self {
            path: text(path.as_os_str().as_bytes()),
            arguments: Strings::new(arguments),
            environment: Strings::new(environment),
        }
    }

    /// Executes it in the place of this process; allocates nothing.
    ///
    /// # Errors
    /// The kernel's, with which it comes back.
    pub(crate) fn execute(&self) -> io::Result<()> {
        let (arguments, environment) = (&self.arguments.pointers, &self.environment.pointers);
        // SAFETY: the strings end with a zero and the lists with a null pointer, and all of them live.
        unsafe { libc::execve(self.path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
        Err(io::Error::last_os_error())
    }
}

/// Strings, and a list of pointers to them that ends with a null pointer.
struct Strings {
    _strings: Vec<CString>,
    pointers: Vec<*const libc::c_char>,
}

// SAFETY: the pointers are to the strings beside them, which nobody changes.
unsafe impl Send for Strings {}
// SAFETY: the same.
unsafe impl Sync for Strings {}

impl Strings {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings.iter().map(|s| s.as_ptr()).chain([ptr::null()]);
        Self {
            pointers: pointers.collect(),
            _strings: strings,
        }
    }
}

/// As the kernel takes it: what comes behind a zero is not given.
fn text(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}

fn own_environment() -> Vec<CString> {
    let mut all = Vec::new();
    // SAFETY: the list ends with a null pointer, and nothing changes the environment of this process while a program is started.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            all.push(CStr::from_ptr(*next).to_owned());
            next = next.add(1);
        }
    }
    all
}
