//! Code sites: places in the code, named by module and offset so that they outlive the process.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// A place in the code: an index into the [`SiteTable`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SiteId(pub u32);

impl SiteId {
    /// Site of events that no instruction made (thread start and end).
    pub const NONE: Self = Self(u32::MAX);
}

/// A module (executable, shared library, or an anonymous region of JIT code).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ModuleId(pub u32);

/// What is needed to find a module's symbols again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Module {
    /// Absolute path at recording time; `[jit:PID]` for code outside any module.
    pub path: String,
    /// GNU build id, lower-case hex, empty where the module has none.
    pub build_id: String,
    /// Address the module was loaded at minus its preferred address (0 for JIT code): a site's
    /// `offset` is an address as the file's symbols have it ("stated virtual memory address").
    pub load_bias: u64,
}

/// A place in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The module it is in.
    pub module: ModuleId,
    /// Address in the terms of the module's own symbol table (absolute for JIT code).
    pub offset: u64,
}

/// Gives places in the code their numbers.
pub trait InternSites {
    /// The id of `site`.
    fn intern(&mut self, site: Site) -> SiteId;
    /// The id of `module`; modules are told apart by path and build id.
    fn intern_module(&mut self, module: Module) -> ModuleId;
}

/// A table that is complete: what it does not have gets no number.
#[derive(Debug)]
pub(crate) struct Known<'a>(pub(crate) &'a SiteTable);

impl InternSites for Known<'_> {
    fn intern(&mut self, site: Site) -> SiteId {
        let (chunk, at) = place(site);
        let known = self.0.by_place.get(&chunk);
        known.map_or(SiteId::NONE, |&c| self.0.chunks[c as usize][at])
    }

    fn intern_module(&mut self, module: Module) -> ModuleId {
        let known = self.0.by_module.get(&(module.path, module.build_id));
        known.copied().unwrap_or(ModuleId(u32::MAX))
    }
}

/// Bytes of code whose sites lie together.
const CHUNK: u64 = 64;

/// All sites of a trace, shared by its processes: the same library code is one site in all.
#[derive(Clone, Debug, Default)]
pub struct SiteTable {
    sites: Vec<Site>,
    modules: Vec<Module>,
    /// Index in `chunks` of each [`CHUNK`] bytes of code that have sites.
    by_place: FxHashMap<(ModuleId, u64), u32>,
    /// The sites of each address in them, [`SiteId::NONE`] where there is none. A block's sites are neighbours: looked up one by
    /// one, each was a miss of the host's caches.
    chunks: Vec<[SiteId; CHUNK as usize]>,
    /// The chunk asked for last.
    last: Option<((ModuleId, u64), u32)>,
    by_module: FxHashMap<(String, String), ModuleId>,
}

/// The chunk of a site, and where it is in that.
fn place(site: Site) -> ((ModuleId, u64), usize) {
    (
        (site.module, site.offset / CHUNK),
        (site.offset % CHUNK) as usize,
    )
}

impl InternSites for SiteTable {
    fn intern(&mut self, site: Site) -> SiteId {
        SiteTable::intern(self, site)
    }

    fn intern_module(&mut self, module: Module) -> ModuleId {
        SiteTable::intern_module(self, module)
    }
}

impl SiteTable {
    /// The id of `site`, new or known.
    pub fn intern(&mut self, site: Site) -> SiteId {
        let (chunk, at) = place(site);
        let index = match self.last {
            Some((last, index)) if last == chunk => index,
            _ => {
                let chunks = &mut self.chunks;
                let index = *self.by_place.entry(chunk).or_insert_with(|| {
                    chunks.push([SiteId::NONE; CHUNK as usize]);
                    chunks.len() as u32 - 1
                });
                self.last = Some((chunk, index));
                index
            }
        };
        let known = &mut self.chunks[index as usize][at];
        if *known == SiteId::NONE {
            *known = SiteId(self.sites.len() as u32);
            self.sites.push(site);
        }
        *known
    }

    /// The id of `module`, new or known; modules are told apart by path and build id.
    pub fn intern_module(&mut self, module: Module) -> ModuleId {
        let next = ModuleId(self.modules.len() as u32);
        let key = (module.path.clone(), module.build_id.clone());
        *self.by_module.entry(key).or_insert_with(|| {
            self.modules.push(module);
            next
        })
    }

    /// The site of `id`, `None` for [`SiteId::NONE`] and foreign ids.
    pub fn get(&self, id: SiteId) -> Option<Site> {
        self.sites.get(id.0 as usize).copied()
    }

    /// The module of `id`.
    pub fn module(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(id.0 as usize)
    }

    /// All modules, by id.
    pub fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// How many sites there are; ids run from 0.
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// No sites yet?
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }
}
