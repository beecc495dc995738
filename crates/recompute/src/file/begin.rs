//! A new file: it holds a word of its own from before it has its name until everything in it is durable.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FallocateFlags, RenameFlags, fallocate, fstatvfs, renameat_with};
use rustix::io::Errno;

use super::open::{failure, lock};
use crate::Error;
use crate::header::UNFINISHED;

/// A file that is being begun; removed if it is not completed.
pub(super) struct Beginning<'p> {
    path: &'p Path,
    file: fs::File,
    complete: bool,
}

impl<'p> Beginning<'p> {
    /// A new file, locked before it has its name: whoever finds the name finds it in use, or unfinished. What is there
    /// under any name stays.
    pub fn new(path: &'p Path) -> Result<Beginning<'p>, Error> {
        let (mut file, nameless) = nameless(path)?;
        let named = lock(&file, &nameless)
            .and_then(|()| {
                // Durable before the name is: else a power cut would leave a file that nobody knows as ours.
                file.write_all(&UNFINISHED.to_le_bytes())
                    .and_then(|()| file.sync_all())
                    .map_err(|error| failure(path, "write it", error))
            })
            .and_then(|()| give_name(&nameless, path));
        if let Err(error) = named {
            let _ = fs::remove_file(&nameless);
            return Err(error);
        }
        Ok(Beginning::again(path, file))
    }

    /// A locked file that was not completed: what it holds is as good as nothing.
    pub fn again(path: &'p Path, file: fs::File) -> Beginning<'p> {
        Beginning {
            path,
            file,
            complete: false,
        }
    }

    /// So many bytes, zero but for the first word, with room on the storage.
    pub fn make_room(&self, needs: u64) -> Result<(), Error> {
        let full = |source: io::Error| Error::Full {
            path: self.path.to_path_buf(),
            needs,
            source,
        };
        let word = size_of_val(&UNFINISHED) as u64;
        self.file
            .set_len(word)
            .map_err(|error| failure(self.path, "empty it", error))?;
        // Asked for before, as some file systems fill the disk before they say that it is full.
        if let Ok(room) = fstatvfs(&self.file)
            && room.f_bavail.saturating_mul(room.f_frsize) < needs
        {
            return Err(full(Errno::NOSPC.into()));
        }
        match fallocate(&self.file, FallocateFlags::empty(), 0, needs) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP) => self.write_zeros(word, needs).map_err(full),
            Err(source @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(full(source.into())),
            Err(source) => Err(failure(self.path, "make room for it", source)),
        }
    }

    /// Where the file system cannot reserve.
    fn write_zeros(&self, from: u64, needs: u64) -> io::Result<()> {
        let zeros = vec![0; 1 << 20];
        let mut at = from;
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
            .map_err(|error| failure(self.path, "open it again", error))
    }

    /// Makes its size and its name durable, which flushes do not.
    pub fn persist(&self) -> Result<(), Error> {
        self.file
            .sync_all()
            .map_err(|error| failure(self.path, "write it", error))?;
        fs::File::open(folder_of(self.path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| failure(self.path, "make its name durable", error))
    }

    /// The loop has begun in it.
    pub fn complete(mut self) {
        self.complete = true;
    }
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        if !self.complete && is_named(&self.file, self.path) {
            // Still locked: nobody else has it.
            let _ = fs::remove_file(self.path);
        }
    }
}

/// Whether a path still names an open file: who had the lock before may have removed it.
pub(super) fn is_named(file: &fs::File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(opened), Ok(there)) => opened.dev() == there.dev() && opened.ino() == there.ino(),
        _ => false,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// An empty file with a name that nobody asks for. One that is left behind by a crash is in nobody's way.
fn nameless(wanted: &Path) -> Result<(fs::File, PathBuf), Error> {
    let mut number = 0_u32;
    loop {
        let path =
            folder_of(wanted).join(format!(".prestore-loop-{}-{number}", std::process::id()));
        let created = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path);
        match created {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < u32::MAX => {
                number += 1;
            }
            Err(error) => return Err(failure(wanted, "create it", error)),
        }
    }
}

/// Gives a file its name, unless that is another's by now.
fn give_name(from: &Path, to: &Path) -> Result<(), Error> {
    let taken = || Error::InUse(to.to_path_buf());
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(taken()),
        // Not every file system can.
        Err(Errno::INVAL | Errno::NOSYS) => match fs::hard_link(from, to) {
            Ok(()) => {
                let _ = fs::remove_file(from);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(taken()),
            Err(error) => Err(failure(to, "give it its name", error)),
        },
        Err(source) => Err(failure(to, "give it its name", source)),
    }
}
