//! Finding machines.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::MachineError;
use crate::file::{Found, Loaded, Search, What, load};
use crate::resolve::resolve;
use crate::{Description, Machine};

/// Where machines are looked for.
///
/// A name is looked for in the folders of `PRESTORE_MACHINE_PATH` (separated by colons), then in the
/// user's own (`$XDG_CONFIG_HOME/prestore/machines`, else `~/.config/prestore/machines`), then among
/// those shipped. What a file names (`inherits`, devices) is looked for beside it first; what a
/// shipped file names is always shipped, so that it means the same everywhere.
#[derive(Clone, Debug)]
pub struct Machines {
    search: Search,
}

/// A machine that can be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// One sentence; of a file that is wrong, what is wrong first.
    pub description: Result<String, MachineError>,
    /// Path of its file; of a shipped file in the source tree.
    pub file: Arc<str>,
    /// Is it shipped?
    pub shipped: bool,
}

impl Machines {
    /// As the environment says.
    pub fn from_env() -> Self {
        let search = Search::from_env();
        Self { search }
    }

    /// Only those shipped.
    pub fn shipped() -> Self {
        Self::with_folders(Vec::new())
    }

    /// Those of these folders, then those shipped.
    pub fn with_folders(folders: Vec<PathBuf>) -> Self {
        let search = Search::of(folders);
        Self { search }
    }

    /// The user's own folder of machines; `None` where there is no home.
    pub fn user_folder() -> Option<PathBuf> {
        Search::user_folder()
    }

    /// The machine of a name or of the path of a file that ends with `.toml`, with values set as in
    /// `core.count=10`.
    ///
    /// # Errors
    ///
    /// There is none, or what is wrong with it: all that can be told at once.
    pub fn describe(&self, name: &str, settings: &[&str]) -> Result<Description, MachineError> {
        let found = self.search.find(What::Machine, name, None)?;
        self.describe_found(found, settings)
    }

    /// The machine that a text describes; `name` stands for its file in errors.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(&self, name: &str, text: &str) -> Result<Description, MachineError> {
        let found = Found {
            name: name.trim_end_matches(".toml").into(),
            file: name.into(),
            text: text.into(),
            folder: Some(PathBuf::new()),
        };
        self.describe_found(found, &[])
    }

    /// All machines, by name.
    pub fn list(&self) -> Vec<Listed> {
        let listed = |found: Found| Listed {
            name: found.name.clone(),
            file: found.file.clone(),
            shipped: found.folder.is_none(),
            description: self
                .describe_found(found, &[])
                .map(|description| description.machine().description.clone()),
        };
        self.search.machines().into_iter().map(listed).collect()
    }

    fn describe_found(&self, found: Found, settings: &[&str]) -> Result<Description, MachineError> {
        let Loaded {
            name,
            file,
            tree,
            problems,
            incomplete,
        } = load(&self.search, found, settings)?;
        if incomplete {
            return Err(MachineError::Wrong(problems));
        }
        let machine = resolve(&name, &tree, problems)?;
        Ok(Description::new(machine, file, tree))
    }
}

impl Machine {
    /// The machine of a name or path, as [`Machines::describe`] finds it with the environment's
    /// folders.
    ///
    /// # Errors
    ///
    /// See [`Machines::describe`].
    pub fn find(name_or_path: &str) -> Result<Self, MachineError> {
        Self::find_with(name_or_path, &[])
    }

    /// The same, with values set as in `core.count=10`.
    ///
    /// # Errors
    ///
    /// See [`Machines::describe`].
    pub fn find_with(name_or_path: &str, settings: &[&str]) -> Result<Self, MachineError> {
        let described = Machines::from_env().describe(name_or_path, settings)?;
        Ok(described.into_machine())
    }

    /// The machine that a text (TOML) describes; it may inherit from shipped machines.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(name: &str, text: &str) -> Result<Self, MachineError> {
        Ok(Machines::shipped().parse(name, text)?.into_machine())
    }
}
