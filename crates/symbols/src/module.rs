//! One module: which files describe it, and what they say of its addresses.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::{Object, ObjectSegment};
use rustc_hash::FxHashMap;

use crate::debug::{Dwarf, Finder};
use crate::demangle::demangle;
use crate::elf::{self, FileError, Image, SymbolTable};
use crate::location::{Frame, FunctionName, Location, ModuleRef};
use crate::note::Remark;

/// A module's files and what has been read of them.
pub struct Module {
    path: String,
    build_id: String,
    /// The module itself, or the debug file of the recorded build in its place.
    primary: Option<Image>,
    debug: Lazy<Option<Image>>,
    looked_in: Vec<PathBuf>,
    table: Lazy<SymbolTable>,
    dwarf: Lazy<Option<Dwarf>>,
    slots: Lazy<FxHashMap<u64, Arc<str>>>,
    names: FxHashMap<usize, FunctionName>,
    locations: FxHashMap<u64, Arc<Location>>,
    remarks: Vec<Remark>,
}

/// `None` until first needed.
type Lazy<T> = Option<T>;

impl Module {
    /// Opens the module's file and checks that it is the recorded one.
    pub fn open(module: &ModuleRef<'_>, finder: &Finder) -> Self {
        let mut remarks = Vec::new();
        let primary = identify(module, finder, &mut remarks);
        Self {
            path: module.path.to_owned(),
            build_id: module.build_id.to_owned(),
            primary,
            debug: None,
            looked_in: Vec::new(),
            table: None,
            dwarf: None,
            slots: None,
            names: FxHashMap::default(),
            locations: FxHashMap::default(),
            remarks,
        }
    }

    /// Whether this is the module recorded with `build_id`.
    pub fn is_build(&self, build_id: &str) -> bool {
        self.build_id == build_id
    }

    /// Remarks since the last call.
    pub fn take_remarks(&mut self) -> Vec<Remark> {
        std::mem::take(&mut self.remarks)
    }

    /// The physical function that covers `address`.
    pub fn function(&mut self, address: u64, finder: &Finder) -> Option<FunctionName> {
        let primary = self.primary.as_ref()?;
        if self.table.is_none() {
            let debug = &mut self.debug;
            let looked_in = &mut self.looked_in;
            self.table = Some(read_table(primary, || {
                separate(primary, debug, looked_in, finder).as_ref()
            }));
        }
        let (index, symbol) = self.table.as_ref()?.find(address)?;
        let name = self.names.entry(index).or_insert_with(|| {
            let raw: Arc<str> = symbol.name.as_str().into();
            let name = demangle(&raw);
            FunctionName {
                name: if name == *raw {
                    raw.clone()
                } else {
                    name.into()
                },
                raw,
                start: symbol.start,
                size: symbol.size,
            }
        });
        Some(name.clone())
    }

    /// At most `length` bytes at `address`. A debug file in the module's place has none.
    pub fn code(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let object = self.primary.as_ref()?.object()?;
        let segment = object
            .segments()
            .find(|s| (s.address()..s.address().saturating_add(s.size())).contains(&address))?;
        let from = usize::try_from(address - segment.address()).ok()?;
        let behind = segment.data().ok()?.get(from..)?;
        Some(behind[..behind.len().min(length)].to_vec())
    }

    /// The name of what is in the slot of the global offset table at `address`.
    pub fn slot(&mut self, address: u64) -> Option<Arc<str>> {
        if self.slots.is_none() {
            let object = self.primary.as_ref()?.object()?;
            let names = elf::slot_names(&object).into_iter();
            self.slots = Some(names.map(|(slot, name)| (slot, name.into())).collect());
        }
        self.slots.as_ref()?.get(&address).cloned()
    }

    /// Everything known of `address`.
    pub fn locate(&mut self, address: u64, finder: &Finder) -> Arc<Location> {
        if let Some(known) = self.locations.get(&address) {
            return known.clone();
        }
        let function = self.function(address, finder);
        let mut frames = self.frames(address, finder);
        if let (Some(outermost), Some(function)) = (frames.last_mut(), &function) {
            complete(outermost, function);
        }
        let location = if frames.is_empty() {
            Location::Module {
                module: self.path.clone(),
                offset: address,
                function,
            }
        } else {
            Location::Source { frames, function }
        };
        let location = Arc::new(location);
        self.locations.insert(address, location.clone());
        location
    }

    fn frames(&mut self, address: u64, finder: &Finder) -> Vec<Frame> {
        if self.dwarf.is_none() {
            let dwarf = self.open_dwarf(finder);
            self.dwarf = Some(dwarf);
        }
        let Some(Some(dwarf)) = &self.dwarf else {
            return Vec::new();
        };
        dwarf.frames(address).unwrap_or_else(|cause| {
            let file = self.debug_source().unwrap_or_default();
            let remark = Remark::BadLineInfo { file, cause };
            if !self.remarks.contains(&remark) {
                self.remarks.push(remark);
            }
            Vec::new()
        })
    }

