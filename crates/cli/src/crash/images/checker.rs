//! The command that says whether an image can be recovered from.

use std::fmt;
use std::io::{self, PipeReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::interrupt::Group;

/// Where the image's file goes in the command.
const IMAGE: &str = "{image}";
/// Bytes of what the command said that are shown.
const SHOWN: usize = 2000;
/// Lines of it.
const LINES: usize = 20;
/// Bytes that are read at once: what a pipe holds.
const READ: usize = 1 << 16;

/// How a check ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// By itself.
    Exit(i32),
    /// By a signal.
    Signal(i32),
    /// It was killed after so many seconds.
    Timeout(f64),
}

impl Ended {
    pub fn is_good(&self) -> bool {
        *self == Self::Exit(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit code {code}"),
            Self::Signal(number) => write!(f, "crashed by signal {number}"),
            Self::Timeout(seconds) => write!(f, "no answer in {seconds} s, killed"),
        }
    }
}

/// A command with a place for an image.
#[derive(Clone, Debug)]
pub struct Checker {
    words: Vec<String>,
    timeout: Duration,
}

impl Checker {
    /// Plain words are executed as they are, all else by a shell.
    pub fn new(text: &str, timeout: f64) -> Result<Self, CliError> {
        if !text.contains(IMAGE) {
            return Err(CliError::Usage(format!(
                "--check '{text}': the command has to say where the image goes: write {IMAGE} there"
            )));
        }
        let plain = |c: char| c.is_alphanumeric() || " /._-+:,=@%^".contains(c);
        let words = match text.replace(IMAGE, "").chars().all(plain) {
            true => text.split_whitespace().map(str::to_owned).collect(),
            false => vec!["/bin/sh".into(), "-c".into(), text.to_owned()],
        };
        Ok(Self {
            words,
            timeout: Duration::from_secs_f64(timeout),
        })
    }

    /// Checks `image`; `said` gets the end of what the command prints. Fails where it cannot be started.
    pub fn run(&self, image: &Path, said: &mut Said) -> Result<Ended, CliError> {
        let failed = |e: io::Error| CliError::Failed(format!("a check cannot be run: {e}"));
        let path = image.to_str().unwrap_or_default();
        let mut words = self.words.iter().map(|w| w.replace(IMAGE, path));
        let program = words.next().unwrap_or_default();
        let (reader, writer) = io::pipe().map_err(failed)?;
        let child = Command::new(&program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(writer.try_clone().map_err(failed)?)
            .stderr(writer)
            .process_group(0)
            .spawn()
            .map_err(|e| not_started(&program, &e))?;
        *said = Said::default();
        let ended = wait(child, self.timeout, reader, said).map_err(failed)?;
        // What a shell says of a command that it cannot start.
        match (self.words[0].as_str(), &ended) {
            ("/bin/sh", Ended::Exit(126 | 127)) => Err(CliError::Usage(format!(
                "--check: the shell cannot start the checker: {}",
                said.last_words()
            ))),
            _ => Ok(ended),
        }
    }
}

fn not_started(program: &str, error: &io::Error) -> CliError {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "there is no such program (relative paths are from here)".into(),
        io::ErrorKind::PermissionDenied => "it is not executable (chmod +x)".into(),
        _ => error.to_string(),
    };
    CliError::Usage(format!(
        "--check: the checker '{program}' cannot be started: {why}"
    ))
}

fn wait(
    mut child: Child,
    timeout: Duration,
    reader: PipeReader,
    said: &mut Said,
) -> io::Result<Ended> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("a process without a number"))?;
    let group = Group::new(pid);
    let watched = pidfd_open(pid, PidfdFlags::empty())?;
    let deadline = Instant::now() + timeout;
    let mut reader = Some(reader);
    let late = loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut all = vec![PollFd::new(&watched, PollFlags::IN)];
        all.extend(reader.iter().map(|r| PollFd::new(r, PollFlags::IN)));
        let ready = match poll(&mut all, Some(&left)) {
            Ok(0) => break true,
            Ok(_) => all.iter().map(|fd| !fd.revents().is_empty()).collect(),
            Err(rustix::io::Errno::INTR) => Vec::new(),
            Err(e) => return Err(e.into()),
        };
        // Whoever prints all the time is still late.
        match ready[..] {
            [true, ..] => break false,
            _ if Instant::now() >= deadline => break true,
            [_, true] if !said.read(reader.as_mut())? => reader = None,
            _ => {}
        }
    };
    // Before it is waited for, so that the number is nobody else's: with all it has left behind.
    let _ = kill_process_group(pid, Signal::KILL);
    drop(group);
    let status = child.wait()?;
    // What the pipe still holds; somebody who left the group may write on.
    if let Some(reader) = &mut reader
        && poll(&mut [PollFd::new(&*reader, PollFlags::IN)], Some(&NOW))? > 0
    {
        said.read(Some(reader))?;
    }
    Ok(match (late, status.code()) {
        (true, _) => Ended::Timeout(timeout.as_secs_f64()),
        (_, Some(code)) => Ended::Exit(code),
        (_, None) => Ended::Signal(status.signal().unwrap_or(0)),
    })
}

/// Do not wait.
const NOW: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// The end of what a command has printed: it may print without end.
#[derive(Default)]
pub struct Said(Vec<u8>);

impl Said {
    /// Takes what is in the pipe; is anybody there to write more?
    fn read(&mut self, pipe: Option<&mut PipeReader>) -> io::Result<bool> {
        let mut bytes = vec![0; READ];
        let read = match pipe {
            Some(pipe) => pipe.read(&mut bytes)?,
            None => 0,
        };
        self.0.extend(&bytes[..read]);
        self.0.drain(..self.0.len().saturating_sub(SHOWN));
        Ok(read > 0)
    }

    /// As text.
    pub fn last_words(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<&str> = text.trim().lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}
