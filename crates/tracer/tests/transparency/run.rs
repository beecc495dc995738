//! Runs a program in a folder of its own and keeps all that it did there.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::list::Program;
use crate::common::{Facts, Running};

/// Seconds after which a program hangs. Recorded, the slowest take a hundred times what they do
/// natively; the machine may be busy.
const LIMIT: u64 = 400;

/// What a program did.
#[derive(Debug, PartialEq, Eq)]
pub struct Deeds {
    pub status: String,
    pub stdout: String,
    pub stderr: String,
    /// The files that it left, or changed, and what is in them.
    pub files: BTreeMap<String, Vec<u8>>,
}

/// What is said of a program that differs, and of one that does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same,
    Differs(String),
    /// Nothing can be said.
    Unfit(String),
}

fn files_of(dir: &Path, prefix: &str, into: &mut BTreeMap<String, Vec<u8>>) {
    let Ok(entries) = fs::read_dir(dir) else {
        return;
    };
    for entry in entries.flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() {
            files_of(&entry.path(), &format!("{name}/"), into);
        } else if kind.is_file() {
            into.insert(name, fs::read(entry.path()).unwrap_or_default());
        }
    }
}

/// Empties `dir` and runs the program's setup there.
fn prepare(program: &Program, dir: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(dir);
    fs::create_dir(dir).map_err(|e| e.to_string())?;
    let setup = program.setup.as_deref().unwrap_or("");
    let done = environment(Command::new("sh").args(["-e", "-c", setup]), dir).output();
    let done = done.map_err(|e| e.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!(
        "its setup fails: {}",
        String::from_utf8_lossy(&done.stderr)
    ))
}

/// The same for both runs, and nothing of the user's but where the recorder keeps the engine.
fn environment<'a>(command: &'a mut Command, dir: &Path) -> &'a mut Command {
    command
        .current_dir(dir)
        .env("HOME", dir.with_file_name("home"))
        .env("XDG_CACHE_HOME", cache())
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .env("SOURCE_DATE_EPOCH", "1")
}

fn cache() -> std::path::PathBuf {
    let home = std::env::var_os("HOME").unwrap_or_default();
    std::env::var_os("XDG_CACHE_HOME").map_or(Path::new(&home).join(".cache"), Into::into)
}

/// Runs `command` in `dir`, which holds what the setup has made.
fn deeds(command: &[&str], dir: &Path) -> Deeds {
    let mut timed = Command::new("timeout");
    timed.args(["-s", "KILL", &LIMIT.to_string()]).args(command);
    let limit = Duration::from_secs(LIMIT + 10);
    let said = Running::start(environment(&mut timed, dir)).finish_within(limit);
    let mut files = BTreeMap::new();
    files_of(dir, "", &mut files);
    Deeds {
        status: said.status.to_string(),
        stdout: said.stdout,
        stderr: said.stderr,
        files,
    }
}

/// Natively; twice if `sure` that it does the same each time.
pub fn verdict(program: &Program, sure: bool, options: &[&str]) -> Verdict {
    let base = crate::common::scratch();
    let (dir, facts) = (base.path().join("work"), base.path().join("facts"));
    let shell = ["sh", "-c", &program.command];
    let mut native = None;
    for _ in 0..if sure { 2 } else { 1 } {
        if let Err(why) = prepare(program, &dir) {
            return Verdict::Unfit(why);
        }
        let now = deeds(&shell, &dir);
        if native.as_ref().is_some_and(|before| *before != now) {
            return Verdict::Unfit("does not do the same natively each time".into());
        }
        native = Some(now);
    }
    let Some(native) = native else {
        return Verdict::Unfit("was not run".into());
    };
    if native.status.contains("SIGKILL") {
        return Verdict::Unfit("takes too long natively".into());
    }
    if let Err(why) = prepare(program, &dir) {
        return Verdict::Unfit(why);
    }
    let recorder = env!("CARGO_BIN_EXE_record-summary");
    let facts_path = crate::common::str(&facts);
    let command = [&[recorder, facts_path], options, &["--"], &shell].concat();
    let mut recorded = deeds(&command, &dir);
    if recorded.status.contains("SIGKILL") {
        return Verdict::Differs(format!("has not ended after {LIMIT} seconds"));
    }
    let facts = Facts::parse(&fs::read_to_string(&facts).unwrap_or_default());
    if let Some(error) = facts.error.or(facts.failure) {
        return Verdict::Differs(format!("recording failed: {error}"));
    }
    recorded.status = facts.status;
    difference(&native, &recorded)
}

/// The first line that differs.
fn line(of: &str, from: &str) -> String {
    let found = of
        .lines()
        .zip(from.lines().map(Some).chain(std::iter::repeat(None)));
    let differing = found.filter(|(a, b)| Some(*a) != *b).map(|(a, _)| a).next();
    differing
        .unwrap_or("(nothing more)")
        .chars()
        .take(200)
        .collect()
}

fn difference(native: &Deeds, recorded: &Deeds) -> Verdict {
    let mut what = vec![];
    if native.status != recorded.status {
        what.push(format!(
            "ends with {} instead of {}",
            recorded.status, native.status
        ));
    }
    for (name, a, b) in [
        ("output", &native.stdout, &recorded.stdout),
        ("error output", &native.stderr, &recorded.stderr),
    ] {
        if a != b {
            what.push(format!(
                "{name}: `{}` instead of `{}`",
                line(b, a),
                line(a, b)
            ));
        }
    }
    let names = native.files.keys().chain(recorded.files.keys());
    let differ = |n: &&String| native.files.get(*n) != recorded.files.get(*n);
    let mut files: Vec<&str> = names.filter(differ).map(String::as_str).collect();
    files.sort_unstable();
    files.dedup();
    if !files.is_empty() {
        what.push(format!("files: {}", files.join(", ")));
    }
    if what.is_empty() {
        Verdict::Same
    } else {
        Verdict::Differs(what.join("; "))
    }
}