    fn open_dwarf(&mut self, finder: &Finder) -> Option<Dwarf> {
        let primary = self.primary.as_ref()?;
        let source = if has_dwarf(primary) {
            primary
        } else {
            let debug = separate(primary, &mut self.debug, &mut self.looked_in, finder);
            let Some(debug) = debug.as_ref().filter(|image| has_dwarf(image)) else {
                let looked_in = self.looked_in.clone();
                self.remarks.push(Remark::NoLineInfo { looked_in });
                return None;
            };
            debug
        };
        let supplementary = finder.supplementary(source).and_then(|search| {
            if search.found.is_none() {
                self.remarks.push(Remark::NoSupplementary {
                    looked_in: search.looked_in,
                });
            }
            search.found
        });
        let supplementary = supplementary.as_ref().map(|image| image.path.as_path());
        Dwarf::open(&source.path, supplementary)
            .map_err(|cause| {
                let file = source.path.clone();
                self.remarks.push(Remark::BadLineInfo { file, cause });
            })
            .ok()
    }

    fn debug_source(&self) -> Option<PathBuf> {
        let primary = self.primary.as_ref()?;
        let debug = self.debug.as_ref().and_then(Option::as_ref);
        let source = if has_dwarf(primary) { primary } else { debug? };
        Some(source.path.clone())
    }
}

/// The file to read for `module`, `None` where only offsets can be given.
fn identify(module: &ModuleRef<'_>, finder: &Finder, remarks: &mut Vec<Remark>) -> Option<Image> {
    // `[vdso]`, `[heap]` and the like never were files, nor is the name the vdso gives itself.
    let path = module.path;
    if path.is_empty() || path.starts_with('[') || path.starts_with("linux-vdso.so") {
        return None;
    }
    // The kernel marks files deleted while mapped.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    match Image::open(Path::new(path)) {
        Ok(image) => {
            let found = image.build_id().unwrap_or_default();
            if module.build_id.is_empty() || found.eq_ignore_ascii_case(module.build_id) {
                return Some(image);
            }
            let recorded = module.build_id.to_owned();
            remarks.push(Remark::Rebuilt { recorded, found });
        }
        Err(FileError::Open { source, .. }) if source.kind() == ErrorKind::NotFound => {
            remarks.push(Remark::Gone);
        }
        Err(FileError::Open { source, .. }) => {
            remarks.push(Remark::Unreadable {
                cause: source.to_string(),
            });
        }
        Err(FileError::NotElf { .. }) => {
            remarks.push(Remark::Unreadable {
                cause: "not an ELF file".to_owned(),
            });
        }
        Err(FileError::Malformed { cause, .. }) => {
            remarks.push(Remark::Unreadable { cause });
        }
    }
    let instead = finder.by_build_id(module.build_id).found?;
    remarks.push(Remark::DebugFileInstead {
        file: instead.path.clone(),
    });
    Some(instead)
}

/// The separate debug file of `primary`, looked for once.
fn separate<'a>(
    primary: &Image,
    debug: &'a mut Lazy<Option<Image>>,
    looked_in: &mut Vec<PathBuf>,
    finder: &Finder,
) -> &'a Option<Image> {
    debug.get_or_insert_with(|| {
        let search = finder.debug_file(primary);
        *looked_in = search.looked_in;
        search.found
    })
}

/// The functions of `primary`: its own symbol table, else its dynamic one and what the separate
/// debug file adds.
fn read_table<'a>(primary: &Image, debug: impl FnOnce() -> Option<&'a Image>) -> SymbolTable {
    let Some(object) = primary.object() else {
        return SymbolTable::default();
    };
    let mut symbols = elf::static_symbols(&object);
    if symbols.is_empty() {
        symbols = elf::dynamic_symbols(&object);
        if let Some(object) = debug().and_then(Image::object) {
            symbols.extend(elf::static_symbols(&object));
        }
    }
    symbols.extend(elf::plt_symbols(&object));
    SymbolTable::new(symbols)
}

fn has_dwarf(image: &Image) -> bool {
    image.has_section(".debug_info")
}

/// Takes the outermost frame's name from the symbol table where that is the better one.
///
/// Debug information without linkage names (`-g1`, Rust's line tables) has `put<u64>` for what
/// the table calls `kv::Map::put`; and it has a library's internal alias (`__GI_rewind`) for what
/// users call `rewind`.
fn complete(outermost: &mut Frame, function: &FunctionName) {
    let base = outermost.function.split('<').next().unwrap_or_default();
    let bare = !base.is_empty() && !base.contains("::") && !base.contains('(');
    let qualified = bare && function.name != function.raw && function.name.contains(base);
    let alias = outermost.function.ends_with(&*function.name);
    if outermost.function == Frame::UNKNOWN || qualified || alias {
        outermost.function = function.name.to_string();
    }
}
