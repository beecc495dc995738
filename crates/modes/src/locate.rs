//! Where a recording's ranges lie.

use std::ops::Range;

use prestore_crash::Image;
use prestore_replay::{Executor, Options, OrderedSink, ProcessMemory, SourceError, in_order};
use prestore_trace::block::Block;
use prestore_trace::container::Trace;
use prestore_trace::record::{AllocKind, Special};
use prestore_trace::replay::{CallStack, CallTree};
use prestore_trace::{ProcessId, SiteId, ThreadId};
use rustc_hash::FxHashMap;

use crate::ModesError;

/// Callers of a mapping's system call that its name is looked for in: the C library's `mmap`, and what a library of the
/// program puts around it.
const NEAR: usize = 3;

/// A range, and all memory that it ever was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// As it was asked for; a file that nobody asked for: its path.
    pub name: String,
    /// Simulated addresses ([`ProcessMemory`]), in no order; they may overlap.
    pub ranges: Vec<Range<u64>>,
}

/// Finds `images` in `trace`, named as given; without any, all files that the program mapped so that its stores
/// reach them. `allocates` answers whether the call at a site is what a name means.
///
/// A range is all memory that it ever was: an address that was allocated there once counts for all of the run.
///
/// # Errors
/// The recording cannot be read, or a name is not in it.
pub fn locate(
    trace: &Trace,
    images: &[(String, Image)],
    lenient: bool,
    allocates: &mut dyn FnMut(&str, SiteId) -> bool,
) -> Result<Vec<Located>, ModesError> {
    let found = images.iter().map(|(name, _)| Located {
        name: name.clone(),
        ranges: Vec::new(),
    });
    let mut pass = Pass {
        trace,
        images,
        found: found.collect(),
        mapped: Vec::new(),
        allocates,
        answers: FxHashMap::default(),
        calls: FxHashMap::default(),
        stacks: FxHashMap::default(),
        tree: CallTree::default(),
    };
    for (located, (_, image)) in pass.found.iter_mut().zip(images) {
        if let Image::Range(range) = image {
            let mut processes: Vec<ProcessId> = (trace.manifest().threads.iter())
                .map(|t| t.process)
                .collect();
            processes.sort_unstable();
            processes.dedup();
            for process in processes {
                let table = trace.table(process).map_err(SourceError::from)?;
                let memory = ProcessMemory::of(trace, process, &table);
                located.ranges.extend(memory.places(range.clone()));
            }
        }
    }
    let options = Options {
        lenient,
        ..Options::default()
    };
    in_order(trace, &options, &mut pass)?;
    let Pass { found, mapped, .. } = pass;
    if found.is_empty() {
        return Err(ModesError::NothingPersistent(
            trace.dir().display().to_string(),
        ));
    }
    if let Some(lost) = found.iter().find(|located| located.ranges.is_empty()) {
        let mapped = match mapped.as_slice() {
            [] => "it mapped none that its stores reach".to_owned(),
            files => format!("it mapped {}", files.join(", ")),
        };
        let name = lost.name.clone();
        return Err(ModesError::NoSuchRange { name, mapped });
    }
    Ok(found)
}

struct Pass<'a> {
    trace: &'a Trace,
    images: &'a [(String, Image)],
    found: Vec<Located>,
    /// All files that were mapped.
    mapped: Vec<String>,
    allocates: &'a mut dyn FnMut(&str, SiteId) -> bool,
    answers: FxHashMap<(usize, SiteId), bool>,
    /// Where calls return to, and the site of the call.
    calls: FxHashMap<ProcessId, FxHashMap<u64, SiteId>>,
    stacks: FxHashMap<ThreadId, CallStack>,
    tree: CallTree,
}

impl Pass<'_> {
    fn mapped(&mut self, path: &str, range: Range<u64>, writable: bool) {
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        if !self.mapped.iter().any(|m| m == path) {
            self.mapped.push(path.to_owned());
        }
        if self.images.is_empty() {
            if !writable {
                return;
            }
            match self.found.iter_mut().find(|f| f.name == path) {
                Some(found) => found.ranges.push(range),
                None => self.found.push(Located {
                    name: path.to_owned(),
                    ranges: vec![range],
                }),
            }
            return;
        }
        let wanted = self.images.iter().position(|(_, i)| i.is_file(path));
        if let Some(which) = wanted {
            self.found[which].ranges.push(range);
        }
    }

    fn allocated(&mut self, who: Executor<'_>, caller: u64, kind: AllocKind, range: Range<u64>) {
        let returns = self.calls.entry(who.process).or_insert_with(|| {
            let blocks = who.table.iter();
            blocks.map(|b| (b.next_pc, b.last_site)).collect()
        });
        let near = if kind == AllocKind::Mmap { NEAR } else { 0 };
        let stack = self.stacks.entry(who.thread).or_default();
        let sites: Vec<SiteId> = (returns.get(&caller).copied().into_iter())
            .chain(self.tree.chain(stack.node()).take(near))
            .collect();
        for (which, (_, image)) in self.images.iter().enumerate() {
            let Image::Named(name) = image else { continue };
            let fits = sites.iter().any(|&site| {
                let answer = self.answers.entry((which, site));
                *answer.or_insert_with(|| (self.allocates)(name, site))
            });
            if fits {
                self.found[which].ranges.push(range.clone());
            }
        }
    }
}

impl OrderedSink for Pass<'_> {
    fn exec(&mut self, who: Executor<'_>, _: u64, block: &Block, _: &[u64], _: u32) {
        let stack = self.stacks.entry(who.thread).or_default();
        stack.enter(block, &mut self.tree);
    }

    fn special(&mut self, who: Executor<'_>, _: u64, special: Special) {
        let memory = ProcessMemory::of(self.trace, who.process, who.table);
        let place = |addr, size| memory.place(addr)..memory.place(addr).saturating_add(size);
        match special {
            Special::Alloc {
                addr,
                size,
                caller,
                kind,
            } => self.allocated(who, caller, kind, place(addr, size)),
            Special::Mapped {
                addr,
                size,
                file,
                writable,
                ..
            } => {
                let file = who.table.mapped_file(file).cloned().unwrap_or_default();
                self.mapped(&file.path, place(addr, size), writable);
            }
            _ => {}
        }
    }
}
