//! Runs programs, natively and recorded, and reads what the recorder says.
// Each test binary uses a part of it.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::panic)]

mod build;
mod facts;

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

pub use build::*;
pub use facts::{Coverage, Facts};

/// A program that has not ended after this long hangs. With the engine's assertions each process
/// takes seconds, so that a shell's script is no hang for long.
fn limit() -> Duration {
    let asserted = std::env::var("PRESTORE_ENGINE_FLAVOUR").is_ok_and(|f| f == "debug");
    Duration::from_secs(if asserted { 600 } else { 100 })
}

/// What a finished command said.
#[derive(Debug)]
pub struct Said {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A command that runs in a process group of its own, with its output going to files.
pub struct Running {
    child: Child,
    dir: tempfile::TempDir,
    started: Instant,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| File::create(dir.path().join(name)).unwrap();
        // SAFETY: signal(2) may be called between fork and execve.
        unsafe {
            // What a shell starts with `&` ignores it, the tests among it; the recorder listens to it, natively nobody does.
            command.pre_exec(|| match libc::signal(libc::SIGINT, libc::SIG_DFL) {
                libc::SIG_ERR => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(file("stdout"))
            .stderr(file("stderr"))
            .process_group(0)
            .spawn()
            .unwrap();
        Self {
            child,
            dir,
            started: Instant::now(),
        }
    }

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The first process that it has started.
    pub fn child(&self) -> i32 {
        let path = format!("/proc/{0}/task/{0}/children", self.pid());
        let children = std::fs::read_to_string(path).unwrap();
        children.split_whitespace().next().unwrap().parse().unwrap()
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        text(&self.dir.path().join("stdout"))
    }

    pub fn stderr(&self) -> String {
        text(&self.dir.path().join("stderr"))
    }

    /// Waits until `ready`, at most as long as a program may run.
    pub fn wait_until(&self, what: &str, mut ready: impl FnMut(&Self) -> bool) {
        while !ready(self) {
            if self.started.elapsed() > limit() {
                self.kill_group();
                panic!("never {what}:\n{}\n{}", self.stdout(), self.stderr());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn signal_child(&self, signal: i32) {
        // SAFETY: a plain system call; the process is one that the test started.
        unsafe {
            libc::kill(self.child(), signal);
        }
    }

    pub fn signal_group(&self, signal: i32) {
        // SAFETY: a plain system call; the group is the one that `start` made.
        unsafe {
            libc::kill(-self.pid(), signal);
        }
    }

    fn kill_group(&self) {
        self.signal_group(libc::SIGKILL);
    }

    pub fn finish(self) -> Said {
        self.finish_within(limit())
    }

    /// For programs that may take longer than most.
    pub fn finish_within(mut self, limit: Duration) -> Said {
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if self.started.elapsed() > limit {
                self.kill_group();
                panic!("it hangs:\n{}\n{}", self.stdout(), self.stderr());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        Said {
            status,
            stdout: self.stdout(),
            stderr: self.stderr(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Whatever a failed test leaves behind; nothing where all went well.
        if self.child.try_wait().ok().flatten().is_none() {
            self.kill_group();
        }
    }
}

fn text(path: &Path) -> String {
    let mut bytes = Vec::new();
    File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A recording to be made.
pub struct Recorder {
    pub command: Command,
    facts: tempfile::TempPath,
}

/// Prepares to record `program` with `args`; `options` are the recorder's.
pub fn recorder<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> Recorder {
    let facts = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_record-summary"));
    recorder.arg(&facts).args(options).arg("--").args(command);
    Recorder {
        command: recorder,
        facts,
    }
}

impl Recorder {
    pub fn start(&mut self) -> Running {
        Running::start(&mut self.command)
    }

    pub fn facts(&self) -> Facts {
        Facts::parse(&text(&self.facts))
    }

    /// Runs it to its end.
    pub fn run(mut self) -> (Said, Facts) {
        let said = self.start().finish();
        let facts = self.facts();
        (said, facts)
    }
}

/// Runs `command` natively to its end.
pub fn native<S: AsRef<OsStr>>(command: &[S]) -> Said {
    Running::start(Command::new(&command[0]).args(&command[1..])).finish()
}

/// Runs `command` natively and recorded: both must end alike and print the same. It stores something.
pub fn same<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> Facts {
    let facts = same_but_for_stores(options, command);
    assert!(facts.stores() > 0, "{options:?} {facts:#?}");
    facts
}

/// As [`same`], where all that is recorded may be a loop that stores nothing.
pub fn same_but_for_stores<S: AsRef<OsStr>>(options: &[&str], command: &[S]) -> Facts {
    let native = native(command);
    let (said, facts) = recorder(options, command).run();
    let context = format!("native: {native:#?}\nrecorded: {said:#?}\n{facts:#?}");
    assert_eq!(facts.error, None, "{context}");
    assert_eq!(facts.status, native.status.to_string(), "{context}");
    assert_eq!(said.stdout, native.stdout, "{context}");
    assert_eq!(said.stderr, native.stderr, "{context}");
    assert_eq!(facts.failure, None, "{context}");
    assert!(facts.instrs() > 0, "{context}");
    facts
}

/// What the variable `name` asks of a soak.
pub fn soak_number(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.map_or(otherwise, |n| n.parse().unwrap())
}

/// A folder for a test's files.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A path as text: the tests' own folders have such names.
pub fn str(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Where compiled test programs go.
pub fn out_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
