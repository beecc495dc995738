//! What the client is told to change: `client/trial_sites.c` reads it.

use std::fmt::Write as _;
use std::io;

use super::{Operation, Trial};
use crate::channel::Session;

/// Writes the file `trial-sites`.
pub(super) fn write(session: &Session, trial: &Trial<'_>) -> io::Result<()> {
    session.give("trial-sites", text(trial).as_bytes())?;
    Ok(())
}

fn text(trial: &Trial<'_>) -> String {
    let mut text = format!("fences {}\n", u8::from(trial.keeps_order));
    for change in trial.changes {
        let letter = match change.op {
            None => 'n',
            Some(Operation::Skip) => 's',
            Some(Operation::Clean) => 'c',
            Some(Operation::Demote) => 'd',
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{letter} {} {:x} {}",
            change.group, change.offset, change.module
        );
    }
    text
}
