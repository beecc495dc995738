//! What a power cut may lose of a program's persistent memory, with names.

mod failure;
mod helper;
mod libraries;
mod needed;
mod text;
mod whole_pages;
mod whose;
mod words;

pub use failure::{LostStore, NamedFailure, Names, Refused};
pub use helper::Helper;
use helper::Helps;
pub(crate) use helper::past_inlined_helper;
pub use libraries::{InLibrary, LibraryCaller};
pub use text::crash_text;

use std::collections::HashSet;

use prestore_crash::{Checked, Domain, Finding, FindingKind, First, ImageFound, Spot};
use prestore_trace::SiteId;
use serde::Serialize;

use crate::place::NamedPlace;
use crate::resolve::Resolver;
use crate::run::Run;
use whose::owned;

/// Version of the JSON form.
const SCHEMA_VERSION: u32 = 1;

/// What `prestore crash` says. Serialised, it is the JSON form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrashReport {
    /// Version of the JSON form.
    pub schema_version: u32,
    /// What was run, and how it was recorded.
    #[serde(flatten)]
    pub run: Run,
    /// What a power cut leaves.
    pub domain: Domain,
    /// The memory taken for persistent.
    pub image: Vec<NamedImage>,
    /// Crash images that a checker was run on: none without a checker.
    pub images: ImagesTried,
    /// The first image that the checker refused; none without a checker.
    pub first_failure: Option<NamedFailure>,
    /// The worst kinds first, and of a kind what was there most often.
    pub findings: Vec<NamedCrashFinding>,
    /// What libraries do on their own account: no findings, in the same order as those.
    pub libraries: Vec<InLibrary>,
}

/// What was checked.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What a power cut leaves.
    pub domain: Domain,
    /// The recording has values: what system calls wrote is known.
    pub values: bool,
}

/// Memory taken for persistent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedImage {
    /// As it was asked for; a file that nobody asked for: its path.
    pub name: String,
    /// Files that were mapped for it.
    pub files: Vec<String>,
    /// Bytes that the program had of it at most at once.
    pub bytes: u64,
}

/// How many crash images a checker was run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImagesTried {
    /// All.
    pub tried: u64,
    /// Those that it refused.
    pub failed: u64,
    /// There are no others.
    pub complete: bool,
}

/// One range and place where something is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedCrashFinding {
    /// What.
    pub kind: FindingKind,
    /// The store, flush or fence; of a library's, the line that calls it.
    #[serde(flatten)]
    pub place: NamedPlace,
    /// What that line calls to flush or fence, or to store and flush, where it does so by a helper.
    pub helper: Option<Helper>,
    /// [`NamedImage::name`]; `None` for fences.
    pub range: Option<String>,
    /// How often: stores, flushes or fences.
    pub count: u64,
    /// How often the line flushes, or stores to the image, in all.
    pub of: Option<u64>,
    /// How many redundant flushes were of a line that another thread had stored to last; `reason` says so.
    #[serde(skip)]
    pub of_another: u64,
    /// The first of them.
    pub first: First,
    /// The flush that goes with it, where there is one: `reason` says how.
    pub flush: Option<NamedPlace>,
    /// The fence that goes with it, where there is one.
    pub fence: Option<NamedPlace>,
    /// The store of a pointer to it that is persistent before it is.
    pub pointer: Option<NamedPlace>,
    /// Where the transaction was begun to which what is stored was not added before.
    pub transaction: Option<NamedPlace>,
    /// What is wrong and what mends it, in words.
    pub reason: String,
    /// What an image has shown to be wrong, in a few words.
    #[serde(skip)]
    pub seen: Option<&'static str>,
}

