//! What libraries do to persistent memory on their own account, told apart from the program's findings.

use std::collections::HashSet;

use prestore_crash::{Finding, FindingKind};
use prestore_trace::SiteId;
use serde::Serialize;

use crate::place::NamedPlace;

/// Of one kind, image and library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InLibrary {
    /// What.
    pub kind: FindingKind,
    /// Path of the library.
    pub module: String,
    /// As [`super::NamedCrashFinding::range`].
    pub range: Option<String>,
    /// Stores, flushes or fences.
    pub count: u64,
    /// Instructions that make them.
    pub places: u64,
    /// The program's lines that call it, the one with most first.
    pub callers: Vec<LibraryCaller>,
    /// The instructions so far.
    #[serde(skip)]
    sites: HashSet<SiteId>,
}

/// A line of the program that calls a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LibraryCaller {
    /// The line.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// Stores, flushes or fences that the library makes for it.
    pub count: u64,
}

/// Adds `finding`, which is `module`'s and is called at `place`.
pub(super) fn add(
    all: &mut Vec<InLibrary>,
    finding: &Finding,
    range: Option<String>,
    module: String,
    place: NamedPlace,
) {
    let is_same = |l: &InLibrary| l.kind == finding.kind && l.module == module && l.range == range;
    let index = match all.iter().position(is_same) {
        Some(index) => index,
        None => {
            all.push(InLibrary {
                kind: finding.kind,
                module,
                range,
                count: 0,
                places: 0,
                callers: Vec::new(),
                sites: HashSet::new(),
            });
            all.len() - 1
        }
    };
    let one = &mut all[index];
    one.count += finding.count;
    one.sites.insert(finding.at.site);
    one.places = one.sites.len() as u64;
    let line = |p: &NamedPlace| (p.function.clone(), p.file.clone(), p.line);
    match one
        .callers
        .iter_mut()
        .find(|c| line(&c.place) == line(&place))
    {
        Some(known) => known.count += finding.count,
        None => one.callers.push(LibraryCaller {
            place,
            count: finding.count,
        }),
    }
    one.callers.sort_by_key(|c| std::cmp::Reverse(c.count));
}
