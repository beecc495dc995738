//! Opens, locks and maps a file.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap};

use super::begin::Beginning;
use super::durability::{Means, Place};
use super::{Durability, File, Waiting};
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

impl<'k, K: Kernel> Session<'k, K, File> {
    /// Finds the loop in a file, or begins it in a new one. The file is locked until the session ends. A new file gets
    /// its name when the loop has begun in it: a crash before leaves only `PATH.begin`, which the next attempt takes.
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
        let file = match fs::OpenOptions::new().read(true).write(true).open(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failure(path, "open it", error)),
        };
        let Some(file) = file else {
            let beginning = Beginning::new(path, needs)?;
            let mapped = File::map(beginning.file()?, beginning.path(), needs, durability)?;
            let session = Session::open(kernel, mapped, options, &place)?;
            beginning.complete(path)?;
            return Ok(session);
        };
        lock(&file, path)?;
        let about = file
            .metadata()
            .map_err(|error| failure(path, "ask for its size", error))?;
        if !about.is_file() {
            return Err(Error::Foreign(place));
        }
        // Files of ours get their name when their first word is there: a file that begins with zero is another's.
        let mut first = [0; 8];
        let read = std::os::unix::fs::FileExt::read_at(&file, &mut first, 0)
            .map_err(|error| failure(path, "read it", error))?;
        if read == 0 {
            return Err(Error::TooSmall {
                place,
                name: kernel.nest().name,
                has: 0,
                needs: needs as u64,
            });
        }
        if first == [0; 8] {
            return Err(Error::Foreign(place));
        }
        let mapped = File::map(file, path, about.len() as usize, durability)?;
        Session::open(kernel, mapped, options, &place)
    }
}
