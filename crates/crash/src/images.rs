//! The images that the program has: from mappings and allocations to regions.

use std::ops::Range;

use prestore_replay::Executor;
use prestore_trace::block::{BlockTable, MappedFile};
use prestore_trace::record::AllocKind;
use prestore_trace::{ProcessId, SiteId, ThreadId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::ImageFound;
use crate::error::CrashError;
use crate::image::Image;
use crate::memory::Memory;
use crate::regions::{Life, Piece, Region, Regions};
use crate::under_way::Pending;

/// Callers of a mapping's system call that its name is looked for in: the C library's `mmap`, and
/// what a library of the program puts around it.
const NEAR: usize = 3;

/// An image while the program runs.
struct Known {
    found: ImageFound,
    /// As it was asked for; `None`: a file that nobody asked for.
    asked: Option<Image>,
    /// It may be written, or was asked for.
    counts: bool,
    /// Bytes in it now, those that are mapped twice counted twice.
    live: u64,
    /// Bytes that were ever in it.
    ever: u64,
    /// Some of what it names is another's.
    taken: bool,
}

/// What makes a file the same file: not its name, which it may change, and which another may get.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileId {
    Identity(u64),
    /// In recordings that know no more.
    Path(String),
}

/// A file that is an image's.
struct File {
    image: usize,
    /// Of its lines.
    owner: u32,
    /// What it was called at first.
    path: String,
    /// From where to where in it it was mapped.
    span: Range<u64>,
}

/// All images.
pub(crate) struct Images<'a> {
    known: Vec<Known>,
    /// None were asked for.
    all_files: bool,
    allocates: &'a mut dyn FnMut(&str, SiteId) -> bool,
    /// What `allocates` has answered, by image and site.
    answers: FxHashMap<(usize, SiteId), bool>,
    /// Files that were mapped.
    files: FxHashMap<FileId, File>,
    /// Owners of allocations' lines, by image and process.
    processes: FxHashMap<(usize, ProcessId), u32>,
    /// Where calls return to, and the site of the call.
    calls: FxHashMap<ProcessId, FxHashMap<u64, SiteId>>,
    /// All files that were mapped, for whom asks for another.
    mapped: Vec<String>,
}

impl<'a> Images<'a> {
    pub(crate) fn new(asked: &[Image], allocates: &'a mut dyn FnMut(&str, SiteId) -> bool) -> Self {
        let known = asked.iter().map(|image| Known {
            found: ImageFound {
                name: name(image),
                files: Vec::new(),
                bytes: 0,
            },
            asked: Some(image.clone()),
            counts: true,
            live: 0,
            ever: 0,
            taken: false,
        });
        Self {
            known: known.collect(),
            all_files: asked.is_empty(),
            allocates,
            answers: FxHashMap::default(),
            files: FxHashMap::default(),
            processes: FxHashMap::default(),
            calls: FxHashMap::default(),
            mapped: Vec::new(),
        }
    }

    /// What a new process has from the start: the ranges.
    pub(crate) fn ranges(&mut self, memory: &mut Memory) -> Regions {
        let mut regions = Regions::default();
        let mut hidden = Vec::new();
        for (i, known) in self.known.iter_mut().enumerate() {
            if let Some(Image::Range(range)) = &known.asked {
                let region = Region {
                    end: range.end,
                    owner: memory.owner(i),
                    base: range.start,
                    origin: range.start,
                    life: Life::Range,
                };
                hidden.push(regions.add(range.start, region));
                known.found.bytes = range.end - range.start;
            }
        }
        for region in hidden {
            self.hides(region, memory);
        }
        regions
    }

    /// A range, `region`, is another's now, which begins where it does.
    fn hides(&mut self, region: Option<Region>, memory: &Memory) {
        if let Some(range) = region.filter(|r| r.life == Life::Range) {
            self.known[memory.image(range.owner)].taken = true;
        }
    }

