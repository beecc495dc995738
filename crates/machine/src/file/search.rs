//! Where descriptions are found.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::shipped::{DEVICES, MACHINES};
use crate::error::MachineError;
use crate::nearest::nearest;

/// What a description is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A machine: `NAME.toml`.
    Machine,
    /// A device: `devices/NAME.toml`.
    Device,
}

impl What {
    fn noun(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Device => "device",
        }
    }

    fn shipped(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Machine => MACHINES,
            Self::Device => DEVICES,
        }
    }

    fn in_folder(self, folder: &Path) -> PathBuf {
        match self {
            Self::Machine => folder.to_owned(),
            Self::Device => folder.join("devices"),
        }
    }
}

/// A description that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name it goes by.
    pub name: String,
    /// Its path, as errors and `show` print it.
    pub file: Arc<str>,
    /// Its text.
    pub text: String,
    /// Its folder, where what it names is looked for first; `None`: shipped.
    pub folder: Option<PathBuf>,
}

/// Folders with descriptions, before those shipped.
///
/// A name is looked for in the folder of the file that names it, then in the folders of
/// `PRESTORE_MACHINE_PATH` (separated by colons), then in the user's
/// (`$XDG_CONFIG_HOME/prestore/machines`, `~/.config/prestore/machines`), then among those shipped.
/// What a shipped file names is always shipped, so that it means the same everywhere.
#[derive(Clone, Debug, Default)]
pub struct Search {
    folders: Vec<PathBuf>,
}

impl Search {
    /// As the environment says.
    pub fn from_env() -> Self {
        let mut folders: Vec<PathBuf> = env::var_os("PRESTORE_MACHINE_PATH")
            .map(|list| env::split_paths(&list).collect())
            .unwrap_or_default();
        folders.retain(|folder| !folder.as_os_str().is_empty());
        folders.extend(Self::user_folder());
        Self { folders }
    }

    /// These folders, then those shipped.
    pub fn of(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    /// The user's own folder of machines; `None` where there is no home.
    pub fn user_folder() -> Option<PathBuf> {
        let config = env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".config")))?;
        Some(config.join("prestore/machines"))
    }

    /// Finds the description of `name` that `by` names (`None`: the user does).
    pub fn find(&self, what: What, name: &str, by: Option<&Found>) -> Result<Found, MachineError> {
        if name.ends_with(".toml") || name.contains('/') {
            let base = by
                .and_then(|found| found.folder.clone())
                .unwrap_or_default();
            return read(&base.join(name));
        }
        for folder in self.folders(what, by) {
            let path = folder.join(format!("{name}.toml"));
            if path.is_file() {
                return read(&path);
            }
        }
        if let Some((name, text)) = what.shipped().iter().find(|(known, _)| *known == name) {
            return Ok(shipped(what, name, text));
        }
        let known = self.names(what, by);
        Err(MachineError::Unknown {
            what: what.noun(),
            name: name.into(),
            nearest: nearest(name, known.iter().map(String::as_str)).map(str::to_owned),
        })
    }

    /// All machines: of each name the one that [`Search::find`] finds, by name.
    pub fn machines(&self) -> Vec<Found> {
        self.names(What::Machine, None)
            .iter()
            .filter_map(|name| self.find(What::Machine, name, None).ok())
            .collect()
    }

    fn folders(&self, what: What, by: Option<&Found>) -> Vec<PathBuf> {
        let beside = match by {
            None => None,
            Some(Found { folder: None, .. }) => return Vec::new(),
            Some(Found { folder, .. }) => folder.as_deref(),
        };
        // A device stands in `devices/` already; what it names stands beside it.
        let beside = beside.map(|folder| match folder.file_name() {
            Some(last) if what == What::Device && last == "devices" => folder.to_owned(),
            _ => what.in_folder(folder),
        });
        let all = self.folders.iter().map(|folder| what.in_folder(folder));
        beside.into_iter().chain(all).collect()
    }

    fn names(&self, what: What, by: Option<&Found>) -> Vec<String> {
        let mut names: Vec<String> = what.shipped().iter().map(|(n, _)| n.to_string()).collect();
        for folder in self.folders(what, by) {
            let files = fs::read_dir(folder).into_iter().flatten().flatten();
            for path in files.map(|entry| entry.path()) {
                if path.extension().is_some_and(|e| e == "toml") {
                    names.extend(path.file_stem().and_then(|s| s.to_str()).map(str::to_owned));
                }
            }
        }
        names.sort();
        names.dedup();
        names
    }
}

fn shipped(what: What, name: &str, text: &str) -> Found {
    let folder = match what {
        What::Machine => "machines",
        What::Device => "machines/devices",
    };
    Found {
        name: name.into(),
        file: format!("{folder}/{name}.toml").into(),
        text: text.into(),
        folder: None,
    }
}

fn read(path: &Path) -> Result<Found, MachineError> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| MachineError::Unreadable {
        path: shown.clone(),
        cause: error.to_string(),
    })?;
    Ok(Found {
        name: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into(),
        file: shown.into(),
        text,
        folder: Some(path.parent().unwrap_or(Path::new("")).to_owned()),
    })
}
