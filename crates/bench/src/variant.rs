//! What is done to a program's writes.

use std::fmt;

use serde::Serialize;

/// A variant of a program: unchanged, or with a pre-store (P0, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// Unchanged: what the others are compared with.
    Base,
    /// With a clean after each write.
    Clean,
    /// Written with non-temporal stores.
    Skip,
    /// With a demote after each write.
    Demote,
}

impl Variant {
    /// All of them, base first.
    pub const ALL: [Variant; 4] = [
        Variant::Base,
        Variant::Clean,
        Variant::Skip,
        Variant::Demote,
    ];

    /// Its name in results and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Base => "base",
            Variant::Clean => "clean",
            Variant::Skip => "skip",
            Variant::Demote => "demote",
        }
    }

    /// The word of the workloads' `--op`.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Variant::Base => "none",
            other => other.name(),
        }
    }

    /// The library's operation behind it.
    pub const fn op(self) -> Option<prestore::Op> {
        match self {
            Variant::Base => None,
            Variant::Clean => Some(prestore::Op::Clean),
            Variant::Skip => Some(prestore::Op::Skip),
            Variant::Demote => Some(prestore::Op::Demote),
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
