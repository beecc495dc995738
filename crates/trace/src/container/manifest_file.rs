//! The manifest as a file: JSON that carries a checksum of itself.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::manifest::{FORMAT, MANIFEST, Manifest, SCHEMA_VERSION};
use super::reader::ReadError;
use super::{WriteError, write_file};

/// What stands before the checksum's digits. Inside a string its quotes would be escaped.
const KEY: &[u8] = b"\"crc32\": \"";
const DIGITS: usize = 8;
/// What the digits are while the checksum is made.
const BLANK: &str = "00000000";

/// Replaces the manifest in `dir` in one step, so that there is a whole one at any time; its bytes.
pub(crate) fn write(dir: &Path, manifest: &Manifest) -> Result<usize, WriteError> {
    let path = dir.join(MANIFEST);
    let stamped = Stamped {
        crc32: BLANK,
        manifest,
    };
    let json = serde_json::to_vec_pretty(&stamped);
    let mut json = json.map_err(|e| WriteError::io(&path, e.into()))?;
    json.push(b'\n');
    let crc = format!("{:08x}", crc32fast::hash(&json));
    if let Some(at) = digits(&json) {
        json[at..at + DIGITS].copy_from_slice(crc.as_bytes());
    }
    write_file(dir, MANIFEST, &json)?;
    Ok(json.len())
}

#[derive(serde::Serialize)]
struct Stamped<'a> {
    crc32: &'static str,
    #[serde(flatten)]
    manifest: &'a Manifest,
}

/// Where the checksum's digits are.
fn digits(json: &[u8]) -> Option<usize> {
    let at = json.windows(KEY.len()).position(|w| w == KEY)? + KEY.len();
    (json.len() >= at + DIGITS).then_some(at)
}

/// Is the file as it was written?
fn is_whole(json: &[u8]) -> bool {
    let Some(at) = digits(json) else { return false };
    let mut blank = json.to_vec();
    blank[at..at + DIGITS].copy_from_slice(BLANK.as_bytes());
    json[at..at + DIGITS] == *format!("{:08x}", crc32fast::hash(&blank)).as_bytes()
}

/// The manifest in `dir`, and what is wrong with it though it could be read.
pub(crate) fn read(dir: &Path) -> Result<(Manifest, Option<&'static str>), ReadError> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        format: serde_json::Value,
        #[serde(default)]
        schema_version: serde_json::Value,
    }
    let not = |why: String| ReadError::NotATrace {
        dir: dir.to_owned(),
        why,
    };
    let path = dir.join(MANIFEST);
    let json = match fs::read(&path) {
        Ok(json) => json,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            return Err(not(if dir.exists() {
                format!("it has no {MANIFEST}")
            } else {
                "there is no such directory".to_owned()
            }));
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotADirectory => {
            return Err(not("it is a file, not a directory".to_owned()));
        }
        Err(e) => return Err(ReadError::io(&path, e)),
    };
    let bad = |e: serde_json::Error| not(format!("its {MANIFEST} cannot be understood ({e})"));
    let head: Head = serde_json::from_slice(&json).map_err(bad)?;
    if head.format != FORMAT {
        return Err(not(format!("its {MANIFEST} belongs to something else")));
    }
    let newest = u64::from(SCHEMA_VERSION);
    match head.schema_version.as_u64() {
        Some(found) if found > newest => {
            let dir = dir.to_owned();
            return Err(ReadError::NewerSchema { dir, found });
        }
        Some(found @ 1..) if found < newest => {
            let dir = dir.to_owned();
            return Err(ReadError::OlderSchema { dir, found });
        }
        Some(1..) => {}
        _ => return Err(not(format!("its {MANIFEST} states no schema version"))),
    }
    let manifest = serde_json::from_slice(&json).map_err(bad)?;
    let wrong = (!is_whole(&json)).then_some("its checksum does not match: it was changed");
    Ok((manifest, wrong))
}
