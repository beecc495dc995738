//! The entry point: modules by name, each opened once.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::debug::Finder;
use crate::location::{FunctionName, Location, ModuleRef};
use crate::module::Module;
use crate::note::{Note, Remark};
use crate::options::Options;
use crate::perf_map::PerfMap;

/// Names code addresses. Keeps what it has read of each module, and each address it has named.
pub struct Symbols {
    finder: Finder,
    perf_map_dir: PathBuf,
    modules: Vec<Module>,
    /// Places in `modules` by path; several where a file was rebuilt between recordings.
    by_path: FxHashMap<String, Vec<usize>>,
    perf_maps: FxHashMap<u32, PerfMap>,
    notes: Vec<Note>,
}

impl Symbols {
    /// Symbols from the files of the recorded program, and debug files where `options` say.
    pub fn new(options: Options) -> Self {
        Self {
            finder: Finder::new(&options),
            perf_map_dir: options.perf_map_dir,
            modules: Vec::new(),
            by_path: FxHashMap::default(),
            perf_maps: FxHashMap::default(),
            notes: Vec::new(),
        }
    }

    /// Takes the names of process `process`'s JIT code from `file` rather than from
    /// `perf-PID.map` in [`Options::perf_map_dir`].
    pub fn use_perf_map(&mut self, process: u32, file: PathBuf) {
        self.perf_maps.insert(process, PerfMap::new(file));
    }

    /// Function, file, line and inlined frames of `address`, as far as they are known.
    ///
    /// `address` is in the terms of the module's own symbol table (absolute for JIT code).
    pub fn locate(&mut self, module: &ModuleRef<'_>, address: u64) -> Arc<Location> {
        if let Some(process) = jit_process(module.path) {
            let function = self.jit_function(module, process, address);
            return Arc::new(Location::Jit {
                process,
                address,
                function,
            });
        }
        self.in_module(module, |module, finder| module.locate(address, finder))
    }

    /// The physical function that covers `address`, from symbol tables only: cheap enough for
    /// every site of a trace. `None` where no symbol covers it.
    pub fn function(&mut self, module: &ModuleRef<'_>, address: u64) -> Option<FunctionName> {
        if let Some(process) = jit_process(module.path) {
            return self.jit_function(module, process, address);
        }
        self.in_module(module, |module, finder| module.function(address, finder))
    }

    /// The bytes at `address` as the module's file has them, at most `length`; `None` where it has none there.
    pub fn code(&mut self, module: &ModuleRef<'_>, address: u64, length: usize) -> Option<Vec<u8>> {
        if jit_process(module.path).is_some() {
            return None;
        }
        self.in_module(module, |module, _| module.code(address, length))
    }

    /// What the slot of the global offset table at `address` is filled with when the program starts, by its name.
    pub fn slot(&mut self, module: &ModuleRef<'_>, address: u64) -> Option<Arc<str>> {
        self.in_module(module, |module, _| module.slot(address))
    }

    /// What could not be named so far, why, and what would help; each once.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn in_module<T>(
        &mut self,
        wanted: &ModuleRef<'_>,
        ask: impl FnOnce(&mut Module, &Finder) -> T,
    ) -> T {
        let modules = &mut self.modules;
        let known = self.by_path.get(wanted.path).and_then(|builds| {
            builds
                .iter()
                .copied()
                .find(|index| modules[*index].is_build(wanted.build_id))
        });
        let index = known.unwrap_or_else(|| {
            let index = modules.len();
            modules.push(Module::open(wanted, &self.finder));
            self.by_path
                .entry(wanted.path.to_owned())
                .or_default()
                .push(index);
            index
        });
        let module = &mut modules[index];
        let answer = ask(module, &self.finder);
        for remark in module.take_remarks() {
            add(&mut self.notes, wanted.path, remark);
        }
        answer
    }

    fn jit_function(
        &mut self,
        module: &ModuleRef<'_>,
        process: u32,
        address: u64,
    ) -> Option<FunctionName> {
        let map = self
            .perf_maps
            .entry(process)
            .or_insert_with(|| PerfMap::new(self.perf_map_dir.join(format!("perf-{process}.map"))));
        let function = map.find(address);
        if !map.is_read() {
            let file = map.path().to_owned();
            add(&mut self.notes, module.path, Remark::NoPerfMap { file });
        }
        function
    }
}

fn add(notes: &mut Vec<Note>, module: &str, remark: Remark) {
    let note = Note {
        module: module.to_owned(),
        remark,
    };
    if !notes.contains(&note) {
        notes.push(note);
    }
}

/// The process of a `[jit:PID]` module.
fn jit_process(path: &str) -> Option<u32> {
    path.strip_prefix("[jit:")?.strip_suffix(']')?.parse().ok()
}
