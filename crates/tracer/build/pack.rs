//! Engine and client in one compressed file, which the binary carries.

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::engine::Engine;

/// Writes `engine.pack` (for each file: name length, name, size, bytes; lengths as u64; the whole
/// compressed) and returns an id of the content.
pub fn pack(engine: &Engine, client: &Path, out: &Path) -> Result<String, Box<dyn Error>> {
    let mut all = Vec::new();
    let mut files = engine.libraries();
    files.push(client.to_path_buf());
    for file in files {
        let name = file.file_name().ok_or("a library without a name")?;
        let bytes = std::fs::read(stripped(&file, out)?)?;
        all.extend((name.len() as u64).to_le_bytes());
        all.extend(name.as_encoded_bytes());
        all.extend((bytes.len() as u64).to_le_bytes());
        all.extend(bytes);
    }
    let mut hasher = DefaultHasher::new();
    all.hash(&mut hasher);
    std::fs::write(out.join("engine.pack"), zstd::encode_all(&all[..], 9)?)?;
    Ok(format!("{:016x}", hasher.finish()))
}

fn stripped(file: &Path, out: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let to = out.join("stripped.so");
    let status = Command::new("strip")
        .args(["--strip-debug", "-o"])
        .arg(&to)
        .arg(file)
        .status()?;
    if !status.success() {
        return Err(format!("strip failed on {}", file.display()).into());
    }
    Ok(to)
}
