//! Opening a trace: manifest, block logs, the index of each stream.

use std::fs;
use std::path::Path;

use super::{Damage, ReadError, ReadOptions, StreamIndex, Trace, index, tables};
use crate::container::manifest::{
    FORMAT, MANIFEST, Manifest, ProcessEntry, SCHEMA_VERSION, ThreadEntry, Totals, TraceKind,
    events_file, number_in,
};
use crate::{ProcessId, ThreadId};

pub(super) fn open(dir: &Path, options: ReadOptions) -> Result<Trace, ReadError> {
    let mut manifest = read_manifest(dir)?;
    if manifest.kind == TraceKind::Samples {
        let dir = dir.to_owned();
        return Err(ReadError::OnlySamples { dir });
    }
    let found = count_files(dir)?;
    complete_processes(&mut manifest, found.processes);
    let mut damage = Vec::new();
    let streams = scan_streams(dir, &mut manifest, found.threads, options, &mut damage)?;
    let loaded = tables::load(dir, &mut manifest.processes, options, &mut damage)?;
    manifest.totals = Totals::default();
    for (entry, stream) in manifest.threads.iter_mut().zip(&streams) {
        entry.totals = stream.totals;
        manifest.totals += stream.totals;
    }
    Ok(Trace {
        dir: dir.to_owned(),
        manifest,
        options,
        tables: loaded.tables,
        sites: loaded.sites,
        streams,
        damage,
    })
}

/// Reads and checks the manifest of a trace of any kind.
///
/// # Errors
/// [`ReadError::NotATrace`], [`ReadError::NewerSchema`], [`ReadError::Io`].
pub fn read_manifest(dir: &Path) -> Result<Manifest, ReadError> {
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
    let value: serde_json::Value = serde_json::from_slice(&json).map_err(bad)?;
    if value["format"] != FORMAT {
        return Err(not(format!("its {MANIFEST} belongs to something else")));
    }
    match value["schema_version"].as_u64() {
        Some(found) if found > u64::from(SCHEMA_VERSION) => {
            let dir = dir.to_owned();
            return Err(ReadError::NewerSchema { dir, found });
        }
        Some(1..) => {}
        _ => return Err(not(format!("its {MANIFEST} states no schema version"))),
    }
    serde_json::from_value(value).map_err(bad)
}

/// One past the highest number of the files of each sort.
#[derive(Default)]
struct Found {
    processes: usize,
    threads: usize,
}

/// No trace has more processes or threads: a stray file name must not cost memory.
const MOST: u32 = 1 << 20;

fn count_files(dir: &Path) -> Result<Found, ReadError> {
    let io = |e| ReadError::io(dir, e);
    let mut found = Found::default();
    for entry in fs::read_dir(dir).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let Some(name) = name.to_str() else { continue };
        let number = |suffix, prefix| number_in(name, suffix, prefix).filter(|n| *n < MOST);
        if let Some(n) = number("process-", ".blocks") {
            found.processes = found.processes.max(n as usize + 1);
        }
        if let Some(n) = number("thread-", ".events") {
            found.threads = found.threads.max(n as usize + 1);
        }
    }
    Ok(found)
}

/// Adds processes that came after the manifest was last written; their logs say who they are.
fn complete_processes(manifest: &mut Manifest, files: usize) {
    for n in manifest.processes.len()..files {
        manifest.processes.push(ProcessEntry {
            id: ProcessId(n as u32),
            ..ProcessEntry::default()
        });
    }
}

fn scan_streams(
    dir: &Path,
    manifest: &mut Manifest,
    files: usize,
    options: ReadOptions,
    damage: &mut Vec<Damage>,
) -> Result<Vec<StreamIndex>, ReadError> {
    let mut streams = Vec::new();
    for n in 0..files.max(manifest.threads.len()) {
        let id = ThreadId(n as u32);
        let path = dir.join(events_file(id));
        let mut stream = match index::scan(&path, options.lenient) {
            // Without its file a thread has no events; that it had some is damage.
            Err(ReadError::Io { source, .. })
                if options.lenient && source.kind() == std::io::ErrorKind::NotFound =>
            {
                let mut missing = StreamIndex::default();
                missing.damage.push(tables::missing(path));
                missing
            }
            other => other?,
        };
        damage.append(&mut stream.damage);
        if n >= manifest.threads.len() {
            let process = stream.blocks.first().map(|b| b.1.process);
            manifest.threads.push(ThreadEntry {
                id,
                process: process.unwrap_or_default(),
                ..ThreadEntry::default()
            });
        }
        streams.push(stream);
    }
    let blocks = streams.iter().flat_map(|s| &s.blocks);
    let processes = blocks.map(|b| b.1.process.0).max();
    if let Some(last) = processes.filter(|p| *p < MOST) {
        // Without its log, loading the tables says which one is missing.
        complete_processes(manifest, last as usize + 1);
    }
    Ok(streams)
}
