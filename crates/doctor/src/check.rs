use serde::{Deserialize, Serialize};

/// Version of the JSON form of [`Diagnosis`]; grows when a key changes its meaning or goes away.
pub const SCHEMA_VERSION: u32 = 1;

/// How one thing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// All there.
    Ok,
    /// There, but less than one would wish.
    Degraded,
    /// Not there.
    Missing,
}

/// One thing looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Stable name, `store-sampling` say.
    pub name: String,
    /// How it stands.
    pub status: Status,
    /// What was found; if it lacks, what Prestore does without it.
    pub detail: String,
    /// Why it lacks; `None` if it does not.
    pub cause: Option<String>,
    /// The one command that mends it.
    pub fix: Option<String>,
    /// Why no command on this machine mends it, and what else would; `None` if there is a fix or
    /// nothing to mend.
    pub no_fix: Option<String>,
}

impl Check {
    pub(crate) fn ok(name: &str, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            status: Status::Ok,
            detail: detail.into(),
            cause: None,
            fix: None,
            no_fix: None,
        }
    }

    pub(crate) fn lack(
        name: &str,
        status: Status,
        detail: impl Into<String>,
        cause: impl Into<String>,
        remedy: Remedy,
    ) -> Self {
        let (fix, no_fix) = match remedy {
            Remedy::Run(command) => (Some(command), None),
            Remedy::Nothing(instead) => (None, Some(instead)),
        };
        Self {
            name: name.to_owned(),
            status,
            detail: detail.into(),
            cause: Some(cause.into()),
            fix,
            no_fix,
        }
    }
}

/// What can be done about a lack: each has exactly one of these.
pub(crate) enum Remedy {
    /// This command mends it.
    Run(String),
    /// No command does; this would help.
    Nothing(String),
}

/// All checks of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The checks, most needed first.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// The check of that name.
    pub fn check(&self, name: &str) -> Option<&Check> {
        self.checks.iter().find(|check| check.name == name)
    }

    /// Whether programs can be recorded here at all: what this needs is not missing.
    pub fn can_record(&self) -> bool {
        ["engine", "shared-memory"]
            .iter()
            .filter_map(|name| self.check(name))
            .all(|check| check.status != Status::Missing)
    }
}
