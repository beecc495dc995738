//! How often what is wrong at times was done in all: flushes that are redundant, stores that are never persistent.

use std::collections::HashSet;

use prestore_crash::{Checked, Domain, Executed, FindingKind};
use prestore_trace::SiteId;

use super::helper::Helps;
use super::whose::owned;
use super::{About, NamedCrashFinding, words};
use crate::place::NamedPlace;
use crate::resolve::Resolver;

/// Says of each finding how often its line flushes or stores in all, and not to leave a flush out where that is more.
pub(super) fn tell(
    findings: &mut [NamedCrashFinding],
    checked: &Checked,
    about: About,
    generic: &HashSet<SiteId>,
    resolver: &mut dyn Resolver,
) {
    let is_flush = |kind| kind == FindingKind::RedundantFlush;
    let mut add = |all: &[Executed],
                   helps,
                   is_such: &dyn Fn(FindingKind) -> bool,
                   to: fn(&mut NamedCrashFinding) -> &mut u64| {
        for executed in all {
            let at = owned(&executed.at, helps, generic, resolver).place;
            let range = checked.images.get(executed.image).map(|i| &i.name);
            let of = (findings.iter_mut())
                .filter(|f| is_such(f.kind) && is_line(&f.place, &at) && f.range.as_ref() == range);
            for finding in of {
                *to(finding) += executed.count;
            }
        }
    };
    add(&checked.flushed, Some(Helps::Persist), &is_flush, of);
    add(&checked.helped, Some(Helps::Persist), &is_flush, helped);
    let is_unfenced = |kind| kind == FindingKind::MissingFence;
    add(
        &checked.stored,
        Some(Helps::StoreUnfenced),
        &is_unfenced,
        of,
    );
    let is_other = |kind| kind < FindingKind::RedundantFlush && !is_unfenced(kind);
    add(&checked.stored, None, &is_other, of);
    for finding in findings.iter_mut().filter(|f| is_flush(f.kind)) {
        // Calls of libraries that are redundant as a whole flush several lines.
        let of = finding.of.filter(|&of| of > finding.count);
        if let Some(of) = of.filter(|_| about.domain == Domain::Adr) {
            let before = finding.flush.as_ref();
            finding.reason = words::redundant_at_times(finding.count, of, before);
        }
        if finding.helped > 0 && about.domain == Domain::Adr {
            finding.reason += &words::helps(finding.helped);
        }
    }
}

fn of(finding: &mut NamedCrashFinding) -> &mut u64 {
    finding.of.get_or_insert(0)
}

fn helped(finding: &mut NamedCrashFinding) -> &mut u64 {
    &mut finding.helped
}

/// Are they the same line? Each type that a template is used with has functions of its own.
pub(super) fn is_line(one: &NamedPlace, other: &NamedPlace) -> bool {
    match (one.line, other.line) {
        (Some(line), Some(of_other)) => (line, &one.file) == (of_other, &other.file),
        (None, None) => (one.offset, &one.function) == (other.offset, &other.function),
        _ => false,
    }
}
