//! Flushes that are redundant at times, and needed at others.

use std::collections::HashSet;

use prestore_crash::{Checked, Domain, FindingKind};
use prestore_trace::SiteId;

use super::helper::Helps;
use super::whose::owned;
use super::{About, NamedCrashFinding, words};
use crate::place::NamedPlace;
use crate::resolve::Resolver;

/// Says of each redundant flush how often its line flushes in all, and not to leave it out where that is more.
pub(super) fn tell(
    findings: &mut [NamedCrashFinding],
    checked: &Checked,
    about: About,
    generic: &HashSet<SiteId>,
    resolver: &mut dyn Resolver,
) {
    let mut redundant: Vec<&mut NamedCrashFinding> = (findings.iter_mut())
        .filter(|f| f.kind == FindingKind::RedundantFlush)
        .collect();
    for flushed in &checked.flushed {
        let at = owned(&flushed.at, Some(Helps::Persist), generic, resolver).place;
        let range = checked.images.get(flushed.image).map(|i| &i.name);
        let of =
            (redundant.iter_mut()).find(|f| is_line(&f.place, &at) && f.range.as_ref() == range);
        if let Some(finding) = of {
            *finding.of.get_or_insert(0) += flushed.count;
        }
    }
    for finding in redundant {
        // Calls of libraries that are redundant as a whole flush several lines.
        let of = finding.of.filter(|&of| of > finding.count);
        if let Some(of) = of.filter(|_| about.domain == Domain::Adr) {
            let before = finding.flush.as_ref();
            finding.reason = words::redundant_at_times(finding.count, of, before);
        }
    }
}

/// Are they the same line? Each type that a template is used with has functions of its own.
pub(super) fn is_line(one: &NamedPlace, other: &NamedPlace) -> bool {
    match (one.line, other.line) {
        (Some(line), Some(of_other)) => (line, &one.file) == (of_other, &other.file),
        (None, None) => (one.offset, &one.function) == (other.offset, &other.function),
        _ => false,
    }
}
