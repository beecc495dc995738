//! Checks of `[placement]`.

use crate::file::Sections;
use crate::{Machine, MemoryType, PageMapping, RangeSelector};

/// Adds what is wrong with the placement.
pub fn check(machine: &Machine, parts: &Sections) {
    for (index, rule) in machine.placement.rules.iter().enumerate() {
        selector(&rule.of, &format!("placement.rules[{index}].of"), parts);
    }
    for (index, rule) in machine.placement.types.iter().enumerate() {
        selector(&rule.of, &format!("placement.types[{index}].of"), parts);
        let has = machine.core.memory_types();
        if !has.contains(&rule.memory_type) {
            let names: Vec<&str> = has.iter().copied().map(MemoryType::name).collect();
            let what = format!(
                "this machine has no {} memory, only {}",
                rule.memory_type.name(),
                names.join(", ")
            );
            let key = format!("placement.types[{index}].type");
            let help =
                "take one of those, or another machine (core.memory_types says what a machine has)";
            parts.wrong(&key, what, help);
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

fn selector(of: &RangeSelector, key: &str, parts: &Sections) {
    match of {
        RangeSelector::Addresses(first, last) if first > last => {
            let what = format!("{first:#x} to {last:#x} is empty");
            parts.wrong(key, what, "first and last are inclusive");
        }
        RangeSelector::AllocationSite(site) if site.trim().is_empty() => {
            let help = "give a function's name or file:line";
            parts.wrong(key, "the site is empty", help);
        }
        _ => {}
    }
}
