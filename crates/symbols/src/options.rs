//! Where to look for what the modules themselves do not hold.

use std::env;
use std::path::PathBuf;

/// Directories searched for debug files and perf maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Debug directories, searched in order: each may hold `.build-id/xx/rest.debug`
    /// and the module's debug link, by name or below the module's directory.
    /// Put a caller's own before `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// debuginfod's cache (`BUILDID/debuginfo`, `BUILDID/executable`); nothing is downloaded.
    pub debuginfod_cache: Option<PathBuf>,
    /// Where processes leave `perf-PID.map`.
    pub perf_map_dir: PathBuf,
}

impl Default for Options {
    /// This host's places: `/usr/lib/debug`, the debuginfod cache as debuginfod itself finds it
    /// (`DEBUGINFOD_CACHE_PATH`, else below `XDG_CACHE_HOME`, else below `~/.cache`), `/tmp`.
    fn default() -> Self {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let cache = set("DEBUGINFOD_CACHE_PATH").map(PathBuf::from).or_else(|| {
            let base = set("XDG_CACHE_HOME")
                .map(PathBuf::from)
                .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
            Some(base.join("debuginfod_client"))
        });
        Self {
            debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
            debuginfod_cache: cache,
            perf_map_dir: PathBuf::from("/tmp"),
        }
    }
}

impl Options {
    /// The same with `dirs` searched first.
    #[must_use]
    pub fn with_debug_dirs(mut self, dirs: impl IntoIterator<Item = PathBuf>) -> Self {
        self.debug_dirs.splice(0..0, dirs);
        self
    }
}
