//! An error on the way up to where its place is known.

use std::fmt;

use serde::de;

use crate::error::{Location, Problem};
use crate::nearest::nearest;

/// What is wrong with a value; the innermost node around it says where.
#[derive(Debug)]
pub struct DeError {
    what: String,
    help: String,
    place: Option<(Location, String)>,
}

impl DeError {
    /// An error with a cure.
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            help: help.into(),
            place: None,
        }
    }

    /// At this place, unless a place further in is known.
    pub fn at(mut self, at: &Location, key: &str) -> Self {
        self.place.get_or_insert_with(|| (at.clone(), key.into()));
        self
    }

    /// As a problem; `at` is the place where none further in is known.
    pub fn into_problem(self, at: &Location, key: &str) -> Problem {
        let (at, key) = self.place.unwrap_or_else(|| (at.clone(), key.into()));
        Problem {
            at,
            key,
            what: self.what,
            help: self.help,
        }
    }
}

/// The error of a name that is not among `known`.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> DeError {
    let help = match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`? (known: {})", known.join(", ")),
        None if known.is_empty() => "nothing can stand here".into(),
        None => format!("known: {}", known.join(", ")),
    };
    DeError::new(format!("unknown {what} '{name}'"), help)
}

impl fmt::Display for DeError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for DeError {}

impl de::Error for DeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        // Errors of quantities carry their own cure after a colon.
        Self::new(message.to_string(), "")
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(
            format!("the key `{field}` is missing"),
            "add it, with its source (docs/adding-a-machine.md says what each key means)",
        )
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        unknown("word", variant, expected)
    }

    fn invalid_type(found: de::Unexpected, expected: &dyn de::Expected) -> Self {
        Self::new(format!("{found} stands where {expected} belongs"), "")
    }
}
