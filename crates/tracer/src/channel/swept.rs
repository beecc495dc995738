//! Folders that last as long as the process that made them: what a killed one left, another removes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

/// How the names of such folders begin.
pub const PREFIX: &str = "prestore-";
/// The file in one, or in a folder in it, that is locked while it is in use.
pub(super) const IN_USE: &str = "control";
/// What that file begins with: other people's folders may have such names.
pub(super) const CONTROL_MAGIC: u64 = 0x4c54_4345_5254_5350;
/// Younger ones may still be in the making.
const SETTLED: Duration = Duration::from_secs(60);

/// The folder `dir`, whose name begins with [`PREFIX`], is in use until what this returns is dropped.
///
/// # Errors
///
/// The file that says so cannot be made.
pub fn in_use(dir: &Path) -> io::Result<File> {
    let mut file = File::create_new(dir.join(IN_USE))?;
    flock(&file, FlockOperation::LockExclusive)?;
    file.write_all(&CONTROL_MAGIC.to_le_bytes())?;
    Ok(file)
}

/// Removes the folders in `parent` that nobody uses any more.
pub fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let age = entry
            .metadata()
            .and_then(|m| m.modified())
            .map(|m| m.elapsed());
        let settled = matches!(age, Ok(Ok(age)) if age >= SETTLED);
        if !settled || !name.to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let Some(control) = control_below(&entry.path()) else {
            continue;
        };
        if flock(&control, FlockOperation::NonBlockingLockShared).is_ok() {
            // Somebody else may be sweeping, or it may not be ours: either is no concern here.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The file that is locked in `dir`, or in the folder in it that root's sessions have.
fn control_below(dir: &Path) -> Option<File> {
    let inner = std::fs::read_dir(dir).ok()?.flatten().map(|e| e.path());
    std::iter::once(dir.to_path_buf())
        .chain(inner)
        .find_map(|dir| ours(&dir.join(IN_USE)))
}

/// The file of that name, if it is one of those that are locked.
fn ours(file: &Path) -> Option<File> {
    let mut file = File::open(file).ok()?;
    let mut begins = [0; 8];
    file.read_exact(&mut begins).ok()?;
    (u64::from_le_bytes(begins) == CONTROL_MAGIC).then_some(file)
}

#[cfg(test)]
mod tests {
    use std::fs::FileTimes;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_what_nobody_uses_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let made = |name: &str| {
            let dir = parent.path().join(name);
            std::fs::create_dir(&dir).unwrap();
            dir
        };
        let old = |dir: &Path| {
            let then = SystemTime::now() - 2 * SETTLED;
            let times = FileTimes::new().set_modified(then);
            File::open(dir).unwrap().set_times(times).unwrap();
        };
        let [used, left, young] = ["prestore-used", "prestore-left", "prestore-young"].map(made);
        let [other, unmarked] = ["other-left", "prestore-unmarked"].map(made);
        let lock = in_use(&used).unwrap();
        for dir in [&left, &young, &other] {
            drop(in_use(dir).unwrap());
        }
        // As a source package of this name has it.
        let source = made("prestore-0.1");
        std::fs::create_dir(source.join("debian")).unwrap();
        std::fs::write(source.join("debian/control"), "Source: prestore\n").unwrap();
        for dir in [&used, &left, &other, &unmarked, &source] {
            old(dir);
        }
        sweep(parent.path());
        let there = [&used, &left, &young, &other, &unmarked, &source].map(|dir| dir.exists());
        assert_eq!(there, [true, false, true, true, true, true]);
        drop(lock);
        old(&used);
        sweep(parent.path());
        assert!(!used.exists());
    }
}
