//! A session's directory: where traced processes and the host find each other.

use std::collections::HashSet;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use memmap2::MmapMut;
use rustix::fs::{FlockOperation, flock, statvfs};
use tempfile::TempDir;

use super::WIRE_VERSION;
use super::notes::NoteReader;
use super::protocol::Doorbell;
use super::swept::{CONTROL_MAGIC, IN_USE, PREFIX, sweep};
use crate::Note;

const DOORBELL: usize = 12;
const ASLEEP: usize = 16;
const FILES: usize = 20;
const STOP: usize = 24;
const NOTES: usize = 28;

/// A container's /dev/shm may be as small as 64 MB, which a few dozen threads would fill: with less
/// free than this, the directory for temporary files is used instead. A thread takes about 1 MB.
const ENOUGH_BYTES: u64 = 256 << 20;
/// Where the shared files go, below `dir`. Programs of root may become other users, who then need
/// to make files there and to write to the control file. Nobody else may: the folder's name is
/// the key, which is told to the programs alone, and who finds it can neither list it nor
/// remove what is another's.
fn place(dir: &Path, root: bool) -> io::Result<(PathBuf, u32)> {
    if !root {
        return Ok((dir.to_path_buf(), 0o600));
    }
    let mut key = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut key)?;
    let place = dir.join(format!("{:032x}", u128::from_ne_bytes(key)));
    std::fs::create_dir(&place)?;
    std::fs::set_permissions(&place, Permissions::from_mode(0o1733))?;
    std::fs::set_permissions(dir, Permissions::from_mode(0o711))?;
    Ok((place, 0o666))
}

/// Makes the file `name`.
fn create(place: &Path, name: &str, mode: u32) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(place.join(name))?;
    // Whatever the umask says.
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(file)
}

/// What a shared file is, from its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FileName {
    /// A process's meta log.
    Meta {
        /// Its pid.
        pid: u32,
        /// Tells executions of one pid apart.
        stamp: u64,
    },
    /// A thread's ring of buffers.
    Ring {
        /// The thread's id.
        tid: u32,
    },
    /// A thread's block counters.
    Count {
        /// The thread's id.
        tid: u32,
    },
}

impl FileName {
    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.split('-').skip(1);
        let pid = parts.next()?.parse().ok()?;
        let last = parts.next()?;
        Some(match name.as_bytes().first()? {
            b't' => Self::Ring {
                tid: last.parse().ok()?,
            },
            b'n' => Self::Count {
                tid: last.parse().ok()?,
            },
            b'p' => Self::Meta {
                pid,
                stamp: u64::from_str_radix(last.strip_suffix(".meta")?, 16).ok()?,
            },
            _ => return None,
        })
    }

    /// Processes before their threads, each oldest first: a forked process needs to know its
    /// parent's blocks, and the order decides numbering.
    fn order(&self) -> (bool, u64) {
        match self {
            Self::Meta { stamp, .. } => (false, *stamp),
            Self::Ring { tid } | Self::Count { tid } => (true, u64::from(*tid)),
        }
    }
}

/// The directory and its control file. Dropping it removes the directory; clients that still run
/// notice that the lock is gone and stop recording.
pub(crate) struct Session {
    _dir: TempDir,
    place: PathBuf,
    /// Of its files.
    mode: u32,
    control: MmapMut,
    _lock: File,
    files: u32,
    notes: NoteReader,
}

impl Session {
    /// Makes a session where memory backs it, if there is such a place.
    pub(crate) fn create() -> io::Result<Self> {
        let memory = Path::new("/dev/shm");
        sweep(memory);
        let builder = &mut tempfile::Builder::new();
        let builder = builder.prefix(PREFIX);
        let roomy = statvfs(memory).is_ok_and(|s| s.f_bavail * s.f_frsize >= ENOUGH_BYTES);
        let in_memory = roomy.then(|| builder.tempdir_in(memory).ok()).flatten();
        let dir = match in_memory {
            Some(dir) => dir,
            None => builder.tempdir()?,
        };
        let (place, mode) = place(dir.path(), rustix::process::geteuid().is_root())?;
        let control = create(&place, IN_USE, mode)?;
        control.set_len(4096)?;
        flock(&control, FlockOperation::LockExclusive)?;
        // SAFETY: the file is ours, 4096 bytes long, and nobody shortens it.
        let mut map = unsafe { MmapMut::map_mut(&control)? };
        map[..8].copy_from_slice(&CONTROL_MAGIC.to_le_bytes());
        map[8..12].copy_from_slice(&WIRE_VERSION.to_le_bytes());
        Ok(Self {
            _dir: dir,
            place,
            mode,
            control: map,
            _lock: control,
            files: 0,
            notes: NoteReader::default(),
        })
    }

    /// Where the shared files are.
    pub(crate) fn path(&self) -> &Path {
        &self.place
    }

    /// Makes a file that the program's processes find, read and write.
    pub(crate) fn give(&self, name: &str, content: &[u8]) -> io::Result<File> {
        let mut file = create(&self.place, name, self.mode)?;
        file.write_all(content)?;
        Ok(file)
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        let at = self.control[offset..offset + 4].as_ptr();
        // SAFETY: the offset is aligned and inside the mapping, which lives as long as `self`;
        // clients change the word only by atomic operations.
        unsafe { AtomicU32::from_ptr(at.cast_mut().cast()) }
    }

    /// Asks the clients to stop recording; their programs run on.
    pub(crate) fn stop(&self) {
        self.word(STOP).store(1, Ordering::SeqCst);
    }

    /// A note that was not returned before.
    pub(crate) fn next_note(&mut self) -> Option<Note> {
        let begun = self.word(NOTES).load(Ordering::SeqCst);
        self.notes.next(&self.control, begun)
    }

    /// Files that have appeared since the last call. The caller removes their names, so that what
    /// came and went takes no memory, and is not found again.
    pub(crate) fn new_files(&mut self) -> io::Result<Vec<(PathBuf, FileName)>> {
        let files = self.word(FILES).load(Ordering::SeqCst);
        if files == self.files {
            return Ok(Vec::new());
        }
        self.files = files;
        let mut seen = HashSet::new();
        let mut found = self.scan(|_| true, &mut seen)?;
        // A listing may miss what appears while it is read, and a process's log appears before
        // its threads' files: a second one has the logs of all threads in the first.
        found.extend(self.scan(|kind| matches!(kind, FileName::Meta { .. }), &mut seen)?);
        found.sort_by_key(|(_, kind)| kind.order());
        Ok(found)
    }

    /// Files of the wanted kinds that were not seen before.
    fn scan(
        &self,
        wanted: impl Fn(&FileName) -> bool,
        seen: &mut HashSet<String>,
    ) -> io::Result<Vec<(PathBuf, FileName)>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.place)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(kind) = FileName::parse(&name)
                && wanted(&kind)
                && entry.file_type().is_ok_and(|t| t.is_file())
                && seen.insert(name)
            {
                found.push((entry.path(), kind));
            }
        }
        Ok(found)
    }

    fn bell(&self) -> Doorbell<'_, AtomicU32> {
        Doorbell {
            rung: self.word(DOORBELL),
            asleep: self.word(ASLEEP),
        }
    }

    /// The doorbell's count; pass it to [`Session::sleep`] after looking for work.
    pub(crate) fn doorbell(&self) -> u32 {
        self.bell().heard()
    }

    /// Sleeps until the doorbell's count is no longer `heard`, `limit` at most.
    pub(crate) fn sleep(&self, heard: u32, limit: Duration) {
        self.bell().sleep(heard, limit);
    }
}