    /// A file was mapped: `at` is address, bytes, and where in the file. `table` has what else it is called.
    pub(crate) fn mapped(
        &mut self,
        (file, table): (&MappedFile, &BlockTable),
        at: (u64, u64, u64),
        writable: bool,
        space: &mut Regions,
        memory: &mut Memory,
    ) {
        let path = named(&file.path);
        if !self.mapped.iter().any(|m| m == path) {
            self.mapped.push(path.to_owned());
        }
        let id = match file.identity {
            Some(identity) => FileId::Identity(identity),
            None => FileId::Path(path.to_owned()),
        };
        // Created under another name, it gets the one that is asked for later.
        let others = file.identity.map(|identity| table.names_of(identity));
        let mut names: Vec<&str> = others.into_iter().flatten().map(named).collect();
        names.sort_unstable();
        names.insert(0, path);
        let mut asked = names
            .into_iter()
            .filter_map(|n| Some((self.image_of(n)?, n)));
        let (image, path) = match (self.files.get(&id), asked.next()) {
            (None, Some(found)) => found,
            (None, None) if self.all_files => (self.further_file(path), path),
            (None, None) => return,
            (Some(file), other) => {
                let image = file.image;
                if let Some((other, _)) = other.filter(|(other, _)| *other != image) {
                    self.known[other].taken = true;
                }
                (image, path)
            }
        };
        let (addr, size, offset) = at;
        let known = &mut self.known[image];
        if !known.found.files.iter().any(|f| f == path) {
            known.found.files.push(path.to_owned());
        }
        known.counts |= writable;
        let file = self.files.entry(id).or_insert_with(|| File {
            image,
            owner: memory.owner(image),
            path: path.to_owned(),
            span: offset..offset,
        });
        let (owner, span) = (file.owner, &mut file.span);
        let before = span.end - span.start;
        *span = span.start.min(offset)..span.end.max(offset.saturating_add(size));
        let further = span.end - span.start - before;
        self.grows(image, size, further);
        let region = Region {
            end: addr.saturating_add(size),
            owner,
            base: offset,
            origin: 0,
            life: Life::File,
        };
        self.hides(space.add(addr, region), memory);
    }

    /// The image that a file of this name is.
    fn image_of(&self, path: &str) -> Option<usize> {
        self.known.iter().position(|known| match &known.asked {
            None => known.found.name == path,
            Some(asked @ Image::Named(_)) => asked.is_file(path),
            Some(Image::Range(_)) => false,
        })
    }

    /// An image that nobody asked for.
    fn further_file(&mut self, path: &str) -> usize {
        self.known.push(Known {
            found: ImageFound {
                name: path.to_owned(),
                files: Vec::new(),
                bytes: 0,
            },
            asked: None,
            counts: false,
            live: 0,
            ever: 0,
            taken: false,
        });
        self.known.len() - 1
    }

    /// Memory was handed out: `at` is address and bytes, `how` where the call returns to and the allocator's
    /// kind.
    pub(crate) fn allocated(
        &mut self,
        who: Executor<'_>,
        at: (u64, u64),
        how: (u64, AllocKind),
        calls: &[SiteId],
        space: &mut Regions,
        memory: &mut Memory,
    ) {
        let ((addr, size), (caller, kind)) = (at, how);
        if kind == AllocKind::Mmap {
            space.replace(addr, addr.saturating_add(size));
        }
        let named = |k: &Known| matches!(k.asked, Some(Image::Named(_)));
        if size == 0 || !self.known.iter().any(named) {
            return;
        }
        let returns = self.calls.entry(who.process).or_insert_with(|| {
            let blocks = who.table.iter();
            blocks.map(|b| (b.next_pc, b.last_site)).collect()
        });
        let caller = returns.get(&caller).copied();
        let near = if kind == AllocKind::Mmap { NEAR } else { 0 };
        let sites: Vec<SiteId> = caller
            .into_iter()
            .chain(calls.iter().copied().take(near))
            .collect();
        let mut fits = |i: usize, known: &Known| match &known.asked {
            Some(Image::Named(name)) => sites.iter().any(|&site| {
                let answer = self.answers.entry((i, site));
                *answer.or_insert_with(|| (self.allocates)(name, site))
            }),
            _ => false,
        };
        let known = self.known.iter().enumerate();
        let fitting: Vec<usize> = known.filter(|(i, k)| fits(*i, k)).map(|(i, _)| i).collect();
        let Some((&image, others)) = fitting.split_first() else {
            return;
        };
        for &other in others {
            self.known[other].taken = true;
        }
        self.grows(image, size, size);
        let owner = *(self.processes)
            .entry((image, who.process))
            .or_insert_with(|| memory.owner(image));
        let region = Region {
            end: addr.saturating_add(size),
            owner,
            base: addr,
            origin: addr,
            life: Life::Allocation,
        };
        self.hides(space.add(addr, region), memory);
    }

