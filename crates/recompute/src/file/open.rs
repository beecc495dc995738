//! Opens, locks and maps a file.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};

use super::begin::{Beginning, is_named};
use super::durability::{Means, Place};
use super::{Durability, File, Waiting};
use crate::header::UNFINISHED;
use crate::{Error, Kernel, Options, Session};

pub(super) fn failure(path: &Path, what: &'static str, source: impl Into<io::Error>) -> Error {
    Error::File {
        path: path.to_path_buf(),
        what,
        source: source.into(),
    }
}

/// # Errors
/// Another process has it.
pub(super) fn lock(file: &fs::File, path: &Path) -> Result<(), Error> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(Errno::WOULDBLOCK) => Err(Error::InUse(path.to_path_buf())),
        Err(source) => Err(failure(path, "lock it", source)),
    }
}

impl File {
    /// Maps a file that is locked.
    pub(super) fn map(
        file: fs::File,
        path: &Path,
        len: usize,
        wanted: Durability,
    ) -> Result<File, Error> {
        let try_with = |flags| {
            // SAFETY: a new mapping at a place that the kernel chooses.
            unsafe {
                mmap(
                    std::ptr::null_mut(),
                    len,
                    ProtFlags::READ | ProtFlags::WRITE,
                    flags,
                    &file,
                    0,
                )
            }
        };
        let (base, synchronous) = match try_with(MapFlags::SHARED_VALIDATE | MapFlags::SYNC) {
            Ok(base) => (base, true),
            Err(_) => match try_with(MapFlags::SHARED) {
                Ok(base) => (base, false),
                Err(source) => return Err(failure(path, "map it", source)),
            },
        };
        let place = Place::of(&file, synchronous);
        let mut mapped = File {
            _file: file,
            base: base.cast(),
            len,
            means: Means::Msync,
            waiting: Waiting::default().into(),
        };
        mapped.means = Means::choose(wanted, place)?;
        Ok(mapped)
    }
}

/// What is under a name.
enum There<'p> {
    /// A loop, to all appearances, locked, and so many bytes.
    Loop(fs::File, usize),
    /// Nothing, but now a file that is being begun.
    Beginning(Beginning<'p>),
}

fn look<'p>(path: &'p Path, name: &str, needs: usize) -> Result<There<'p>, Error> {
    if path.as_os_str().is_empty() {
        return Err(Error::NoName);
    }
    let file = match fs::OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink()) {
                let why = "it is a symbolic link to a file that is not there: name that file, or remove the link";
                let source = io::Error::new(io::ErrorKind::NotFound, why);
                return Err(failure(path, "open it", source));
            }
            return Beginning::new(path).map(There::Beginning);
        }
        Err(error) => return Err(failure(path, "open it", error)),
    };
    let place = || path.display().to_string();
    lock(&file, path)?;
    let about = file
        .metadata()
        .map_err(|error| failure(path, "ask for its size", error))?;
    if !about.is_file() {
        return Err(Error::Foreign(place()));
    }
    if !is_named(&file, path) {
        return Err(Error::InUse(path.to_path_buf()));
    }
    let mut first = [0; 8];
    let read = std::os::unix::fs::FileExt::read_at(&file, &mut first, 0)
        .map_err(|error| failure(path, "read it", error))?;
    // Files of ours get their name when their first word is there: an empty one was cut off, and one that begins with
    // zero is another's.
    if read == 0 {
        return Err(Error::TooSmall {
            place: place(),
            name: name.to_string(),
            has: 0,
            needs: needs as u64,
        });
    }
    match u64::from_le_bytes(first) {
        0 => Err(Error::Foreign(place())),
        UNFINISHED => Ok(There::Beginning(Beginning::again(path, file))),
        _ => Ok(There::Loop(file, about.len() as usize)),
    }
}

impl<'k, K: Kernel> Session<'k, K, File> {
    /// Finds the loop in a file, or begins it in a new one. The file is locked until the session ends. A crash before the
    /// loop has begun leaves a file that says so, and in which the next attempt begins it; within the moment before it has
    /// its name, an empty `.prestore-loop-*` beside it, which can be removed.
    ///
    /// # Errors
    /// What is there is not this loop's, damaged, too small, or in use; nothing is changed then. There is no room. The
    /// storage fails.
    pub fn on_file(
        kernel: &'k K,
        path: &Path,
        options: Options,
        durability: Durability,
    ) -> Result<Session<'k, K, File>, Error> {
        let needs = Session::<K, File>::needs(kernel, options)?;
        let place = path.display().to_string();
        let beginning = match look(path, &kernel.nest().name, needs)? {
            There::Loop(file, len) => {
                let mapped = File::map(file, path, len, durability)?;
                return Session::open(kernel, mapped, options, &place);
            }
            There::Beginning(beginning) => beginning,
        };
        beginning.make_room(needs as u64)?;
        beginning.persist()?;
        let mapped = File::map(beginning.file()?, path, needs, durability)?;
        let session = Session::open(kernel, mapped, options, &place)?;
        beginning.complete();
        Ok(session)
    }
}
