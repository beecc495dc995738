//! The instrumentation engine that this binary carries, laid out where it can be executed.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

#[cfg(engine)]
static PACK: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/engine.pack"));
#[cfg(not(engine))]
static PACK: &[u8] = &[];

/// Name of the client among the engine's files.
const CLIENT: &str = "libprestore_client.so";

/// Why there is no engine.
#[derive(Debug, Error)]
pub enum EngineError {
    /// Built for a machine the tracer does not support.
    #[error("this build of prestore cannot record: the tracer needs x86-64 Linux")]
    NotBuilt,
    /// The files could not be written.
    #[error(
        "the instrumentation engine cannot be unpacked to {path}: {source}; \
             set PRESTORE_ENGINE_DIR to a writable folder that allows execution"
    )]
    Unpack {
        /// Where it was to go.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// An engine ready to be used.
#[derive(Clone, Debug)]
pub struct Engine {
    dir: PathBuf,
}

impl Engine {
    /// Name and version, for the manifest and `doctor`.
    pub fn version() -> Option<&'static str> {
        option_env!("PRESTORE_ENGINE_VERSION")
    }

    /// Unpacks the engine, once per version, into `$PRESTORE_ENGINE_DIR`, the user's cache folder,
    /// or a temporary one. For root only where every user can read it, if there is such a place:
    /// programs of root change their user and execute others.
    ///
    /// # Errors
    /// [`EngineError`] where there is none in this build, or none of the folders can be written.
    pub fn find() -> Result<Self, EngineError> {
        if PACK.is_empty() {
            return Err(EngineError::NotBuilt);
        }
        let id = option_env!("PRESTORE_ENGINE_ID").unwrap_or("0");
        let mut last = None;
        for parent in candidates() {
            let dir = parent.join(format!("engine-{id}"));
            match unpack(&dir) {
                Ok(()) => return Ok(Self { dir }),
                Err(source) => last = Some(EngineError::Unpack { path: dir, source }),
            }
        }
        Err(last.unwrap_or(EngineError::NotBuilt))
    }

    /// Where its files are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Options that its build wants; none, but for the one with assertions.
    pub(crate) fn options() -> &'static str {
        option_env!("PRESTORE_ENGINE_OPTIONS").unwrap_or("")
    }

    pub(crate) fn core(&self) -> PathBuf {
        self.dir.join("libdynamorio.so")
    }

    pub(crate) fn client(&self) -> PathBuf {
        self.dir.join(CLIENT)
    }
}

fn candidates() -> Vec<PathBuf> {
    if let Some(dir) = std::env::var_os("PRESTORE_ENGINE_DIR") {
        return vec![dir.into()];
    }
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .map(|cache| cache.join("prestore"));
    let user = rustix::process::geteuid();
    let system = user.is_root().then(|| "/var/cache/prestore".into());
    let temporary = std::env::temp_dir().join(format!("prestore-{}", user.as_raw()));
    let mut all: Vec<PathBuf> = cache.into_iter().chain(system).chain([temporary]).collect();
    if user.is_root() {
        all.sort_by_key(|dir| !open_to_all(dir));
    }
    all
}

/// Can every user reach what lies in `dir`? What is not there yet will be made so.
fn open_to_all(dir: &Path) -> bool {
    dir.ancestors().all(|folder| {
        let mode = folder.metadata().map(|m| m.mode());
        mode.is_err() || mode.is_ok_and(|mode| mode & 0o001 != 0)
    })
}

/// Makes `dir` and what is missing above it, for everybody to read whatever the umask says.
fn make_open(dir: &Path) -> io::Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        make_open(parent)?;
        require_ours(parent)?;
    }
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => std::fs::set_permissions(dir, Permissions::from_mode(0o755)),
    }
}

/// Whoever can write there decides what the programs execute.
fn require_ours(dir: &Path) -> io::Result<()> {
    let (owner, user) = (dir.metadata()?.uid(), rustix::process::geteuid().as_raw());
    if owner == user || owner == 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it belongs to another user",
    ))
}

/// Writes the files into a folder beside `dir` and renames it: another process sees all or none.
fn unpack(dir: &Path) -> io::Result<()> {
    if dir.join(CLIENT).exists() {
        return require_ours(dir);
    }
    let parent = dir.parent().unwrap_or(dir);
    make_open(parent)?;
    require_ours(parent)?;
    let fresh = tempfile::Builder::new()
        .prefix(".engine-")
        .tempdir_in(parent)?;
    let files = zstd::decode_all(PACK)?;
    let mut rest = &files[..];
    while !rest.is_empty() {
        let name = String::from_utf8_lossy(piece(&mut rest)?).into_owned();
        let bytes = piece(&mut rest)?;
        let path = fresh.path().join(name);
        std::fs::write(&path, bytes)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o755))?;
    }
    std::fs::set_permissions(fresh.path(), Permissions::from_mode(0o755))?;
    match std::fs::rename(fresh.path(), dir) {
        Err(_) if dir.join(CLIENT).exists() => require_ours(dir),
        other => other,
    }
}

fn piece<'a>(rest: &mut &'a [u8]) -> io::Result<&'a [u8]> {
    let torn = || io::Error::new(io::ErrorKind::InvalidData, "the embedded engine is damaged");
    let (len, after) = rest.split_at_checked(8).ok_or_else(torn)?;
    let len = len.try_into().map(u64::from_le_bytes).map_err(|_| torn())?;
    let (bytes, after) = after.split_at_checked(len as usize).ok_or_else(torn)?;
    *rest = after;
    Ok(bytes)
}
