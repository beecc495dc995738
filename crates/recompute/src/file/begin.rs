//! A new file: it has its final name only when everything in it is durable.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, RenameFlags, fallocate, fstatvfs, renameat_with};
use rustix::io::Errno;

use super::open::{failure, lock};
use crate::Error;
use crate::header::MAGIC;

/// A file that is being begun; removed if it is not completed.
pub(super) struct Beginning {
    path: PathBuf,
    file: fs::File,
    complete: bool,
}

impl Beginning {
    /// So many zero bytes, with room on the storage, in a locked file beside `path`.
    pub fn new(path: &Path, needs: usize) -> Result<Beginning, Error> {
        let mut name = OsString::from(path);
        name.push(".begin");
        let new = PathBuf::from(name);
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&new)
            .map_err(|error| failure(&new, "create it", error))?;
        lock(&file, &new)?;
        // Who had the lock before may have given the file its final name since it was opened here.
        let (opened, there) = (file.metadata(), fs::metadata(&new));
        match (opened, there) {
            (Ok(opened), Ok(there)) if opened.ino() == there.ino() => {}
            _ => return Err(Error::InUse(path.to_path_buf())),
        }
        let mut first = [0; 8];
        let read = file
            .read_at(&mut first, 0)
            .map_err(|error| failure(&new, "read it", error))?;
        if read > 0 && first != [0; 8] && u64::from_le_bytes(first) != MAGIC {
            return Err(Error::Foreign(new.display().to_string()));
        }
        let beginning = Beginning {
            path: new,
            file,
            complete: false,
        };
        beginning.make_room(path, needs as u64)?;
        Ok(beginning)
    }

    fn make_room(&self, path: &Path, needs: u64) -> Result<(), Error> {
        let full = |source: Errno| Error::Full {
            path: path.to_path_buf(),
            needs,
            source: source.into(),
        };
        self.file
            .set_len(0)
            .map_err(|error| failure(&self.path, "empty it", error))?;
        // Asked for before, as some file systems fill the disk before they say that it is full.
        if let Ok(room) = fstatvfs(&self.file)
            && room.f_bavail.saturating_mul(room.f_frsize) < needs
        {
            return Err(full(Errno::NOSPC));
        }
        match fallocate(&self.file, FallocateFlags::empty(), 0, needs) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP) => self.write_zeros(needs).map_err(|error| Error::Full {
                path: path.to_path_buf(),
                needs,
                source: error,
            }),
            Err(source @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(full(source)),
            Err(source) => Err(failure(&self.path, "make room for it", source)),
        }
    }

    /// Where the file system cannot reserve.
    fn write_zeros(&self, needs: u64) -> io::Result<()> {
        let zeros = vec![0; 1 << 20];
        let mut at = 0;
        while at < needs {
            let part = zeros.len().min((needs - at) as usize);
            self.file.write_all_at(&zeros[..part], at)?;
            at += part as u64;
        }
        Ok(())
    }

    /// Another handle to the file, with the same lock.
    pub fn file(&self) -> Result<fs::File, Error> {
        self.file
            .try_clone()
            .map_err(|error| failure(&self.path, "open it again", error))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its final name, unless another process was faster.
    pub fn complete(mut self, path: &Path) -> Result<(), Error> {
        let named = self.file.sync_all();
        named.map_err(|error| failure(&self.path, "write it", error))?;
        match renameat_with(CWD, &self.path, CWD, path, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(Error::InUse(path.to_path_buf())),
            // Not every file system can.
            Err(Errno::INVAL) if !path.exists() => fs::rename(&self.path, path)
                .map_err(|error| failure(path, "give it its name", error))?,
            Err(source) => return Err(failure(path, "give it its name", source)),
        }
        self.complete = true;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failure(path, "make its name durable", error))
    }
}

impl Drop for Beginning {
    fn drop(&mut self) {
        if !self.complete {
            // Still locked: nobody else has it.
            let _ = fs::remove_file(&self.path);
        }
    }
}
