//! Tables that appear when all of them are whole: what fails, or is killed, leaves none that looks like one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ExportError;
use crate::container::TABLE_NAMES;

/// What files are called until all are whole.
const SUFFIX: &str = ".new";

/// Where the tables of `out` are until all are whole: what an export that a signal ends leaves.
pub fn unfinished(out: &Path) -> impl Iterator<Item = PathBuf> {
    TABLE_NAMES.into_iter().map(|name| unfinished_at(out, name))
}

fn unfinished_at(out: &Path, name: &str) -> PathBuf {
    out.join(format!("{name}{SUFFIX}"))
}

/// Files being written in a folder; where it comes to nothing, they go, and the folder if it was made for them.
pub(super) struct Unfinished<'a> {
    out: &'a Path,
    made: bool,
    names: &'a [&'static str],
    finished: bool,
}

impl<'a> Unfinished<'a> {
    /// Makes the folder `out`, where none of `names` may be.
    pub(super) fn begin(out: &'a Path, names: &'a [&'static str]) -> Result<Self, ExportError> {
        let made = !out.exists();
        let cannot = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => ExportError::io(out, source),
            _ => ExportError::Folder {
                path: out.to_owned(),
                source,
            },
        };
        fs::create_dir_all(out).map_err(cannot)?;
        let files = Self {
            out,
            made,
            names,
            finished: false,
        };
        for name in names {
            let path = out.join(name);
            if path.exists() {
                return Err(ExportError::Exists { path });
            }
            // Of one that was killed.
            match fs::remove_file(files.path(name)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(ExportError::io(&path, e));
                }
                _ => {}
            }
        }
        // A folder that takes no files is known before the work is done.
        if let Some(first) = names.first() {
            let path = files.path(first);
            let tried = fs::File::create_new(&path).and_then(|_| fs::remove_file(&path));
            tried.map_err(cannot)?;
        }
        Ok(files)
    }

    /// Where `name` is written to.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        unfinished_at(self.out, name)
    }

    /// All are whole.
    pub(super) fn finish(mut self) -> Result<(), ExportError> {
        for name in self.names {
            let path = self.out.join(name);
            fs::rename(self.path(name), &path).map_err(|e| ExportError::io(&path, e))?;
        }
        self.finished = true;
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        for name in self.names {
            let _half_a_file_helps_nobody = fs::remove_file(self.path(name));
        }
        if self.made {
            let _somebody_else_may_use_it = fs::remove_dir(self.out);
        }
    }
}
