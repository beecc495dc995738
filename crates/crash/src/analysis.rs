//! From a recording to what is wrong with its persistent memory.

use std::collections::BTreeSet;

use prestore_replay::{in_order_of_waits, need_values};
use prestore_trace::SiteId;
use prestore_trace::container::{Manifest, Trace};
use prestore_trace::replay::CallTree;
use rustc_hash::FxHashMap;

use crate::error::CrashError;
use crate::finding::{At, Finding, FindingKind, Spot};
use crate::image::{Domain, Image};
use crate::images::Images;
use crate::logged::{Logged, Logs};
use crate::memory::Memory;
use crate::pass::Pass;
use crate::transactions::Transactions;
use crate::values::Values;

/// What to check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What is persistent; none: all files that the program mapped so that its stores reach them.
    pub images: Vec<Image>,
    /// What a power cut leaves.
    pub domain: Domain,
    /// Take what can be read of a damaged recording. The trace must have been opened so too.
    pub lenient: bool,
}

/// An image that the program had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFound {
    /// As it was asked for; a file that nobody asked for: its path.
    pub name: String,
    /// Files that were mapped for it.
    pub files: Vec<String>,
    /// Bytes in it that the program had at most at once; of files, those mapped.
    pub bytes: u64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The images; [`Finding::image`] is an index.
    pub images: Vec<ImageFound>,
    /// The worst kinds first, and of a kind what was there most often.
    pub findings: Vec<Finding>,
    /// Calls of `msync` that have written the images back, each place once.
    pub synced: Vec<Spot>,
    /// Instructions that have flushed their lines.
    pub flushers: Vec<SiteId>,
    /// How often instructions of which a flush was redundant have flushed in all, by the calls that led there.
    pub flushed: Vec<Executed>,
    /// How often those that were redundant were of a line that another thread had stored to last.
    pub of_another: Vec<Executed>,
    /// How often instructions whose stores are findings have stored in all, a line at a time.
    pub stored: Vec<Executed>,
    /// What was left out, a sentence each.
    pub notes: Vec<String>,
}

/// How often one place has flushed lines of an image, or stored to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// The flush or store.
    pub at: Spot,
    /// Index in [`Checked::images`].
    pub image: usize,
    /// How often.
    pub count: u64,
}

/// What is said where all is missing.
const NO_FLUSH: &str = "the program flushed nothing of this memory, neither by instructions nor by msync; \
                        what fsync writes back is not followed";

/// Ranges are not filled up with zeros any further.
const LARGEST_RANGE: u64 = 1 << 30;

/// Answers what code is called.
pub struct Naming<'a> {
    /// Is the call at a site what a name ([`Image::Named`]) means?
    pub allocates: &'a mut dyn FnMut(&str, SiteId) -> bool,
    /// The name of the function whose first instruction is there, as the symbol table has it; `None`: there is none.
    pub function_at: &'a mut dyn FnMut(SiteId) -> Option<String>,
}

/// Checks the recording.
///
/// Memory: what is not persistent yet, some 200 bytes a store's place and line, and 50 bytes for each
/// line of the images that was ever stored to, 4 for others that were flushed; of a recording with values 70 more.
///
/// # Errors
/// [`CrashError`]: the recording lacks what is needed, or an image is not in it.
pub fn check(trace: &Trace, options: &Options, naming: Naming<'_>) -> Result<Checked, CrashError> {
    walk(trace, options, naming, None).map(|(checked, _)| checked)
}

/// As [`check`], and the log of what happened to the image: of a recording with values, and of
/// one image.
///
/// Memory: beside that of [`check`], the [`Log`](crate::Log) and a second image.
///
/// # Errors
/// As [`check`]; and [`CrashError::SeveralImages`], [`CrashError::NothingStored`].
pub fn check_and_log(
    trace: &Trace,
    options: &Options,
    naming: Naming<'_>,
) -> Result<(Checked, Logged), CrashError> {
    need_values(trace)?;
    let (checked, logged) = walk(trace, options, naming, Some(Logs::default()))?;
    match logged {
        Some(logged) => Ok((checked, logged)),
        None => Err(CrashError::NothingStored(trace.dir().display().to_string())),
    }
}

fn walk(
    trace: &Trace,
    options: &Options,
    naming: Naming<'_>,
    logs: Option<Logs>,
) -> Result<(Checked, Option<Logged>), CrashError> {
    let manifest = trace.manifest();
    let dir = trace.dir().display().to_string();
    whole(manifest, &dir)?;
    let scope = &manifest.info.scope;
    if !scope.mapped_files && options.images.is_empty() {
        return Err(CrashError::NoMappedFiles(dir));
    }
    let mut pass = Pass {
        trace,
        images: Images::new(&options.images, naming.allocates),
        memory: Memory::new(options.domain, scope.values),
        spaces: FxHashMap::default(),
        threads: FxHashMap::default(),
        places: FxHashMap::default(),
        tree: CallTree::default(),
        synced: BTreeSet::new(),
        flushers: BTreeSet::new(),
        function_at: naming.function_at,
        transactions: Transactions::default(),
        adds: false,
        values: scope.values.then(Values::default),
        logs,
    };
    let read = prestore_replay::Options {
        lenient: options.lenient,
        ..prestore_replay::Options::default()
    };
    let notes = in_order_of_waits(trace, &read, &mut pass)?;
    found(pass, options, notes)
}

