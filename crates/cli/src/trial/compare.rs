//! Does the changed program do the same?

use std::collections::hash_map::DefaultHasher;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom};
use std::process::ExitStatus;

use serde::Serialize;

/// What a run is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// How it ended.
    pub status: ExitStatus,
    /// What it printed: bytes, and a hash of them.
    pub stdout: (u64, u64),
}

/// How the runs of a change compare with those of the unchanged program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sameness {
    /// All alike.
    Same,
    /// The unchanged runs are alike, and a changed one is not.
    Differs,
    /// The unchanged runs are not alike themselves, so that this says nothing.
    Varies,
}

/// Compares one aspect.
pub fn compare<T: PartialEq>(base: &[T], changed: &[T]) -> Sameness {
    let Some(first) = base.first() else {
        return Sameness::Varies;
    };
    if base.iter().any(|b| b != first) {
        Sameness::Varies
    } else if changed.iter().all(|c| c == first) {
        Sameness::Same
    } else {
        Sameness::Differs
    }
}

/// Length and hash of what `file` holds.
pub fn content(file: &mut File) -> io::Result<(u64, u64)> {
    file.seek(SeekFrom::Start(0))?;
    let (mut bytes, mut hasher) = (0, DefaultHasher::new());
    let mut buffer = [0; 1 << 16];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            return Ok((bytes, hasher.finish()));
        }
        bytes += n as u64;
        hasher.write(&buffer[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_differs_by_itself_says_nothing_about_a_change() {
        assert_eq!(compare(&[1, 1], &[1]), Sameness::Same);
        assert_eq!(compare(&[1, 1], &[1, 2]), Sameness::Differs);
        assert_eq!(compare(&[1, 2], &[1]), Sameness::Varies);
    }
}
