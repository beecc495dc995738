//! What a file is that a user asks to run: before anything is started, so that the message can
//! name the cause.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use thiserror::Error;

use crate::elf::{Class, FileError, Image, Machine, map};

/// Longest `#!` line that the kernel reads, in bytes (`BINPRM_BUF_SIZE`).
const SHEBANG: usize = 256;

/// A file that the kernel can be asked to execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executable {
    /// An ELF program.
    Elf(ElfProgram),
    /// A script: the program is its interpreter.
    Script(Script),
}

/// An ELF program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElfProgram {
    /// The file.
    pub path: PathBuf,
    /// Width of addresses.
    pub class: Class,
    /// Processor architecture.
    pub machine: Machine,
    /// Whether it can be loaded anywhere (position-independent executable).
    pub is_pie: bool,
    /// Whether it runs without a dynamic loader.
    pub is_static: bool,
    /// The dynamic loader it asks for.
    pub interpreter: Option<PathBuf>,
    /// GNU build id in lower-case hex.
    pub build_id: Option<String>,
}

/// A script, by its first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The program named after `#!`.
    pub interpreter: PathBuf,
    /// What follows it: one argument, as Linux passes it on.
    pub argument: Option<String>,
}

/// Why a file cannot be run and traced.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InspectError {
    /// There is no such file.
    #[error("{}: no such file; give the path of a program, or put its directory on PATH", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A directory, device or pipe.
    #[error("{}: not a regular file; give the path of a program", path.display())]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// No execute permission.
    #[error("{path}: not executable; run `chmod +x {path}` if it is a program", path = path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// It cannot be opened.
    #[error("{}: cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// Neither ELF nor a script with a `#!` line.
    #[error(
        "{path}: neither an ELF program nor a script that begins with #!; name its interpreter \
         before it, as in `bash {path}`", path = path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// A damaged ELF file.
    #[error("{}: damaged ELF file ({cause}); copy or build it again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: String,
    },
    /// ELF, but not a program.
    #[error("{}: {kind}, not a program; give the program that uses it", path.display())]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// What it is instead, with its article.
        kind: &'static str,
    },
    /// A 32-bit program.
    #[error("{}: a 32-bit program ({machine}); only 64-bit x86-64 programs can be traced: build it without -m32", path.display())]
    ThirtyTwoBit {
        /// The file.
        path: PathBuf,
        /// Its architecture.
        machine: Machine,
    },
    /// A program of another architecture.
    #[error("{}: a program for {machine}; only x86-64 programs can be traced: build it for x86-64", path.display())]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// Its architecture.
        machine: Machine,
    },
}

impl ElfProgram {
    /// Checks that the program is 64-bit x86-64.
    ///
    /// # Errors
    /// [`InspectError::ThirtyTwoBit`] or [`InspectError::OtherMachine`].
    pub fn require_x86_64(&self) -> Result<(), InspectError> {
        let (path, machine) = (self.path.clone(), self.machine);
        match (self.class, machine) {
            (Class::Elf64, Machine::X86_64) => Ok(()),
            (_, Machine::X86_64) | (Class::Elf32, Machine::I386) => {
                Err(InspectError::ThirtyTwoBit { path, machine })
            }
            _ => Err(InspectError::OtherMachine { path, machine }),
        }
    }
}