/// What a pass has found.
fn found(
    pass: Pass<'_>,
    options: &Options,
    mut notes: Vec<String>,
) -> Result<(Checked, Option<Logged>), CrashError> {
    let dir = pass.trace.dir().display().to_string();
    let knows_files = pass.trace.manifest().info.scope.mapped_files;
    let Pass {
        images,
        mut memory,
        threads,
        tree,
        synced,
        flushers,
        values,
        logs,
        ..
    } = pass;
    let mut owners = logs.as_ref().map(Logs::owners).unwrap_or_default();
    // By their numbers, which is the order of their first mappings.
    if let (Some(name), Some(last)) = (images.created_anew(&owners), owners.last()) {
        notes.push(format!(
            "{name} was created anew while the program ran: images are of the last of {} files of this name that it stored to",
            owners.len()
        ));
        owners = vec![*last];
    }
    let mut names: Vec<String> = owners.iter().map(|o| images.name_of(*o, &memory)).collect();
    if names.len() > 1 {
        return Err(CrashError::SeveralImages { dir, names });
    }
    let touched = memory.touched();
    if options.domain == Domain::Adr && !memory.any_flush && !touched.is_empty() {
        notes.push(NO_FLUSH.to_owned());
    }
    let flushes = std::mem::take(&mut memory.flushes);
    let stores = std::mem::take(&mut memory.stores);
    let of_another = std::mem::take(&mut memory.of_another);
    let mut findings = memory.end(&threads).findings(&tree);
    let (images, kept) = images.found(knows_files, dir, &touched)?;
    for finding in &mut findings {
        finding.image = finding.image.and_then(|i| kept[i]);
    }
    let executed = |counts, is_such: fn(FindingKind) -> bool| {
        let found = findings.iter().filter(|f| is_such(f.kind));
        let sites: BTreeSet<SiteId> = found.map(|f| f.at.site).collect();
        executed(counts, &sites, &kept, &tree)
    };
    let flushed = executed(flushes, |kind| kind == FindingKind::RedundantFlush);
    let of_another = executed(of_another, |kind| kind == FindingKind::RedundantFlush);
    let stored = executed(stores, |kind| kind <= FindingKind::Ordering);
    let mut logged = match (logs, owners.pop(), names.pop()) {
        (Some(logs), Some(owner), Some(name)) => {
            let lost = values.map_or(0, |v| v.lost());
            logs.logged(owner, name, &tree, lost)?
        }
        _ => None,
    };
    if let ([Image::Range(range)], Some(logged)) = (&options.images[..], &mut logged) {
        let bytes = (range.end - range.start).min(LARGEST_RANGE) as usize;
        logged.log.grow(logged.pad + bytes);
    }
    let checked = Checked {
        images,
        findings,
        synced: synced.iter().map(|at| at.spot(&tree)).collect(),
        flushers: flushers.into_iter().collect(),
        flushed,
        of_another,
        stored,
        notes,
    };
    Ok((checked, logged))
}

/// Of `counts` those of `sites`, in the order of their places. `kept`: what is left of the images.
fn executed(
    counts: FxHashMap<(At, usize), u64>,
    sites: &BTreeSet<SiteId>,
    kept: &[Option<usize>],
    tree: &CallTree,
) -> Vec<Executed> {
    let mut counts: Vec<_> = (counts.into_iter())
        .filter(|((at, _), _)| sites.contains(&at.site))
        .collect();
    counts.sort_unstable();
    let of_image = counts.into_iter().filter_map(|((at, image), count)| {
        Some(Executed {
            at: at.spot(tree),
            image: kept[image]?,
            count,
        })
    });
    of_image.collect()
}

/// Every flush and fence has to be there.
fn whole(manifest: &Manifest, dir: &str) -> Result<(), CrashError> {
    let windows = &manifest.info.windows;
    let windowed = windows.skip > 0 || windows.take.is_some() || windows.regions;
    let what = match manifest.info.scope.mode.as_str() {
        "functions" => "only the accesses of chosen functions",
        "count" => "only counts of stores",
        _ if windowed => "only windows or regions of the run",
        _ => return Ok(()),
    };
    Err(CrashError::Partial {
        dir: dir.to_owned(),
        what,
    })
}
