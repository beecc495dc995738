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
    const FLUSH: &[FindingKind] = &[FindingKind::RedundantFlush];
    const UNFENCED: &[FindingKind] = &[FindingKind::MissingFence];
    const STORE: &[FindingKind] = &[FindingKind::MissingFlush, FindingKind::Ordering];
    let mut add = |all: &[Executed], helps, kinds: &[FindingKind], to: Number| {
        if findings.iter().all(|f| !kinds.contains(&f.kind)) {
            return;
        }
        for executed in all {
            let at = owned(&executed.at, helps, generic, resolver).place;
            let range = checked.images.get(executed.image).map(|i| &i.name);
            let of = |f: &&mut NamedCrashFinding| {
                kinds.contains(&f.kind) && is_line(&f.place, &at) && f.range.as_ref() == range
            };
            for finding in findings.iter_mut().filter(of) {
                *to(finding) += executed.count;
            }
        }
    };
    add(&checked.flushed, Some(Helps::Persist), FLUSH, of);
    add(&checked.of_another, Some(Helps::Persist), FLUSH, of_another);
    add(&checked.stored, Some(Helps::StoreUnfenced), UNFENCED, of);
    add(&checked.stored, None, STORE, of);
    if about.domain != Domain::Adr {
        return;
    }
    for finding in findings.iter_mut().filter(|f| FLUSH.contains(&f.kind)) {
        // Calls of libraries that are redundant as a whole flush several lines.
        if let Some(of) = finding.of.filter(|&of| of > finding.count) {
            let before = finding.flush.as_ref();
            finding.reason = words::redundant_at_times(finding.count, of, before);
        }
        if finding.of_another > 0 {
            finding.reason += &words::of_another(finding.of_another);
        }
    }
}

/// Which of a finding's numbers.
type Number = fn(&mut NamedCrashFinding) -> &mut u64;

fn of(finding: &mut NamedCrashFinding) -> &mut u64 {
    finding.of.get_or_insert(0)
}

fn of_another(finding: &mut NamedCrashFinding) -> &mut u64 {
    &mut finding.of_another
}

/// Are they the same line? Each type that a template is used with has functions of its own.
pub(super) fn is_line(one: &NamedPlace, other: &NamedPlace) -> bool {
    match (one.line, other.line) {
        (Some(line), Some(of_other)) => (line, &one.file) == (of_other, &other.file),
        (None, None) => (one.offset, &one.function) == (other.offset, &other.function),
        _ => false,
    }
}
