//! How a loop is made failure-safe.

use std::fmt;
use std::str::FromStr;

/// How a loop is made failure-safe (P4, table 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Not at all: whenever it is run it begins again, also where it was finished, as nothing makes its result durable.
    None,
    /// All workers stop every `every` outermost iterations and what the loop writes is copied aside, as P4's CP; with
    /// `inputs`, as there, what it only reads is copied along.
    Checkpoint {
        /// Outermost iterations between two checkpoints.
        every: usize,
        /// Whether arrays that are only read are copied, too.
        inputs: bool,
    },
    /// Each step's old values are logged before it, as P4's L.
    Logging,
    /// Each step's result is flushed behind it; a step that a crash tore is computed anew from the beginning: P4's R.
    Recompute,
    /// As [`Scheme::Recompute`], and 1 of `period` parts of what is written is copied aside each outermost iteration,
    /// so that no more than `period` iterations are computed anew: P4's HR.
    Hybrid {
        /// Outermost iterations until everything has been copied once.
        period: usize,
    },
}

impl Scheme {
    /// The number in the header, with the parameter apart.
    pub(crate) fn code(self) -> (u32, u64) {
        match self {
            Scheme::None => (0, 0),
            Scheme::Checkpoint { every, inputs } => (if inputs { 5 } else { 1 }, every as u64),
            Scheme::Logging => (2, 0),
            Scheme::Recompute => (3, 0),
            Scheme::Hybrid { period } => (4, period as u64),
        }
    }

    /// Whether workers have to meet after each outermost iteration, whatever the loop asks for.
    pub(crate) fn stops_all(self) -> bool {
        matches!(self, Scheme::Checkpoint { .. })
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scheme::None => f.write_str("none"),
            Scheme::Checkpoint { every, inputs } => {
                write!(f, "{}{every}", if *inputs { "CPall" } else { "CP" })
            }
            Scheme::Logging => f.write_str("L"),
            Scheme::Recompute => f.write_str("R"),
            Scheme::Hybrid { period } => write!(f, "HRx{period}"),
        }
    }
}

impl FromStr for Scheme {
    type Err = String;

    /// `none`, `CP` or `CP8` (every 8 outermost iterations), `CPall8` (with the inputs), `L`, `R`, `HRx64`.
    fn from_str(text: &str) -> Result<Scheme, String> {
        let count = |digits: &str| match digits.parse::<usize>() {
            Ok(count) if count > 0 => Ok(count),
            _ => Err(format!(
                "{text:?} is no scheme: {digits:?} should be a number of iterations, 1 or more"
            )),
        };
        let every = |digits: &str| {
            if digits.is_empty() {
                Ok(1)
            } else {
                count(digits)
            }
        };
        match text {
            "none" => Ok(Scheme::None),
            "L" => Ok(Scheme::Logging),
            "R" => Ok(Scheme::Recompute),
            _ => {
                if let Some(digits) = text.strip_prefix("CPall") {
                    every(digits).map(|every| Scheme::Checkpoint {
                        every,
                        inputs: true,
                    })
                } else if let Some(digits) = text.strip_prefix("CP") {
                    every(digits).map(|every| Scheme::Checkpoint {
                        every,
                        inputs: false,
                    })
                } else if let Some(digits) = text.strip_prefix("HRx") {
                    count(digits).map(|period| Scheme::Hybrid { period })
                } else {
                    Err(format!(
                        "{text:?} is no scheme: take none, CP, CP8, CPall8, L, R or HRx64"
                    ))
                }
            }
        }
    }
}