impl CrashReport {
    /// Names everything in `checked`. Sites in `generic` are in code that does what its callers mean
    /// (`memcpy`, a library's flush): their callers are named.
    pub fn new(
        checked: &Checked,
        about: About,
        mut run: Run,
        generic: &HashSet<SiteId>,
        resolver: &mut dyn Resolver,
    ) -> Self {
        run.notes.extend(checked.notes.iter().cloned());
        run.notes.extend(whole_pages::note(
            &checked.synced,
            &checked.flushers,
            resolver,
        ));
        let (mut findings, mut libraries) = (Vec::<NamedCrashFinding>::new(), Vec::new());
        for finding in &checked.findings {
            let image = finding.image.and_then(|i| checked.images.get(i));
            let range = image.map(|i| i.name.clone());
            let at = owned(&finding.at, helps(finding.kind), generic, resolver);
            if let Some(module) = at.library {
                libraries::add(&mut libraries, finding, range, module, at.place);
                continue;
            }
            let next = NamedCrashFinding::new(finding, at, range, about, generic, resolver);
            // One line may have several instructions, and be reached through several calls.
            match findings.iter_mut().find(|f| f.is_at(&next)) {
                Some(known) => known.join(next),
                None => findings.push(next),
            }
        }
        needed::tell(&mut findings, checked, about, generic, resolver);
        findings.sort_by_key(|f| (f.kind, std::cmp::Reverse(f.count)));
        libraries.sort_by_key(|l| (l.kind, std::cmp::Reverse(l.count)));
        Self {
            schema_version: SCHEMA_VERSION,
            run,
            domain: about.domain,
            image: checked.images.iter().map(NamedImage::from).collect(),
            images: ImagesTried::default(),
            first_failure: None,
            findings,
            libraries,
        }
    }

    /// Findings whose place has no source line: those SARIF cannot show.
    pub fn findings_without_line(&self) -> usize {
        let bare = self.findings.iter().filter(|f| f.place.line.is_none());
        bare.count()
    }
}

impl From<&ImageFound> for NamedImage {
    fn from(found: &ImageFound) -> Self {
        Self {
            name: found.name.clone(),
            files: found.files.clone(),
            bytes: found.bytes,
        }
    }
}

impl NamedCrashFinding {
    fn new(
        finding: &Finding,
        at: whose::Owned,
        range: Option<String>,
        about: About,
        generic: &HashSet<SiteId>,
        resolver: &mut dyn Resolver,
    ) -> Self {
        let mut by = |spot: &Spot| owned(spot, Some(Helps::Persist), generic, resolver);
        // Who stores a pointer by what is in a header may do so among other things: both lines are named.
        let storer = finding.pointer.as_ref().map(&mut by);
        let publisher = finding.fence.as_ref().map(&mut by);
        let mut near = |spot: &Spot| by(spot).place;
        let flush = finding.flush.as_ref().map(&mut near);
        let transaction = finding.transaction.as_ref().map(&mut near);
        let (pointer, fence) = (place_of(&storer), place_of(&publisher));
        let reason = match (&storer, &transaction) {
            (Some(storer), _) => {
                words::pointed_to(storer.in_words(), publisher.map(|p| p.in_words()))
            }
            (None, Some(begun)) => words::not_added(finding.kind, begun, about.values),
            (None, None) => words::reason(
                finding.kind,
                about.domain,
                (flush.as_ref(), fence.as_ref()),
                about.values,
            ),
        };
        Self {
            kind: finding.kind,
            reason,
            place: at.place,
            helper: at.helper,
            range,
            count: finding.count,
            of: None,
            of_another: 0,
            first: finding.first,
            flush,
            fence,
            pointer,
            transaction,
            seen: None,
        }
    }

    fn is_at(&self, other: &Self) -> bool {
        (self.title(), &self.range) == (other.title(), &other.range)
            && needed::is_line(&self.place, &other.place)
    }

    fn join(&mut self, other: Self) {
        self.count += other.count;
        let when = |f: &Self| (f.first.thread, f.first.instr);
        if when(&other) < when(self) {
            self.first = other.first;
            (self.flush, self.fence) = (other.flush, other.fence);
            (self.pointer, self.transaction) = (other.pointer, other.transaction);
            self.reason = other.reason;
        }
    }

    /// What is wrong, in a few words.
    pub fn title(&self) -> &'static str {
        match (self.seen, &self.pointer, &self.transaction) {
            (Some(seen), ..) => seen,
            (None, Some(_), _) => words::POINTED_TO,
            (None, None, Some(_)) => words::NOT_ADDED,
            (None, None, None) => words::title(self.kind),
        }
    }
}

fn place_of(owned: &Option<whose::Owned>) -> Option<NamedPlace> {
    owned.as_ref().map(|o| o.place.clone())
}

/// Whose line is it that `kind` is told of?
fn helps(kind: FindingKind) -> Option<Helps> {
    match kind {
        FindingKind::RedundantFlush | FindingKind::RedundantFence => Some(Helps::Persist),
        FindingKind::MissingFence => Some(Helps::StoreUnfenced),
        FindingKind::MissingFlush | FindingKind::Ordering => None,
    }
}
