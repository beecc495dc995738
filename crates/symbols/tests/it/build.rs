//! Compiling small programs and asking for their addresses.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};
use prestore_symbols::{ModuleRef, Options, Symbols};
use tempfile::TempDir;

/// A directory with sources and what is built of them.
pub struct Workbench {
    dir: TempDir,
}

impl Workbench {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs a build step in the directory; arguments are split at white space.
    pub fn run(&self, command: &str) {
        let mut words = command.split_whitespace();
        let status = Command::new(words.next().unwrap())
            .args(words)
            .current_dir(self.dir.path())
            .env("LC_ALL", "C")
            .status()
            .unwrap_or_else(|error| panic!("{command}: {error}"));
        assert!(status.success(), "{command}");
    }

    /// Options that look nowhere but in the directory's `debug`.
    pub fn options(&self) -> Options {
        Options {
            debug_dirs: vec![self.path("debug")],
            debuginfod_cache: Some(self.path("cache")),
            perf_map_dir: self.dir.path().to_owned(),
        }
    }

    pub fn symbols(&self) -> Symbols {
        Symbols::new(self.options())
    }
}

/// Whether `tool` can be run; says so where it cannot, for a test to be skipped.
pub fn have(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        // Past the test harness, which keeps what `eprintln` says in a test that passes.
        let skipped = format!("SKIPPED: {tool} is not installed\n");
        std::io::stderr().write_all(skipped.as_bytes()).unwrap();
    }
    found
}

/// The module of a file, of whatever build.
pub fn any_build(path: &Path) -> ModuleRef<'_> {
    ModuleRef {
        path: path.to_str().unwrap(),
        build_id: "",
    }
}

/// The address of a symbol whose raw name contains `part`.
pub fn address_of(path: &Path, part: &str) -> u64 {
    let data = std::fs::read(path).unwrap();
    let object = object::File::parse(&*data).unwrap();
    let found = object
        .symbols()
        .chain(object.dynamic_symbols())
        .find(|symbol| symbol.is_definition() && symbol.name().unwrap().contains(part))
        .map(|symbol| symbol.address());
    found.unwrap_or_else(|| panic!("no symbol {part} in {}", path.display()))
}

/// Line of the text that holds `mark`, from 1.
pub fn line_of(text: &str, mark: &str) -> u32 {
    let at = text.lines().position(|line| line.contains(mark));
    at.unwrap_or_else(|| panic!("no line with {mark}")) as u32 + 1
}
