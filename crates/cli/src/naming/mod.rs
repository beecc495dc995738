//! Names for sites: what the analysis and the report ask, answered from symbols.

mod calls;
mod chosen;
mod loader;
mod spot;
mod tail;
mod templates;

pub use calls::CallNames;
pub use chosen::is_chosen;
pub use spot::{module, place};

use std::path::PathBuf;

use chosen::ChosenCode;
use loader::is_loader;
use prestore_dirtbuster::{SiteClass, SiteOracle};
use prestore_report::{Frame, Place, Resolver, SiteKind, is_generic_library};
use prestore_symbols::{Frame as SymbolFrame, FunctionName, ModuleRef, Note, Options, Symbols};
use prestore_trace::container::NamedCode;
use prestore_trace::filter::{Choice, ScopeOracle};
use prestore_trace::{Module, Site, SiteId, SiteTable};

use crate::config;

/// Names sites of one recording.
pub struct Namer {
    sites: SiteTable,
    symbols: Symbols,
    chosen: ChosenCode,
}

/// Chosen code that a run did not come to.
pub struct NotMet {
    /// It came to none.
    pub all: bool,
    /// Which, and what to do.
    pub why: String,
}

/// Functions that write what their callers mean, wherever they are (static programs, own copies).
const GENERIC_FUNCTIONS: [&str; 14] = [
    "memcpy",
    "memmove",
    "memset",
    "mempcpy",
    "memccpy",
    "bcopy",
    "bzero",
    "strcpy",
    "strncpy",
    "strcat",
    "stpcpy",
    "wmemcpy",
    "wmemset",
    "_intel_fast_mem",
];

impl Namer {
    /// Looks for separate debug files in `debug_dirs` too, and in those of the configuration file.
    pub fn new(sites: SiteTable, debug_dirs: &[PathBuf]) -> Self {
        let debug_dirs = debug_dirs.iter().chain(config::debug_dirs());
        let options = Options::default().with_debug_dirs(debug_dirs.cloned());
        Self {
            sites,
            symbols: Symbols::new(options),
            chosen: ChosenCode::default(),
        }
    }

    /// Makes this code known to the analysis: its keys are those that [`is_chosen`] tells.
    pub fn choose(&mut self, chosen: &NamedCode) {
        self.chosen = ChosenCode::new(chosen);
    }

    /// That some of the chosen code was not met, if so.
    pub fn tell_not_met(&self) -> Option<NotMet> {
        let (missing, all) = self.chosen.not_met();
        (!missing.is_empty()).then(|| NotMet {
            all,
            why: format!(
                "no stores of {} were seen; `--scope count` lists the functions that store",
                missing.join(", ")
            ),
        })
    }

    /// Takes the sites of a recording that is over.
    pub fn set_sites(&mut self, sites: SiteTable) {
        self.sites = sites;
    }

    /// What went less than well while names were looked up, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        Note::sentences(self.symbols.notes())
    }

    /// The physical function of `site`.
    pub fn function(&mut self, site: SiteId) -> Option<FunctionName> {
        let (site, module) = self.look_up(site)?;
        self.symbols.function(&module_ref(&module), site.offset)
    }

    /// The path of the file that the code at `site` is of, if it is of one.
    pub fn file(&self, site: SiteId) -> Option<String> {
        let (_, module) = self.look_up(site)?;
        module
            .path
            .starts_with('/')
            .then(|| module.path.to_string())
    }

    /// All that symbols tell about the code at `site` of `module`.
    pub fn frames(&mut self, site: &Site, module: &Module) -> Vec<Frame> {
        self.frames_at(module, site.offset)
    }

    fn look_up(&self, site: SiteId) -> Option<(Site, Module)> {
        let site = self.sites.get(site)?;
        Some((site, self.sites.module(site.module)?.clone()))
    }

    fn frames_at(&mut self, module: &Module, offset: u64) -> Vec<Frame> {
        let location = self.symbols.locate(&module_ref(module), offset);
        let frames: Vec<Frame> = location.frames().iter().map(frame).collect();
        if !frames.is_empty() {
            return frames;
        }
        let function = location.physical_function().map(|f| f.name.to_string());
        function
            .map(|name| Frame {
                function: Some(name),
                ..Frame::default()
            })
            .into_iter()
            .collect()
    }
}

fn module_ref(module: &Module) -> ModuleRef<'_> {
    ModuleRef {
        path: &module.path,
        build_id: &module.build_id,
    }
}

fn frame(frame: &SymbolFrame) -> Frame {
    Frame {
        function: (frame.function != SymbolFrame::UNKNOWN).then(|| frame.function.clone()),
        file: frame.file.clone(),
        line: frame.line,
    }
}

fn is_generic(module: &Module, function: Option<&FunctionName>) -> bool {
    if is_loader(&module.path) {
        return false;
    }
    if is_generic_library(&module.path) {
        return true;
    }
    function.is_some_and(|f| {
        let name = f.raw.trim_start_matches('_');
        // What only leads on to a library is entered for it.
        f.raw.ends_with(tail::PLT) || GENERIC_FUNCTIONS.iter().any(|g| name.starts_with(g))
    })
}

impl SiteOracle for Namer {
    fn classify(&mut self, site: SiteId, sites: &SiteTable) -> SiteClass {
        let found = sites
            .get(site)
            .and_then(|s| Some((s, sites.module(s.module)?)));
        let Some((site, module)) = found else {
            return SiteClass {
                function: chosen::UNKNOWN,
                generic: false,
            };
        };
        let function = self.symbols.function(&module_ref(module), site.offset);
        // Code without symbols: what lies in one page is taken for one function.
        let start = function
            .as_ref()
            .map_or(site.offset >> 12 << 12, |f| f.start);
        let key = u64::from(site.module.0) << 48 | start & 0xffff_ffff_ffff;
        let lines = self
            .chosen
            .has_spots()
            .then(|| self.symbols.locate(&module_ref(module), site.offset));
        let (at, lines) = ((module, site.offset), lines.as_deref());
        let chosen = self.chosen.key(at, function.as_ref(), key, lines);
        SiteClass {
            function: chosen.unwrap_or(key),
            generic: is_generic(module, function.as_ref())
                || self.is_of_template(module, site.offset, function.as_ref()),
        }
    }
}

impl ScopeOracle for Namer {
    fn choose(&mut self, site: SiteId, sites: &SiteTable) -> Choice {
        let class = self.classify(site, sites);
        match is_chosen(class.function) {
            true => Choice::Chosen,
            false if class.generic => Choice::Generic,
            false => Choice::Other,
        }
    }
}

impl Resolver for Namer {
    fn resolve(&mut self, site: SiteId, kind: SiteKind) -> Option<Place> {
        let (site, module) = self.look_up(site)?;
        let offset = match kind {
            SiteKind::Instruction => site.offset,
            SiteKind::ReturnAddress => site.offset.saturating_sub(1),
        };
        Some(Place {
            frames: self.frames_at(&module, offset),
            module: module.path,
            build_id: module.build_id,
            offset: site.offset,
        })
    }

    fn tail_jump(&mut self, call: SiteId, inner: SiteId) -> Option<SiteId> {
        self.jump_between(call, inner)
    }
}
