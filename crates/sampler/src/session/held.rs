use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread::JoinHandle;

/// A program that is created but has not executed yet: its process exists, so events can be opened
/// on it, and it waits at a pipe. No ptrace is involved.
///
/// Dropping it without [`HeldProgram::release`] ends the process before it executes anything.
pub struct HeldProgram {
    pid: i32,
    gate: PipeWriter,
    spawning: JoinHandle<io::Result<Child>>,
}

impl HeldProgram {
    /// Creates the process. Errors are those of pipes and of `fork`.
    pub fn create(mut command: Command) -> io::Result<Self> {
        let (gate_reader, gate) = io::pipe()?;
        let (mut pid_reader, pid_writer) = io::pipe()?;
        let (wait_on, tell, opener) = (
            gate_reader.as_raw_fd(),
            pid_writer.as_raw_fd(),
            gate.as_raw_fd(),
        );
        // SAFETY: the closure runs between fork and exec and makes only async-signal-safe calls on
        // descriptors that the child inherited.
        unsafe {
            command.pre_exec(move || announce_and_wait(tell, opener, wait_on));
        }
        // `spawn` returns only after exec, which waits for the gate, so it gets its own thread.
        let spawning = std::thread::Builder::new()
            .name("prestore-spawn".to_owned())
            .spawn(move || spawn(command, pid_writer, gate_reader))?;
        let mut pid = [0u8; 4];
        match pid_reader.read_exact(&mut pid) {
            Ok(()) => Ok(Self {
                pid: i32::from_ne_bytes(pid),
                gate,
                spawning,
            }),
            Err(silent) => {
                drop(gate);
                Err(join(spawning).err().unwrap_or(silent))
            }
        }
    }

    /// Its process number.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Lets it execute. Errors are those of `exec`: no such program, not executable, …
    pub fn release(mut self) -> io::Result<Child> {
        self.gate.write_all(&[1])?;
        join(self.spawning)
    }
}

fn spawn(mut command: Command, _tell: PipeWriter, _wait_on: PipeReader) -> io::Result<Child> {
    // The pipes' ends live until the child has its copies.
    command.spawn()
}

fn join(spawning: JoinHandle<io::Result<Child>>) -> io::Result<Child> {
    spawning
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the thread that starts the program died")))
}

fn announce_and_wait(tell: RawFd, opener: RawFd, wait_on: RawFd) -> io::Result<()> {
    let mut byte = 0u8;
    // SAFETY: plain system calls on valid descriptors and live buffers. The child closes its copy of
    // the gate's writing end first, so that the parent's death ends the waiting.
    let released = unsafe {
        libc::close(opener);
        let pid = libc::getpid().to_ne_bytes();
        libc::write(tell, pid.as_ptr().cast(), pid.len());
        libc::read(wait_on, (&raw mut byte).cast(), 1)
    };
    if released == 1 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::ECANCELED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_only_after_release() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("ran");
        let mut command = Command::new("touch");
        command.arg(&mark);
        let held = HeldProgram::create(command).unwrap();
        assert!(std::path::Path::new(&format!("/proc/{}", held.pid())).exists());
        assert!(!mark.exists());
        assert!(held.release().unwrap().wait().unwrap().success());
        assert!(mark.exists());
    }

    #[test]
    fn dropped_unreleased_it_never_runs() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("ran");
        let mut command = Command::new("touch");
        command.arg(&mark);
        let HeldProgram { gate, spawning, .. } = HeldProgram::create(command).unwrap();
        drop(gate);
        assert_eq!(
            join(spawning).unwrap_err().raw_os_error(),
            Some(libc::ECANCELED)
        );
        assert!(!mark.exists());
    }

    #[test]
    fn a_missing_program_is_told_at_release() {
        let held = HeldProgram::create(Command::new("/no/such/program")).unwrap();
        assert_eq!(held.release().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
