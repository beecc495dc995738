//! The pass over a recording.

use prestore_replay::{Executor, OrderedSink, in_order, need_values};
use prestore_trace::block::Block;
use prestore_trace::container::{Manifest, Trace};
use prestore_trace::content::Content;
use prestore_trace::record::Special;
use prestore_trace::replay::{CallStack, CallTree, each_touch};
use prestore_trace::{EventKind, FenceKind, FlushKind, ProcessId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::error::CrashError;
use crate::finding::{At, Finding, First};
use crate::image::{Domain, Image};
use crate::images::Images;
use crate::logged::{Logged, Logs};
use crate::memory::{Memory, Pending, Store};
use crate::regions::Regions;

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
    /// What was left out, a sentence each.
    pub notes: Vec<String>,
}

/// What is said where all is missing.
const NO_FLUSH: &str = "the program flushed nothing of this memory, neither by instructions nor by msync; \
                        what fsync writes back is not followed";

/// Ranges are not filled up with zeros any further.
const LARGEST_RANGE: u64 = 1 << 30;

/// Checks the recording. `allocates` answers whether the call at a site is what a name
/// ([`Image::Named`]) means.
///
/// Memory: what is not persistent yet, some 200 bytes a store's place and line, and 50 bytes for each
/// line of the images that was ever touched.
///
/// # Errors
/// [`CrashError`]: the recording lacks what is needed, or an image is not in it.
pub fn check(
    trace: &Trace,
    options: &Options,
    allocates: &mut dyn FnMut(&str, SiteId) -> bool,
) -> Result<Checked, CrashError> {
    walk(trace, options, allocates, None).map(|(checked, _)| checked)
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
    allocates: &mut dyn FnMut(&str, SiteId) -> bool,
) -> Result<(Checked, Logged), CrashError> {
    need_values(trace)?;
    let (checked, logged) = walk(trace, options, allocates, Some(Logs::default()))?;
    match logged {
        Some(logged) => Ok((checked, logged)),
        None => Err(CrashError::NothingStored(trace.dir().display().to_string())),
    }
}

fn walk(
    trace: &Trace,
    options: &Options,
    allocates: &mut dyn FnMut(&str, SiteId) -> bool,
    logs: Option<Logs>,
) -> Result<(Checked, Option<Logged>), CrashError> {
    let manifest = trace.manifest();
    let dir = trace.dir().display().to_string();
    whole(manifest, &dir)?;
    let knows_files = manifest.info.scope.mapped_files;
    if !knows_files && options.images.is_empty() {
        return Err(CrashError::NoMappedFiles(dir));
    }
    let mut pass = Pass {
        trace,
        images: Images::new(&options.images, allocates),
        memory: Memory::new(options.domain),
        spaces: FxHashMap::default(),
        threads: FxHashMap::default(),
        stacks: FxHashMap::default(),
        tree: CallTree::default(),
        logs,
    };
    let read = prestore_replay::Options {
        lenient: options.lenient,
        ..prestore_replay::Options::default()
    };
    let mut notes = in_order(trace, &read, &mut pass)?;
    let Pass {
        images,
        memory,
        threads,
        tree,
        logs,
        ..
    } = pass;
    let mut owners = logs.as_ref().map(Logs::owners).unwrap_or_default();
    let mut names: Vec<String> = owners.iter().map(|o| images.name_of(*o, &memory)).collect();
    if names.len() > 1 {
        return Err(CrashError::SeveralImages { dir, names });
    }
    let touched = memory.touched();
    if options.domain == Domain::Adr && !memory.any_flush && !touched.is_empty() {
        notes.push(NO_FLUSH.to_owned());
    }
    let mut findings = memory.end(&threads).findings(&tree);
    let (images, kept) = images.found(knows_files, dir, &touched)?;
    for finding in &mut findings {
        finding.image = finding.image.and_then(|i| kept[i]);
    }
    let mut logged = match (logs, owners.pop(), names.pop()) {
        (Some(logs), Some(owner), Some(name)) => logs.logged(owner, name, &tree)?,
        _ => None,
    };
    if let ([Image::Range(range)], Some(logged)) = (&options.images[..], &mut logged) {
        let bytes = (range.end - range.start).min(LARGEST_RANGE) as usize;
        logged.log.grow(logged.pad + bytes);
    }
    let checked = Checked {
        images,
        findings,
        notes,
    };
    Ok((checked, logged))
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

struct Pass<'a> {
    trace: &'a Trace,
    images: Images<'a>,
    memory: Memory,
    spaces: FxHashMap<ProcessId, Regions>,
    threads: FxHashMap<ThreadId, Pending>,
    stacks: FxHashMap<ThreadId, CallStack>,
    tree: CallTree,
    /// Where values are asked for.
    logs: Option<Logs>,
}

