//! What the tests of the command share: running it under a time limit, and reading what it prints.
#![allow(dead_code, unused_imports)]

mod findings;
mod programs;
mod schema;

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;

pub use findings::{advice, finding, finding_at, findings};
pub use programs::{
    c_program, compile, defective, kv, level, no_clwb, no_pmemobj, recorded, source_line,
    steady_program, workload,
};
pub use schema::assert_valid;

/// No test program runs nearly as long; a hang must end as a failure with its output.
pub const LIMIT: Duration = Duration::from_secs(300);

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Ran {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The exit code; a command that died of a signal has none.
    #[track_caller]
    pub fn code(&self) -> i32 {
        match self.status.code() {
            Some(code) => code,
            None => panic!("killed by signal {:?}: {self:?}", self.status.signal()),
        }
    }

    /// Stdout as JSON: all of it, so that anything else printed there shows.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:#?}"))
    }

    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code(), code, "{self:#?}");
        self
    }

    /// Stderr has all of `parts`.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "'{part}' is missing: {self:#?}");
        }
        self
    }
}

/// A command that runs, in a process group of its own.
pub struct Running {
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

impl Running {
    pub fn start(command: Command) -> Self {
        let mut command = interruptible(&command);
        let mut child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{command:?}: {e}"));
        let stdout = collect(child.stdout.take().unwrap());
        let stderr = collect(child.stderr.take().unwrap());
        Self {
            child,
            stdout,
            stderr,
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal to the command and all it started, as a terminal does.
    pub fn signal_group(&self, signal: &str) {
        signal_to(&format!("-{}", self.pid()), signal);
    }

    /// Waits for the end; a command that takes too long is killed with all it started.
    pub fn finish(self) -> Ran {
        self.finish_within(LIMIT)
    }

    /// The same of a command that may take so long.
    pub fn finish_within(mut self, limit: Duration) -> Ran {
        let deadline = Instant::now() + limit;
        let mut late = false;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                late = true;
                self.signal_group("KILL");
                break self.child.wait().unwrap();
            }
            thread::sleep(Duration::from_millis(10));
        };
        let ran = Ran {
            status,
            stdout: self.stdout.join().unwrap(),
            stderr: self.stderr.join().unwrap(),
        };
        assert!(!late, "still running after {limit:?}: {ran:#?}");
        ran
    }
}

fn collect(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Sends a signal; `to` is a pid, or a process group with a minus before it.
pub fn signal_to(to: &str, signal: &str) {
    let status = Command::new("kill")
        .args([&format!("-{signal}"), "--", to])
        .status();
    assert!(status.unwrap().success(), "kill -{signal} {to}");
}

/// The command under test, with its own engine folder untouched by the user's environment.
pub fn prestore() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_prestore"));
    command.env("NO_COLOR", "1");
    // Not as whoever runs the tests has set it up.
    let none = concat!(env!("CARGO_TARGET_TMPDIR"), "/no-config");
    command.env("XDG_CONFIG_HOME", none);
    command
}

/// The same command, with the terminal's interrupt and hang-up as they are by default: whoever runs the tests in the
/// background may have them ignored, in all that they start.
fn interruptible(command: &Command) -> Command {
    let mut with_default = Command::new("env");
    with_default
        .arg("--default-signal=INT,HUP")
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => with_default.env(name, value),
            None => with_default.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        with_default.current_dir(folder);
    }
    with_default
}

/// Runs `prestore` with these arguments.
pub fn run<I, A>(args: I) -> Ran
where
    I: IntoIterator<Item = A>,
    A: AsRef<OsStr>,
{
    let mut command = prestore();
    command.args(args);
    Running::start(command).finish()
}

/// `prestore advise --format json OPTIONS -- PROGRAM ARGS`, which must succeed.
#[track_caller]
pub fn advise_with(options: &[&str], program: &Path, args: &[&str]) -> Value {
    let mut command = prestore();
    command.args(["advise", "--format", "json"]).args(options);
    command.arg("--").arg(program).args(args);
    Running::start(command).finish().exits(0).json()
}

/// `prestore advise --format json -- PROGRAM ARGS`, which must succeed.
#[track_caller]
pub fn advise(program: &Path, args: &[&str]) -> Value {
    advise_with(&[], program, args)
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `path` for a command line.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
