//! Where one check after another finds its image.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use prestore_crash::{Happening, Logged};
use prestore_tracer::{SCRATCH_PREFIX, in_use, sweep};
use tempfile::TempDir;

use super::checker::{Checker, Ended, Said};
use crate::error::CliError;
use crate::interrupt;

/// Bytes that are written or left out together.
const BLOCK: usize = 4096;

/// Those parts of an image that may hold anything but zeros.
#[derive(Clone, Debug)]
pub struct Parts(Vec<Range<usize>>);

impl Parts {
    pub fn of(logged: &Logged) -> Self {
        let image = logged.image(logged.log.initial());
        let zero = |block: &[u8]| block.iter().all(|b| *b == 0);
        let mut used: Vec<bool> = image.chunks(BLOCK).map(|b| !zero(b)).collect();
        for event in logged.log.events() {
            if let Happening::Store { offset, bytes, .. } = &event.happening {
                let first = (*offset as usize).saturating_sub(logged.pad);
                let last = (first + bytes.len()).div_ceil(BLOCK).min(used.len());
                used[(first / BLOCK).min(last)..last].fill(true);
            }
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        for block in (0..used.len()).filter(|b| used[*b]) {
            let (from, to) = (block * BLOCK, ((block + 1) * BLOCK).min(image.len()));
            match parts.last_mut() {
                Some(last) if last.end == from => last.end = to,
                _ => parts.push(from..to),
            }
        }
        Self(parts)
    }

    /// Writes `image` to a new file.
    pub fn write(&self, path: &Path, image: &[u8]) -> Result<(), CliError> {
        let written = || {
            let file = File::create(path)?;
            file.set_len(image.len() as u64)?;
            let mut parts = self.0.iter();
            parts.try_for_each(|part| file.write_all_at(&image[part.clone()], part.start as u64))
        };
        written().map_err(|e: std::io::Error| {
            if path.is_file() {
                let _half_an_image_helps_nobody = std::fs::remove_file(path);
            }
            CliError::Failed(format!(
                "the image {} cannot be written: {e}; --scratch names another folder for images, --keep \
                 another file for the one that fails",
                path.display()
            ))
        })
    }
}

/// A folder with one image and what its checker says.
pub struct Desk {
    folder: TempDir,
    image: PathBuf,
    said: Said,
    _in_use: File,
}

impl Desk {
    pub fn new(scratch: Option<&Path>) -> Result<Self, CliError> {
        let shared = Path::new("/dev/shm");
        let temporary = std::env::temp_dir();
        let folder = match scratch {
            Some(folder) => folder,
            None if shared.is_dir() => shared,
            None => &temporary,
        };
        let failed = |e: std::io::Error| {
            CliError::Usage(format!(
                "images cannot be written to {}: {e}; name another folder with --scratch",
                folder.display()
            ))
        };
        let plain = |c: char| c.is_alphanumeric() || "/._-+:,=@%^".contains(c);
        sweep(folder);
        let own = tempfile::Builder::new()
            .prefix(&format!("{SCRATCH_PREFIX}crash."))
            .tempdir_in(folder);
        let own = own.map_err(failed)?;
        interrupt::takes_along(own.path());
        let image = own.path().join("image");
        if !image.to_str().is_some_and(|path| path.chars().all(plain)) {
            return Err(CliError::Usage(format!(
                "the folder {} has a name that commands may not understand: name another with --scratch",
                folder.display()
            )));
        }
        let in_use = in_use(own.path()).map_err(failed)?;
        Ok(Self {
            folder: own,
            image,
            said: Said::default(),
            _in_use: in_use,
        })
    }

    /// How the check of `image` ends.
    pub fn check(
        &mut self,
        checker: &Checker,
        parts: &Parts,
        image: &[u8],
    ) -> Result<Ended, CliError> {
        // The one before may be mapped, or changed.
        let _ = std::fs::remove_file(&self.image);
        parts.write(&self.image, image)?;
        checker.run(&self.image, &mut self.said)
    }

    /// What the last check printed, with the image's name as the command has it.
    pub fn said(&self) -> String {
        let folder = self.folder.path().join("image");
        self.said
            .last_words()
            .replace(folder.to_str().unwrap_or("\0"), "{image}")
    }
}
