//! Checks of `[placement]`.

use crate::file::Sections;
use crate::{Machine, PageMapping, RangeSelector};

/// Adds what is wrong with the placement.
pub fn check(machine: &Machine, parts: &Sections) {
    for (index, rule) in machine.placement.rules.iter().enumerate() {
        let key = format!("placement.rules[{index}].of");
        match &rule.of {
            RangeSelector::Addresses(first, last) if first > last => {
                let what = format!("{first:#x} to {last:#x} is empty");
                parts.wrong(&key, what, "first and last are inclusive");
            }
            RangeSelector::AllocationSite(site) if site.trim().is_empty() => {
                let help = "give a function's name or file:line";
                parts.wrong(&key, "the site is empty", help);
            }
            _ => {}
        }
    }
    if let PageMapping::Shuffled(page) = machine.placement.pages
        && (!page.0.is_power_of_two() || page < machine.line)
    {
        let what = format!("{} B is no page", page.0);
        let help = "give a power of two, 4 KiB or 2 MiB";
        parts.wrong("placement.pages.page", what, help);
    }
}
