//! An ELF file opened for reading, and its identity.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use object::Object;
use thiserror::Error;

/// Why a file cannot be read as ELF.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// It cannot be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// It does not begin as an ELF file does.
    #[error("{}: not an ELF file", path.display())]
    NotElf {
        /// The file.
        path: PathBuf,
    },
    /// It begins as an ELF file but cannot be parsed.
    #[error("{}: damaged ELF file ({cause}); copy or build it again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
}

/// A mapped file whose ELF headers have been checked.
pub struct Image {
    pub path: PathBuf,
    data: Mmap,
}

impl Image {
    /// Maps `path` and checks its headers.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let data = map(path)?;
        let malformed = |cause: object::read::Error| FileError::Malformed {
            path: path.to_owned(),
            cause: cause.to_string(),
        };
        if !data.starts_with(&object::elf::ELFMAG) {
            return Err(FileError::NotElf {
                path: path.to_owned(),
            });
        }
        object::File::parse(&*data).map_err(malformed)?;
        Ok(Self {
            path: path.to_owned(),
            data,
        })
    }

    /// The parsed headers. Parsing reads the header tables only, so it is repeated rather than
    /// stored beside the bytes that it borrows.
    pub fn object(&self) -> Option<object::File<'_>> {
        object::File::parse(&*self.data).ok()
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The GNU build id in lower-case hex; a damaged note counts as none.
    pub fn build_id(&self) -> Option<String> {
        let object = self.object()?;
        Some(hex(object.build_id().ok()??))
    }

    /// Whether the file holds a section of this name (compressed ones included).
    pub fn has_section(&self, name: &str) -> bool {
        self.object()
            .is_some_and(|object| object.section_by_name(name).is_some())
    }
}

/// Maps `path` for reading; an empty or special file is [`FileError::NotElf`].
pub fn map(path: &Path) -> Result<Mmap, FileError> {
    let open = |source| FileError::Open {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(open)?;
    let meta = file.metadata().map_err(open)?;
    if !meta.is_file() || meta.len() == 0 {
        return Err(FileError::NotElf {
            path: path.to_owned(),
        });
    }
    // SAFETY: the mapping is private and read-only. Another process that truncates the file in
    // place could still take pages away; linkers and package managers replace files instead.
    unsafe { Mmap::map(&file) }.map_err(open)
}

/// The GNU build id of `path` in lower-case hex, `None` if it has none.
///
/// # Errors
/// The file cannot be opened or is not a well-formed ELF file.
pub fn build_id(path: &Path) -> Result<Option<String>, FileError> {
    let image = Image::open(path)?;
    let object = image.object();
    let id = object
        .map(|object| object.build_id().map(|id| id.map(hex)))
        .transpose();
    id.map(Option::flatten)
        .map_err(|cause| FileError::Malformed {
            path: path.to_owned(),
            cause: cause.to_string(),
        })
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
