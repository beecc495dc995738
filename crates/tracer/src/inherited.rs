//! What this process was started with, which the program is to find as well: signals that are ignored, standard streams that are
//! closed, timers that run (`alarm`, then `exec`).

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rust's runtime ignores SIGPIPE, and with SIGCHLD ignored nobody could wait for the program: both are changed here.
static CHANGED: [(libc::c_int, AtomicBool); 2] = [
    (libc::SIGPIPE, AtomicBool::new(false)),
    (libc::SIGCHLD, AtomicBool::new(false)),
];

/// Standard streams that were closed: Rust's runtime opens `/dev/null` in their place.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

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
    for (stream, closed) in (0..).zip(&CLOSED) {
        // SAFETY: the call only reads.
        let is = unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1;
        closed.store(is, Ordering::Relaxed);
    }
}

/// Was this process started with standard output closed?
#[must_use]
pub fn stdout_is_closed() -> bool {
    CLOSED[1].load(Ordering::Relaxed)
}

/// Standard streams that were closed are so for programs that inherit them from now on: what the runtime has opened in their place is
/// not handed on.
pub fn close_again() {
    for (stream, closed) in (0..).zip(&CLOSED) {
        if closed.load(Ordering::Relaxed) {
            // SAFETY: changes nothing but the descriptor's flag.
            unsafe { libc::fcntl(stream, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
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

/// Timers that a new image has as the old one left them.
pub(crate) struct Timers([libc::itimerval; 3]);

const TIMERS: [libc::c_int; 3] = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];

/// Stops this process's timers, which are meant for the program. Of those that cannot be had none runs.
pub(crate) fn take_timers() -> Timers {
    // SAFETY: zeros are a timer that does not run.
    let mut timers: [libc::itimerval; 3] = unsafe { std::mem::zeroed() };
    for (which, timer) in TIMERS.into_iter().zip(&mut timers) {
        // SAFETY: as above; what ran is written to `timer`.
        unsafe { libc::setitimer(which, &std::mem::zeroed(), timer) };
    }
    Timers(timers)
}

impl Timers {
    /// In the new process, before the program: allocates nothing.
    pub(crate) fn run(&self) {
        for (which, timer) in TIMERS.into_iter().zip(&self.0) {
            // SAFETY: `timer` is one.
            unsafe { libc::setitimer(which, timer, std::ptr::null_mut()) };
        }
    }
}
