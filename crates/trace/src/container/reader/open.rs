//! Opening a trace: manifest, block logs, the index of each stream, and whether they agree.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::tables::{Tables, missing};
use super::{Damage, DamageKind, ReadError, ReadOptions, StreamIndex, Trace, check, index};
use crate::container::manifest::{
    FORMAT, MANIFEST, Manifest, ProcessEntry, SCHEMA_VERSION, ThreadEntry, TraceKind, blocks_file,
    events_file, number_in,
};
use crate::container::manifest_file;
use crate::{ProcessId, SiteTable, ThreadId};

pub(super) fn open(dir: &Path, options: ReadOptions) -> Result<Trace, ReadError> {
    let mut damage = Vec::new();
    let mut manifest = manifest_of(dir, options, &mut damage)?;
    if manifest.kind == TraceKind::Samples {
        let dir = dir.to_owned();
        return Err(ReadError::OnlySamples { dir });
    }
    let trusted = damage.is_empty();
    let found = count_files(dir)?;
    complete_processes(&mut manifest, found.processes);
    let streams = scan_streams(dir, &mut manifest, found.threads, trusted, &mut damage)?;
    let mut sites = SiteTable::default();
    let tables = Tables::scan(dir, &mut manifest.processes, &mut sites, &mut damage)?;
    if trusted {
        check_logs(dir, &manifest, &tables, &mut damage);
    }
    let noted = std::mem::take(&mut manifest.totals);
    for (entry, stream) in manifest.threads.iter_mut().zip(&streams) {
        entry.totals = stream.totals;
        entry.checksum = stream.checksum;
        manifest.totals += stream.totals;
    }
    for (entry, index) in manifest.processes.iter_mut().zip(&tables.processes) {
        entry.log = index.totals;
    }
    if !options.lenient && !damage.iter().all(Damage::is_expected) {
        let logs = tables.whole(&damage);
        let has_log = |process: ProcessId| logs.get(process.0 as usize).is_some_and(|whole| *whole);
        let whole: Vec<bool> = (manifest.threads.iter().zip(&streams))
            .map(|(t, s)| s.damage.is_empty() && has_log(t.process))
            .collect();
        let all_logs = logs.iter().all(|whole| *whole);
        let usable = check::usable(&noted, &manifest.totals, &whole, all_logs);
        damage.retain(|d| !d.is_expected());
        return Err(ReadError::Incomplete { damage, usable });
    }
    Ok(Trace {
        dir: dir.to_owned(),
        manifest,
        options,
        tables,
        sites,
        streams,
        damage,
        words_read: Arc::default(),
    })
}

/// Reads and checks the manifest of a trace of any kind.
///
/// # Errors
/// [`ReadError::NotATrace`], [`ReadError::NewerSchema`], [`ReadError::OlderSchema`],
/// [`ReadError::Io`].
pub fn read_manifest(dir: &Path) -> Result<Manifest, ReadError> {
    Ok(manifest_file::read(dir)?.0)
}

/// The manifest, or what can be known without it where that was asked for.
fn manifest_of(
    dir: &Path,
    options: ReadOptions,
    damage: &mut Vec<Damage>,
) -> Result<Manifest, ReadError> {
    let (manifest, wrong) = match manifest_file::read(dir) {
        Ok((manifest, wrong)) => (manifest, wrong.map(str::to_owned)),
        Err(ReadError::NotATrace { why, dir }) if options.lenient && dir.is_dir() => {
            if count_files(&dir)?.threads == 0 {
                return Err(ReadError::NotATrace { why, dir });
            }
            let rebuilt = Manifest {
                format: FORMAT.to_owned(),
                schema_version: SCHEMA_VERSION,
                ..Manifest::default()
            };
            let why = format!(
                "{why}; what was recorded, and whether all of it is here, is not known any more"
            );
            (rebuilt, Some(why))
        }
        Err(other) => return Err(other),
    };
    damage.extend(wrong.map(|why| Damage {
        path: dir.join(MANIFEST),
        offset: 0,
        bytes: 0,
        what: DamageKind::Manifest(why),
    }));
    Ok(manifest)
}

fn check_logs(dir: &Path, manifest: &Manifest, tables: &Tables, damage: &mut Vec<Damage>) {
    for (entry, index) in manifest.processes.iter().zip(&tables.processes) {
        let path = dir.join(blocks_file(entry.id));
        let mut known = damage.iter().filter(|d| d.path == path);
        let (absent, damaged) = match known.next() {
            Some(d) => (d.what == DamageKind::Missing, true),
            None => (false, false),
        };
        if !absent {
            let wrong = check::log(&path, &entry.log, &index.totals, manifest.state, damaged);
            damage.extend(wrong);
        }
    }
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
    trusted: bool,
    damage: &mut Vec<Damage>,
) -> Result<Vec<StreamIndex>, ReadError> {
    let mut streams = Vec::new();
    for n in 0..files.max(manifest.threads.len()) {
        let id = ThreadId(n as u32);
        let path = dir.join(events_file(id));
        let noted = manifest.threads.get(n);
        let mut stream = match index::scan(&path, id, noted.map_or(0, |t| t.totals.blocks)) {
            // Without its file a thread has no events; that it had some is damage.
            Err(ReadError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                let mut absent = StreamIndex::default();
                absent.damage.push(missing(path.clone()));
                absent
            }
            other => other?,
        };
        if trusted && let Some(noted) = noted {
            let wrong = check::stream(&path, noted, &stream, manifest.state);
            stream.damage.extend(wrong);
        }
        damage.extend(stream.damage.iter().cloned());
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