impl Pass<'_> {
    /// A forked process has what its parent had mapped.
    fn enter(&mut self, process: ProcessId) {
        if self.spaces.contains_key(&process) {
            return;
        }
        let own = self.trace.process(process);
        let parent = (self.spaces.keys()).find(|&&p| self.trace.process(p).began(&own));
        let inherited = parent.and_then(|p| self.spaces.get(p)).cloned();
        let space = inherited.unwrap_or_else(|| self.images.ranges(&mut self.memory));
        self.spaces.insert(process, space);
    }

    fn event(
        &mut self,
        who: Executor<'_>,
        kind: EventKind,
        addr: u64,
        size: u64,
        at: At,
        first: First,
    ) {
        let Some(space) = self.spaces.get(&who.process) else {
            return;
        };
        let pending = self.threads.entry(who.thread).or_default();
        let memory = &mut self.memory;
        let eadr = memory.domain == Domain::Eadr;
        match kind {
            EventKind::Store | EventKind::NtStore | EventKind::AtomicRmw => {
                let non_temporal = kind == EventKind::NtStore;
                if kind == EventKind::AtomicRmw {
                    memory.fence(pending, at, first, false);
                    if let Some(logs) = &mut self.logs {
                        logs.fence(at, first);
                    }
                }
                pending.flushed |= non_temporal;
                let store = Store {
                    at,
                    first,
                    non_temporal,
                };
                let mut any = false;
                space.pieces(addr, size, |piece| {
                    any = true;
                    memory.store(pending, store, piece);
                });
                if let Some(logs) = self.logs.as_mut().filter(|_| any) {
                    logs.store(at, first, (addr, size), non_temporal, space);
                }
            }
            EventKind::Flush(kind) => {
                pending.flushed |= !eadr;
                let alone = kind == FlushKind::Clflush;
                space.pieces(addr, 1, |piece| {
                    memory.flush(pending, at, first, piece, alone);
                    if let Some(logs) = &mut self.logs {
                        logs.flush(at, first, piece, alone);
                    }
                });
            }
            EventKind::Fence(kind @ (FenceKind::Store | FenceKind::Full)) => {
                let told = kind == FenceKind::Store && !space.is_empty();
                memory.fence(pending, at, first, told);
                if let Some(logs) = &mut self.logs {
                    logs.fence(at, first);
                }
            }
            _ => {}
        }
    }
}

impl OrderedSink for Pass<'_> {
    fn exec(
        &mut self,
        who: Executor<'_>,
        before: u64,
        block: &Block,
        values: &[u64],
        executed: u32,
    ) {
        let stack = self.stacks.entry(who.thread).or_default();
        stack.enter(block, &mut self.tree);
        let node = stack.node();
        self.enter(who.process);
        if let Some(logs) = &mut self.logs {
            logs.exec(who, before, block, values, executed);
        }
        for r in &block.refs {
            if u32::from(r.instr) >= executed {
                break;
            }
            if matches!(r.kind, EventKind::Load) {
                continue;
            }
            let at = At { site: r.site, node };
            let first = First {
                process: who.process,
                thread: who.thread,
                instr: before.wrapping_add(u64::from(r.instr)),
                address: 0,
                offset: 0,
            };
            if r.is_addressless() {
                self.event(who, r.kind, 0, 0, at, first);
                continue;
            }
            each_touch(who.table.xsave(), r, values, |addr, size| {
                self.event(who, r.kind, addr, size, at, first);
            });
        }
    }

    fn special(&mut self, who: Executor<'_>, _: u64, special: Special) {
        self.enter(who.process);
        let Some(space) = self.spaces.get_mut(&who.process) else {
            return;
        };
        match special {
            Special::Alloc {
                addr,
                size,
                caller,
                kind,
            } => {
                let stack = self.stacks.entry(who.thread).or_default();
                let calls: Vec<SiteId> = self.tree.chain(stack.node()).collect();
                (self.images).allocated(
                    who,
                    (addr, size),
                    (caller, kind),
                    &calls,
                    space,
                    &mut self.memory,
                );
                if let Some(logs) = &mut self.logs {
                    space.pieces(addr, size, |piece| logs.mapped(who.thread, piece));
                }
            }
            Special::Mapped {
                addr,
                size,
                offset,
                file,
                writable,
            } => {
                let path = who.table.mapped_file(file).cloned().unwrap_or_default();
                let mapped = (addr, size, offset);
                (self.images).mapped(&path, mapped, writable, space, &mut self.memory);
                if let Some(logs) = &mut self.logs {
                    space.pieces(addr, size, |piece| logs.mapped(who.thread, piece));
                }
            }
            Special::Free { addr, .. } => {
                if let Some(region) = space.remove(addr) {
                    (self.images).freed(addr, region, &mut self.memory, &self.threads);
                }
            }
            Special::Synced { addr, size } => {
                let memory = &mut self.memory;
                space.pieces(addr, size, |piece| {
                    memory.synced(piece);
                    if let Some(logs) = &mut self.logs {
                        logs.synced(piece);
                    }
                });
            }
            _ => {}
        }
    }

    fn content(&mut self, who: Executor<'_>, _: u64, content: Content<'_>) {
        self.enter(who.process);
        let (Some(logs), Some(space)) = (&mut self.logs, self.spaces.get(&who.process)) else {
            return;
        };
        let node = self.stacks.entry(who.thread).or_default().node();
        logs.content(who, &content, node, space);
    }
}
