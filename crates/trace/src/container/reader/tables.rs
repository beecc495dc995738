//! The block tables of all processes, from their logs.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Damage, DamageKind, ReadError, ReadOptions};
use crate::SiteTable;
use crate::block::BlockTable;
use crate::container::manifest::{ProcessEntry, blocks_file};

pub(super) struct Loaded {
    pub(super) tables: Vec<BlockTable>,
    pub(super) sites: SiteTable,
}

/// Feeds each log, in order of the processes, so that sites get the same ids each time.
pub(super) fn load(
    dir: &Path,
    processes: &mut [ProcessEntry],
    options: ReadOptions,
    damage: &mut Vec<Damage>,
) -> Result<Loaded, ReadError> {
    let mut loaded = Loaded {
        tables: Vec::new(),
        sites: SiteTable::default(),
    };
    for at in 0..processes.len() {
        let path = dir.join(blocks_file(processes[at].id));
        let log = match fs::read(&path) {
            Ok(log) => log,
            Err(e) if options.lenient && e.kind() == std::io::ErrorKind::NotFound => {
                damage.push(missing(path.clone()));
                Vec::new()
            }
            Err(e) => return Err(ReadError::io(&path, e)),
        };
        let mut table = BlockTable::default();
        let fed = feed(&mut table, &log, processes, at, &mut loaded);
        let (consumed, what) = match fed {
            Ok(n) => (n, DamageKind::TornTail),
            Err((n, source)) if options.lenient => (n, DamageKind::Corrupt(source.to_string())),
            Err((_, source)) => return Err(ReadError::Meta { path, source }),
        };
        if consumed < log.len() {
            damage.push(Damage {
                path,
                offset: consumed as u64,
                bytes: (log.len() - consumed) as u64,
                what,
            });
        }
        let (pid, parent, _) = table.process();
        let entry = &mut processes[at];
        if entry.pid == 0 {
            (entry.pid, entry.parent) = (pid, parent);
        }
        loaded.tables.push(table);
    }
    Ok(loaded)
}

type Fed = Result<usize, (usize, crate::block::MetaError)>;

/// Feeds a log. The first frame says whether the process was forked; then what it shares with its
/// parent must be there before its own blocks are, which lie in the shared modules.
fn feed(
    table: &mut BlockTable,
    log: &[u8],
    processes: &[ProcessEntry],
    at: usize,
    loaded: &mut Loaded,
) -> Fed {
    let first = first_frame(log);
    let fail = |table: &BlockTable, e| (table.consumed() as usize, e);
    let mut consumed = match table.feed(&log[..first], &mut loaded.sites) {
        Ok(n) => n,
        Err(e) => return Err(fail(table, e)),
    };
    let (_, parent, inherited) = table.process();
    if inherited > 0 {
        let before = processes[..at].iter().rposition(|p| p.pid == parent);
        if let Some(parent) = before.and_then(|i| loaded.tables.get(i)) {
            table.inherit(parent);
        }
    }
    match table.feed(&log[consumed..], &mut loaded.sites) {
        Ok(n) => consumed += n,
        Err(e) => return Err(fail(table, e)),
    }
    Ok(consumed)
}

fn first_frame(log: &[u8]) -> usize {
    let len = log
        .get(4..8)
        .map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    log.len().min(8 + len)
}

pub(super) fn missing(path: PathBuf) -> Damage {
    Damage {
        path,
        offset: 0,
        bytes: 0,
        what: DamageKind::Corrupt("the file is missing".to_owned()),
    }
}
