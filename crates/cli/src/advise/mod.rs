//! `prestore advise`: where writes hurt and what to do there.

mod counted;
mod live;
mod predicted;
mod print;
mod scope;
mod stored;
mod takers;

use std::process::ExitCode;

use prestore_dirtbuster::{ThresholdError, Thresholds};
use prestore_machine::nearest;
use prestore_report::quoted;
use prestore_trace::container::{TraceKind, read_manifest};

use crate::args::{AdviseArgs, ScopeArg};
use crate::config;
use crate::error::CliError;
pub use scope::chosen_code;
pub use stored::{analyse, nothing};
pub use takers::Advisor;

/// Analyses a program while it runs, or a recording.
pub fn run(args: &AdviseArgs) -> Result<ExitCode, CliError> {
    let thresholds = thresholds(&args.thresholds)?;
    if !args.machines.is_empty() && args.recording.is_none() {
        return predicted::run(args, thresholds);
    }
    if let Some(dir) = &args.recording {
        if dir.is_file() {
            return Err(CliError::Usage(format!(
                "{dir} is a file, not a recording; to run it: prestore advise -- {}",
                quoted(dir),
                dir = dir.display()
            )));
        }
        return match read_manifest(dir) {
            Ok(m) if m.kind == TraceKind::Samples && !args.machines.is_empty() => {
                Err(CliError::Usage(format!(
                    "{} holds samples, which cannot be simulated: leave out --machine, or record the program with \
                     `prestore record`",
                    dir.display()
                )))
            }
            Ok(m) if m.kind == TraceKind::Samples => stored::samples(args, dir),
            // Opening it says what is wrong, or reads what there is.
            _ => stored::events(args, dir, thresholds, true),
        };
    }
    match args.run.scope {
        Some(ScopeArg::Count) => counted::count(args),
        Some(ScopeArg::Sample) => counted::sample(args),
        Some(ScopeArg::Functions | ScopeArg::All) | None => live::run(args, thresholds),
    }
}

/// The default thresholds with those of the configuration file and `settings` applied.
pub fn thresholds(settings: &[String]) -> Result<Thresholds, CliError> {
    let all: Vec<String> = config::settings().iter().chain(settings).cloned().collect();
    set_thresholds(&all, "--threshold ")
}

/// The default thresholds with `settings` applied, which stand behind `said`.
pub fn set_thresholds(settings: &[String], said: &str) -> Result<Thresholds, CliError> {
    let mut thresholds = Thresholds::default();
    for setting in settings {
        let parsed = setting
            .split_once('=')
            .and_then(|(name, value)| Some((name, value.parse().ok()?)));
        let Some((name, value)) = parsed else {
            return Err(CliError::Usage(format!(
                "{said}{setting}: give NAME=VALUE, as in min_store_share=0.02; \
                 `prestore advise --help` lists the names"
            )));
        };
        thresholds.set(name, value).map_err(|error| match error {
            ThresholdError::Unknown(name) => CliError::Usage(unknown(&name)),
            error => error.into(),
        })?;
    }
    Ok(thresholds)
}

fn unknown(name: &str) -> String {
    let known = Thresholds::default().list();
    let help = match nearest(name, known.iter().map(|t| t.name)) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`prestore advise --help` lists them".into(),
    };
    format!("there is no threshold `{name}`; {help}")
}

/// The thresholds with their defaults and reasons, for `--help`.
pub fn thresholds_help() -> String {
    let mut help =
        String::from("Thresholds (distances in instructions, sizes in bytes, shares 0 to 1):\n");
    for t in Thresholds::default().list() {
        help += &format!("  {} = {}\n      {}\n", t.name, t.value, t.doc);
    }
    help
}
