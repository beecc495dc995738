//! Machines whose caches cannot be built.

use prestore_machine::{Inclusion, Machine, Replacement, Scope, SnoopFilter, WritePolicy};

use super::replacement::MAX_WAYS;

/// Why no hierarchy can be built for a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HierarchyError {
    /// No caches at all.
    #[error("the machine has no cache level; give it at least one")]
    NoLevels,
    /// Too many cores for the directory.
    #[error("{0} cores; the directory follows 1 to 128")]
    Cores(u32),
    /// Not a line of 32 to 128 bytes.
    #[error("a line of {0} bytes; it must be 32, 64 or 128")]
    Line(u64),
    /// More ways than the policies follow, or none.
    #[error("{name}: {ways} ways; there may be 1 to {MAX_WAYS}")]
    Ways {
        /// Level, or `snoop filter`.
        name: String,
        /// What was asked for.
        ways: u32,
    },
    /// A tree needs a power of two.
    #[error("{name}: {ways} ways with tree-PLRU; make it a power of two, or choose another policy")]
    Tree {
        /// Level.
        name: String,
        /// What was asked for.
        ways: u32,
    },
    /// Sets would not all be alike.
    #[error("{name}: {lines} lines do not divide into {slices} slices of sets of {ways} ways")]
    Sets {
        /// Level, or `snoop filter`.
        name: String,
        /// Lines in all.
        lines: u64,
        /// Slices.
        slices: u32,
        /// Ways.
        ways: u32,
    },
    /// A private level behind a shared one.
    #[error("{name}: private, but behind the shared level {shared}; list private levels first")]
    PrivateBehindShared {
        /// The private level.
        name: String,
        /// The shared level.
        shared: String,
    },
    /// Nobody would hold dirty bytes.
    #[error("{name}: the last level is write-through; it must be write-back")]
    LastThrough {
        /// The last level.
        name: String,
    },
    /// Dirty bytes could not move nearer with their line.
    #[error(
        "{name}: exclusive, but the nearer level {through} is write-through; lines that move nearer need a write-back level there"
    )]
    ExclusiveBehindThrough {
        /// The exclusive level.
        name: String,
        /// The write-through level.
        through: String,
    },
}

/// Can a hierarchy be built for `machine`?
pub(super) fn check(machine: &Machine) -> Result<(), HierarchyError> {
    let line = machine.line.0;
    if !matches!(line, 32 | 64 | 128) {
        return Err(HierarchyError::Line(line));
    }
    if !(1..=128).contains(&machine.core.count) {
        return Err(HierarchyError::Cores(machine.core.count));
    }
    let last = machine.caches.last().ok_or(HierarchyError::NoLevels)?;
    if last.write == WritePolicy::Through {
        return Err(HierarchyError::LastThrough {
            name: last.name.clone(),
        });
    }
    for (number, level) in machine.caches.iter().enumerate() {
        let name = || level.name.clone();
        sets(&level.name, level.size.0 / line, level.slices, level.ways)?;
        if level.size.0 % line != 0 {
            return Err(HierarchyError::Sets {
                name: name(),
                lines: level.size.0 / line,
                slices: level.slices,
                ways: level.ways,
            });
        }
        if level.replacement == Replacement::TreePlru && !level.ways.is_power_of_two() {
            return Err(HierarchyError::Tree {
                name: name(),
                ways: level.ways,
            });
        }
        let nearer = &machine.caches[..number];
        if level.scope == Scope::Private
            && let Some(shared) = nearer.iter().find(|l| l.scope == Scope::Shared)
        {
            return Err(HierarchyError::PrivateBehindShared {
                name: name(),
                shared: shared.name.clone(),
            });
        }
        if level.inclusion == Inclusion::Exclusive
            && let Some(through) = nearer.iter().find(|l| l.write == WritePolicy::Through)
        {
            return Err(HierarchyError::ExclusiveBehindThrough {
                name: name(),
                through: through.name.clone(),
            });
        }
    }
    if let Some(SnoopFilter { entries, ways }) = machine.directory.filter {
        sets("snoop filter", entries, 1, ways)?;
    }
    Ok(())
}

fn sets(name: &str, lines: u64, slices: u32, ways: u32) -> Result<(), HierarchyError> {
    if !(1..=MAX_WAYS).contains(&ways) {
        return Err(HierarchyError::Ways {
            name: name.to_owned(),
            ways,
        });
    }
    let unit = u64::from(slices) * u64::from(ways);
    if unit == 0 || lines == 0 || !lines.is_multiple_of(unit) {
        return Err(HierarchyError::Sets {
            name: name.to_owned(),
            lines,
            slices,
            ways,
        });
    }
    Ok(())
}