    /// `region`, which began at `addr`, is there no more.
    pub(crate) fn freed(
        &mut self,
        addr: u64,
        region: Region,
        memory: &mut Memory,
        threads: &FxHashMap<ThreadId, Pending>,
    ) {
        let size = region.end - addr;
        let live = &mut self.known[memory.image(region.owner)].live;
        *live = live.saturating_sub(size);
        if region.life == Life::Allocation {
            let piece = Piece {
                owner: region.owner,
                at: region.base,
                size,
                addr,
                offset: 0,
            };
            memory.freed(piece, threads);
        }
    }

    /// What the memory of `owner` is called: its file, else as it was asked for.
    pub(crate) fn name_of(&self, owner: u32, memory: &Memory) -> String {
        match self.files.values().find(|f| f.owner == owner) {
            Some(file) => file.path.clone(),
            None => self.known[memory.image(owner)].found.name.clone(),
        }
    }

    /// The name that files have had one after the other, whose memories are `owners`; `None`: they are other memories.
    pub(crate) fn created_anew(&self, owners: &[u32]) -> Option<&str> {
        let path = |owner: &u32| {
            let file = self.files.values().find(|f| f.owner == *owner)?;
            Some(file.path.as_str())
        };
        let (last, before) = owners.split_last()?;
        let last = path(last)?;
        let all = !before.is_empty() && before.iter().all(|o| path(o) == Some(last));
        all.then_some(last)
    }

    /// `bytes` more of the image are mapped or allocated, `further` of them for the first time: what is mapped twice is one memory all
    /// the same.
    fn grows(&mut self, image: usize, bytes: u64, further: u64) {
        let known = &mut self.known[image];
        known.live += bytes;
        known.ever += further;
        known.found.bytes = known.found.bytes.max(known.live.min(known.ever));
    }

    /// The images that the program had, and for each that was known its place among them. `knows_files`: the
    /// recording in `dir` knows them.
    pub(crate) fn found(
        self,
        knows_files: bool,
        dir: String,
        touched: &FxHashSet<usize>,
    ) -> Result<(Vec<ImageFound>, Vec<Option<usize>>), CrashError> {
        let (mut all, mut places) = (Vec::new(), Vec::new());
        for (i, known) in self.known.into_iter().enumerate() {
            let asked_file = known
                .asked
                .as_ref()
                .filter(|a| matches!(a, Image::Named(_)));
            if asked_file.is_some() && known.found.bytes == 0 {
                if !knows_files {
                    return Err(CrashError::NoMappedFiles(dir));
                }
                let mapped = match self.mapped.as_slice() {
                    [] => "it mapped none that its stores reach".to_owned(),
                    files => format!("it mapped {}", files.join(", ")),
                };
                let image = known.found.name;
                let taken = known.taken
                    || asked_file.is_some_and(|a| self.mapped.iter().any(|m| a.is_file(m)));
                return Err(match taken {
                    true => CrashError::NamedTwice(image),
                    false => CrashError::NoSuchImage { image, mapped },
                });
            }
            if matches!(known.asked, Some(Image::Range(_))) && !touched.contains(&i) {
                let image = known.found.name;
                return Err(match known.taken {
                    true => CrashError::NamedTwice(image),
                    false => CrashError::UnusedRange(image),
                });
            }
            // Files that are only read, as caches of the C library's are no persistent memory.
            let kept = known.counts || touched.contains(&i);
            places.push(kept.then_some(all.len()));
            all.extend(kept.then_some(known.found));
        }
        if all.is_empty() {
            return Err(CrashError::NothingMapped(dir));
        }
        Ok((all, places))
    }
}

/// What a file that was mapped is called.
fn named(path: &str) -> &str {
    match path.strip_suffix(" (deleted)").unwrap_or(path) {
        "" => "[a file without a name]",
        path => path,
    }
}

fn name(image: &Image) -> String {
    match image {
        Image::Range(range) => format!("{:#x}-{:#x}", range.start, range.end),
        Image::Named(name) => name.clone(),
    }
}
