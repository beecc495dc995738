//! What this process was started with ignoring, which the program is to find ignored as well.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rust's runtime ignores SIGPIPE, and with SIGCHLD ignored nobody could wait for the program: both are changed here.
static CHANGED: [(libc::c_int, AtomicBool); 2] = [
    (libc::SIGPIPE, AtomicBool::new(false)),
    (libc::SIGCHLD, AtomicBool::new(false)),
];

/// Called before the runtime begins.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
static REMEMBER: extern "C" fn() = remember;

extern "C" fn remember() {
    for (signal, ignored) in &CHANGED {
        // SAFETY: an action of zeros is one, and the call with none to set only reads.
        let is = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(*signal, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
        };
        ignored.store(is, Ordering::Relaxed);
    }
}

fn act(signal: libc::c_int, action: libc::sighandler_t) -> io::Result<()> {
    // SAFETY: what is set is no function.
    if unsafe { libc::signal(signal, action) } == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// So that this process can wait for the program.
pub(crate) fn hear_of_children() -> io::Result<()> {
    act(libc::SIGCHLD, libc::SIG_DFL)
}

/// In the new process, before the program: allocates nothing.
pub(crate) fn restore() -> io::Result<()> {
    for (signal, ignored) in &CHANGED {
        if ignored.load(Ordering::Relaxed) {
            act(*signal, libc::SIG_IGN)?;
        }
    }
    Ok(())
}
