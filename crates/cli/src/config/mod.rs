//! The configuration file `prestore.toml`: what a project's users would otherwise repeat on each command line.

mod file;

use std::path::PathBuf;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use prestore_machine::Machines;

use crate::advise;
use crate::error::CliError;
use crate::host::{self, HOST};
use file::File;
pub use file::VARIABLE;

static CURRENT: OnceLock<Config> = OnceLock::new();

/// What holds where the command line says nothing else.
#[derive(Debug, Default)]
pub struct Config {
    /// Where it stands; `None`: nowhere.
    path: Option<PathBuf>,
    file: File,
}

impl Config {
    /// As the environment and the folder one is in say: from now on it holds.
    pub fn load() -> Result<&'static Self, CliError> {
        let config = Self::read()?;
        Ok(CURRENT.get_or_init(|| config))
    }

    fn read() -> Result<Self, CliError> {
        let named = std::env::var_os(VARIABLE).map(PathBuf::from);
        let users = Machines::user_folder();
        let users = users.and_then(|dir| Some(dir.parent()?.to_owned()));
        let here = std::env::current_dir().ok();
        let Some(path) = file::find(named, here.as_deref(), users) else {
            return Ok(Self::default());
        };
        let file = File::read(&path)?;
        let checked = advise::set_thresholds(&file.settings(), "");
        checked.map_err(|e| CliError::Usage(format!("{}: {e}", path.display())))?;
        Ok(Self {
            path: Some(path),
            file,
        })
    }

    /// The command line, with the machines as defaults where one has to be named; where there are none, with this host, if it was
    /// calibrated.
    pub fn defaults(&'static self, command: Command) -> Command {
        let here = || host::calibrated().map(|_| HOST);
        let here = if self.file.machines.is_empty() {
            here()
        } else {
            None
        };
        let machines = || self.file.machines.iter().map(String::as_str).chain(here);
        let Some(first) = machines().next() else {
            return command;
        };
        command
            .mut_subcommand("simulate", |c| {
                c.mut_arg("machine", |a| a.required(false).default_value(first))
            })
            .mut_subcommand("whatif", |c| {
                c.mut_arg("machines", |a| a.required(false).default_values(machines()))
            })
    }

    /// How many of its machines, from the first on, hold for this command line.
    fn machines_taken(&self, asked: &ArgMatches) -> usize {
        let (argument, most) = match asked.subcommand_name() {
            Some("simulate") => ("machine", 1),
            Some("whatif") => ("machines", usize::MAX),
            _ => return 0,
        };
        let source = (asked.subcommand()).and_then(|(_, verb)| verb.value_source(argument));
        match source {
            Some(ValueSource::DefaultValue) => self.file.machines.len().min(most),
            _ => 0,
        }
    }

    /// What of it holds for this command line, for the user.
    pub fn describe(&self, asked: &ArgMatches) -> Option<String> {
        let File {
            thresholds,
            machines,
            debug_dirs,
        } = &self.file;
        let several = |n: usize, of: &str| match n {
            0 => None,
            1 => Some(format!("1 {of}")),
            n => Some(format!("{n} {of}s")),
        };
        let taken = self.machines_taken(asked);
        let parts = [
            several(thresholds.len(), "threshold"),
            match taken > 0 && taken < machines.len() {
                true => Some(format!("the first of {} machines", machines.len())),
                false => several(taken, "machine"),
            },
            several(debug_dirs.len(), "debug folder"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let path = self.path.as_ref().map(|p| p.display());
        let text = path.map(|path| format!("{} from {path}", parts.join(", ")));
        text.filter(|_| !parts.is_empty())
    }
}

/// Thresholds as the command line would set them.
pub fn settings() -> Vec<String> {
    CURRENT.get().map(|c| c.file.settings()).unwrap_or_default()
}

/// Folders with separate debug files.
pub fn debug_dirs() -> &'static [PathBuf] {
    CURRENT.get().map_or(&[], |c| &c.file.debug_dirs)
}
