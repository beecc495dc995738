//! Checks of `[directory]`.

use super::{MOST_FOLLOWED, at_most};
use crate::Machine;
use crate::file::Sections;

/// Adds what is wrong with the directory.
pub fn check(machine: &Machine, parts: &Sections) {
    let Some(filter) = machine.directory.filter else {
        return;
    };
    let followed = [("directory.filter", "entries", filter.entries)];
    at_most(parts, MOST_FOLLOWED, followed);
    if filter.ways == 0 {
        parts.wrong("directory.filter.ways", "is 0", "give a number above 0");
    } else if filter.entries == 0 || !filter.entries.is_multiple_of(u64::from(filter.ways)) {
        let what = format!("{} entries cannot be {} ways", filter.entries, filter.ways);
        let help = "give a multiple of the ways; leave [directory.filter] out for a full directory";
        parts.wrong("directory.filter.entries", what, help);
    }
}