/// Says what `path` is. It is taken as it stands: `PATH` is not searched, and a script's
/// interpreter is not inspected in turn.
///
/// # Errors
/// The file is missing, not executable, unreadable, damaged, or no program.
pub fn inspect(path: &Path) -> Result<Executable, InspectError> {
    let file_error = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => InspectError::NotFound {
            path: path.to_owned(),
        },
        _ => InspectError::Unreadable {
            path: path.to_owned(),
            source,
        },
    };
    let meta = fs::metadata(path).map_err(file_error)?;
    if !meta.is_file() {
        return Err(InspectError::NotAFile {
            path: path.to_owned(),
        });
    }
    if meta.permissions().mode() & 0o111 == 0 {
        return Err(InspectError::NotExecutable {
            path: path.to_owned(),
        });
    }
    let data = map(path).map_err(|error| match error {
        FileError::Open { source, .. } => file_error(source),
        _ => InspectError::UnknownFormat {
            path: path.to_owned(),
        },
    })?;
    if let Some(script) = shebang(&data) {
        return Ok(Executable::Script(script));
    }
    if !data.starts_with(&elf::ELFMAG) {
        return Err(InspectError::UnknownFormat {
            path: path.to_owned(),
        });
    }
    let program = match data.get(4) {
        Some(1) => program::<FileHeader32<Endianness>>(path, &data),
        _ => program::<FileHeader64<Endianness>>(path, &data),
    };
    program.map(Executable::Elf)
}

fn shebang(data: &[u8]) -> Option<Script> {
    let line = data.strip_prefix(b"#!")?;
    let line = &line[..line.len().min(SHEBANG - 2)];
    let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let at = line
        .iter()
        .position(u8::is_ascii_whitespace)
        .unwrap_or(line.len());
    let (interpreter, argument) = line.split_at(at);
    if interpreter.is_empty() {
        return None;
    }
    let argument = String::from_utf8_lossy(argument.trim_ascii());
    Some(Script {
        interpreter: PathBuf::from(OsStr::from_bytes(interpreter)),
        argument: (!argument.is_empty()).then(|| argument.into_owned()),
    })
}

fn program<E: FileHeader<Endian = Endianness>>(
    path: &Path,
    data: &[u8],
) -> Result<ElfProgram, InspectError> {
    let malformed = |cause: object::read::Error| InspectError::Malformed {
        path: path.to_owned(),
        cause: cause.to_string(),
    };
    let header = E::parse(data).map_err(malformed)?;
    let endian = header.endian().map_err(malformed)?;
    let mut interpreter = None;
    let mut marked_pie = false;
    let mut needs_others = false;
    for segment in header.program_headers(endian, data).map_err(malformed)? {
        if let Some(name) = segment.interpreter(endian, data).map_err(malformed)? {
            interpreter = Some(PathBuf::from(OsStr::from_bytes(name)));
        }
        for entry in segment
            .dynamic(endian, data)
            .map_err(malformed)?
            .unwrap_or_default()
        {
            needs_others |= entry.tag(endian) == elf::DT_NEEDED;
            if entry.tag(endian) == elf::DT_FLAGS_1 {
                let flags: u64 = entry.d_val(endian).into();
                marked_pie |= flags & elf::DF_1_PIE.0 != 0;
            }
        }
    }
    let kind = match header.e_type(endian) {
        elf::ET_EXEC => None,
        // Static PIEs have no interpreter but are marked; libraries may have either (libc.so.6).
        elf::ET_DYN if marked_pie || interpreter.is_some() => None,
        // A loader that is executed itself (`ld.so PROGRAM`) is neither; it begins somewhere and needs no library.
        elf::ET_DYN if header.e_entry(endian).into() != 0 && !needs_others => None,
        elf::ET_DYN => Some("a shared library"),
        elf::ET_REL => Some("an object file"),
        elf::ET_CORE => Some("a core dump"),
        _ => Some("an ELF file of unknown type"),
    };
    if let Some(kind) = kind {
        return Err(InspectError::NotAProgram {
            path: path.to_owned(),
            kind,
        });
    }
    let build_id = Image::open(path).ok().and_then(|image| image.build_id());
    Ok(ElfProgram {
        path: path.to_owned(),
        class: if header.is_class_64() {
            Class::Elf64
        } else {
            Class::Elf32
        },
        machine: Machine(header.e_machine(endian).0),
        is_pie: header.e_type(endian) == elf::ET_DYN,
        is_static: interpreter.is_none(),
        interpreter,
        build_id,
    })
}
