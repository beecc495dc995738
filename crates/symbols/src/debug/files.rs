//! Where separate debug files are, and whether one belongs to a module.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use object::Object;

use crate::elf::{Image, hex};
use crate::options::Options;

/// Looks for separate debug files.
pub struct Finder {
    debug_dirs: Vec<PathBuf>,
    debuginfod_cache: Option<PathBuf>,
}

/// What a search found.
#[derive(Default)]
pub struct Search {
    /// The first file that belongs to the module.
    pub found: Option<Image>,
    /// Every path tried before it.
    pub looked_in: Vec<PathBuf>,
}

/// What tells that a file belongs to a module.
enum Proof<'a> {
    BuildId(&'a str),
    Crc(u32),
}

impl Finder {
    /// A finder that looks where `options` say.
    pub fn new(options: &Options) -> Self {
        Self {
            debug_dirs: options.debug_dirs.clone(),
            debuginfod_cache: options.debuginfod_cache.clone(),
        }
    }

    /// The debug file of `module`: by build id, then by its debug link.
    pub fn debug_file(&self, module: &Image) -> Search {
        let build_id = module.build_id();
        let mut search = match &build_id {
            Some(id) => self.by_build_id(id),
            None => Search::default(),
        };
        if search.found.is_some() {
            return search;
        }
        let object = module.object();
        if let Some((name, crc)) = object.and_then(|object| object.gnu_debuglink().ok().flatten()) {
            // A link names a file, never a path.
            if let Some(name) = Path::new(OsStr::from_bytes(name)).file_name() {
                let proof = build_id.as_deref().map_or(Proof::Crc(crc), Proof::BuildId);
                search.take_first(self.by_link(&module.path, name), &proof, Some(&module.path));
            }
        }
        search
    }

    /// The debug file of a module known by build id only, else the module itself as debuginfod
    /// has cached it.
    pub fn by_build_id(&self, id: &str) -> Search {
        let mut search = Search::default();
        // An id from a trace is foreign text: nothing but hex may become part of a path.
        if id.len() < 4 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return search;
        }
        let id = id.to_ascii_lowercase();
        let (head, tail) = id.split_at(2);
        let file = format!("{tail}.debug");
        let in_dirs = self
            .debug_dirs
            .iter()
            .map(|dir| dir.join(".build-id").join(head).join(&file));
        let in_cache = self.debuginfod_cache.iter().flat_map(|cache| {
            [
                cache.join(&id).join("debuginfo"),
                cache.join(&id).join("executable"),
            ]
        });
        search.take_first(in_dirs.chain(in_cache), &Proof::BuildId(&id), None);
        search
    }

    /// The supplementary file that `debug` refers to; `None` if it refers to none.
    pub fn supplementary(&self, debug: &Image) -> Option<Search> {
        let object = debug.object()?;
        let (name, id) = object.gnu_debugaltlink().ok()??;
        let id = hex(id);
        let name = Path::new(OsStr::from_bytes(name));
        // `join` takes an absolute name as it is.
        let beside = debug.path.parent().unwrap_or(Path::new("/")).join(name);
        let mut search = Search::default();
        search.take_first([beside], &Proof::BuildId(&id), None);
        if search.found.is_none() {
            let more = self.by_build_id(&id);
            search.looked_in.extend(more.looked_in);
            search.found = more.found;
        }
        Some(search)
    }

    fn by_link(&self, module: &Path, name: &OsStr) -> Vec<PathBuf> {
        // The directory of the file a symbolic link leads to counts, as debuggers have it.
        let real = module.canonicalize().unwrap_or_else(|_| module.to_owned());
        let Some(dir) = real.parent() else {
            return Vec::new();
        };
        let below: PathBuf = dir
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let mut paths = vec![dir.join(name), dir.join(".debug").join(name)];
        for root in &self.debug_dirs {
            paths.push(root.join(&below).join(name));
            paths.push(root.join(name));
        }
        paths
    }
}

impl Search {
    fn take_first(
        &mut self,
        paths: impl IntoIterator<Item = PathBuf>,
        proof: &Proof<'_>,
        not: Option<&Path>,
    ) {
        for path in paths {
            if not.is_some_and(|not| same_file(not, &path)) {
                continue;
            }
            let image = Image::open(&path).ok();
            self.looked_in.push(path);
            let belongs = |image: &Image| match proof {
                Proof::BuildId(id) => image.build_id().is_some_and(|found| found == *id),
                Proof::Crc(crc) => crc32fast::hash(image.bytes()) == *crc,
            };
            if let Some(image) = image.filter(belongs) {
                self.found = Some(image);
                return;
            }
        }
    }
}

/// A file may link to its own name, for a debug file of that name in another directory.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
