//! Making room for a trace, and replacing files in one step.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::{Existing, WriteError};
use crate::container::manifest::{FORMAT, MANIFEST, number_in};

/// Makes `dir`, or makes sure that a trace may be written to it.
pub(crate) fn prepare(dir: &Path, existing: Existing) -> Result<(), WriteError> {
    let io = |e| WriteError::io(dir, e);
    fs::create_dir_all(dir).map_err(io)?;
    let names: Vec<_> = fs::read_dir(dir)
        .map_err(io)?
        .map(|entry| entry.map(|e| e.file_name()))
        .collect::<Result<_, _>>()
        .map_err(io)?;
    if names.is_empty() {
        return Ok(());
    }
    let dir = dir.to_owned();
    if !is_trace(&dir) {
        return Err(WriteError::NotEmpty { dir });
    }
    if existing == Existing::Keep {
        return Err(WriteError::Exists { dir });
    }
    // Without its manifest it would be nobody's, and never be replaced: that goes last, should this be interrupted.
    let names = names.iter().filter_map(|n| n.to_str());
    let streams = names.filter(|n| ours(n) && *n != MANIFEST);
    for name in streams.chain([MANIFEST]) {
        let path = dir.join(name);
        fs::remove_file(&path).map_err(|e| WriteError::io(&path, e))?;
    }
    // Tables that were made of it would be taken for those of the new one.
    let tables = dir.join(TABLES);
    for name in TABLE_NAMES {
        match fs::remove_file(tables.join(name)) {
            Err(e)
                if !matches!(
                    e.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(WriteError::io(&tables.join(name), e));
            }
            _ => {}
        }
    }
    let _what_else_is_there_stays = fs::remove_dir(&tables);
    Ok(())
}

fn is_trace(dir: &Path) -> bool {
    let json = fs::read(dir.join(MANIFEST)).ok();
    let value: Option<serde_json::Value> = json.and_then(|j| serde_json::from_slice(&j).ok());
    value.is_some_and(|v| v["format"] == FORMAT)
}

fn ours(name: &str) -> bool {
    let temporary = name.strip_suffix(TEMPORARY).unwrap_or(name);
    matches!(temporary, MANIFEST | crate::import::SAMPLES)
        || number_in(name, "process-", ".blocks").is_some()
        || number_in(name, "thread-", ".events").is_some()
}

const TEMPORARY: &str = ".new";

/// Where in a recording its tables go, if nothing else is asked for.
pub const TABLES: &str = "parquet";
/// What the tables of a recording are called; the last is there for those with values.
pub const TABLE_NAMES: [&str; 4] = [
    "events.parquet",
    "sites.parquet",
    "threads.parquet",
    "values.parquet",
];

/// Removes the recording in `dir`; the directory stays, and what else is in it.
///
/// # Errors
/// [`WriteError::Io`].
pub fn remove(dir: &Path) -> Result<(), WriteError> {
    prepare(dir, Existing::Replace)
}

/// Writes the file `name`, which is the old one until it is the new one.
pub(crate) fn write_file(dir: &Path, name: &str, content: &[u8]) -> Result<(), WriteError> {
    let temporary = dir.join(format!("{name}{TEMPORARY}"));
    let write = || -> io::Result<()> {
        let mut file = fs::File::create(&temporary)?;
        file.write_all(content)?;
        fs::rename(&temporary, dir.join(name))
    };
    write().map_err(|e| {
        let _half_a_file_helps_nobody = fs::remove_file(&temporary);
        WriteError::io(&dir.join(name), e)
    })
}
