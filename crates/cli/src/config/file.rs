//! What a configuration file holds, and where it is found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::CliError;

/// The file's name.
pub const NAME: &str = "prestore.toml";
/// The variable of the environment that names another; empty: none is read.
pub const VARIABLE: &str = "PRESTORE_CONFIG";

/// As the file has it.
#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Thresholds of the analysis, by name.
    #[serde(default)]
    pub thresholds: BTreeMap<String, Number>,
    /// Machines to simulate where the command line names none: names, or paths from the file's folder.
    #[serde(default)]
    pub machines: Vec<String>,
    /// Folders with separate debug files, from the file's.
    #[serde(default)]
    pub debug_dirs: Vec<PathBuf>,
}

/// A number as it is written, with or without a point.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(untagged)]
pub enum Number {
    /// Without.
    Whole(i64),
    /// With.
    Real(f64),
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(n) => n.fmt(f),
            Self::Real(x) => x.fmt(f),
        }
    }
}

impl File {
    /// Reads `path`; what it names lies in its folder.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let wrong = |what: String| CliError::Usage(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
        let mut file: Self = toml::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for dir in &mut file.debug_dirs {
            *dir = folder.join(&dir);
            if !dir.is_dir() {
                let dir = dir.display();
                return Err(wrong(format!("debug_dirs: there is no folder {dir}")));
            }
        }
        for machine in &mut file.machines {
            if machine.ends_with(".toml") {
                *machine = folder.join(&machine).display().to_string();
            }
        }
        Ok(file)
    }

    /// Its thresholds as the command line would set them.
    pub fn settings(&self) -> Vec<String> {
        let all = self.thresholds.iter();
        all.map(|(name, value)| format!("{name}={value}")).collect()
    }
}

/// The file to be read: the one that the environment names, else the nearest in the folders above `here` and `here`
/// itself, else the user's own.
pub fn find(
    named: Option<PathBuf>,
    here: Option<&Path>,
    users: Option<PathBuf>,
) -> Option<PathBuf> {
    if let Some(named) = named {
        return Some(named).filter(|path| !path.as_os_str().is_empty());
    }
    // A link that leads nowhere is one that somebody has made: reading it says what is wrong.
    let is_there = |path: &PathBuf| path.is_file() || path.is_symlink();
    let above = here.into_iter().flat_map(Path::ancestors);
    let near = above.map(|dir| dir.join(NAME)).find(is_there);
    near.or_else(|| users.map(|dir| dir.join(NAME)).filter(is_there))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<File, CliError> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("debug")).unwrap();
        let path = dir.path().join(NAME);
        std::fs::write(&path, text).unwrap();
        File::read(&path)
    }

    #[test]
    fn what_it_names_lies_in_its_folder() {
        let file = read(
            "machines = ['machine-a', 'own.toml']\ndebug_dirs = ['debug']\n[thresholds]\nnear = 5\nshare = 0.5\n",
        )
        .unwrap();
        assert_eq!(file.machines[0], "machine-a");
        assert!(Path::new(&file.machines[1]).is_absolute(), "{file:?}");
        assert!(file.debug_dirs[0].is_absolute(), "{file:?}");
        assert_eq!(file.settings(), ["near=5", "share=0.5"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_file() {
        for (text, what) in [
            ("machine = 'a'", "unknown field"),
            ("debug_dirs = ['nowhere']", "there is no folder"),
            ("[thresholds]\nnear = 'x'", "line 2"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(NAME) && error.contains(what), "{error}");
        }
    }

    #[test]
    fn the_nearest_is_found_and_the_users_last() {
        let dir = tempfile::tempdir().unwrap();
        let (top, below) = (dir.path().join("a"), dir.path().join("a/b/c"));
        std::fs::create_dir_all(&below).unwrap();
        let users = dir.path().join("home");
        std::fs::create_dir(&users).unwrap();
        let found = |named: Option<&str>| {
            let named = named.map(PathBuf::from);
            find(named, Some(&below), Some(users.clone()))
        };
        assert_eq!(found(None), None);
        std::fs::write(users.join(NAME), "").unwrap();
        assert_eq!(found(None), Some(users.join(NAME)));
        std::fs::write(top.join(NAME), "").unwrap();
        assert_eq!(found(None), Some(top.join(NAME)));
        assert_eq!(found(Some("x.toml")), Some("x.toml".into()));
        assert_eq!(found(Some("")), None, "none is wanted");
    }
}
