//! Our changes to the engine's source, applied to a copy of it: one patch a file, each with its reason on top.

use std::error::Error;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The patches, in the order in which they are applied: that of their numbers, then of their names.
pub struct Patches {
    files: Vec<(PathBuf, String)>,
}

impl Patches {
    /// Reads the files `*.patch` of `folder`.
    pub fn read(folder: &Path) -> Result<Patches, Box<dyn Error>> {
        let folder = folder.canonicalize()?;
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "patch") {
                let text = fs::read_to_string(&path)?;
                files.push((path, text));
            }
        }
        files.sort_by_key(|(path, _)| (number(path), path.clone()));
        Ok(Patches { files })
    }

    /// Names what they say, so that engines with other patches are built elsewhere.
    pub fn id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        for (_, text) in &self.files {
            text.hash(&mut hasher);
        }
        format!("{:016x}", hasher.finish())
    }

    /// Makes `to` a patched copy of `original`.
    pub fn apply(&self, original: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
        if to.exists() {
            fs::remove_dir_all(to)?;
        }
        copy(original, to)?;
        for (path, _) in &self.files {
            let done = Command::new("git")
                .args(["apply", "--whitespace=nowarn"])
                .arg(path)
                .current_dir(to)
                // The copy may lie within a repository, which would make git look for the files there.
                .env("GIT_CEILING_DIRECTORIES", to.parent().unwrap_or(to))
                .status()
                .map_err(|e| format!("'git' is needed to patch the engine's source: {e}"))?;
            if !done.success() {
                return Err(
                    format!("{} does not apply to the engine's source", path.display()).into(),
                );
            }
        }
        Ok(())
    }
}

/// What the name begins with.
fn number(path: &Path) -> u32 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digits = name.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|d| d.parse().ok()).unwrap_or(u32::MAX)
}

fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
