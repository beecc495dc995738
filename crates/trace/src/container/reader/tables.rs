//! Block tables from their logs: read once to number all sites, and again when they are needed.
//! What all processes of a build executed is more than fits into memory at once.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustc_hash::{FxHashMap, FxHashSet};

use super::log::LogReader;
use super::{Damage, DamageKind, ReadError};
use crate::block::{BlockTable, ProcessFacts, UnknownOpcode};
use crate::container::manifest::{ProcessEntry, blocks_file};
use crate::container::pieces::LogTotals;
use crate::site::Known;
use crate::{InternSites, ProcessId, SiteTable};

/// What is kept of a process's log.
#[derive(Debug, Default)]
pub(super) struct ProcessIndex {
    pub(super) facts: ProcessFacts,
    pub(super) unknown: Vec<UnknownOpcode>,
    /// Whose blocks are this one's too.
    origin: Option<u32>,
    /// What of the log was read.
    pub(super) totals: LogTotals,
}

/// All processes, and the tables of those that somebody reads.
#[derive(Debug)]
pub(super) struct Tables {
    dir: PathBuf,
    pub(super) processes: Vec<ProcessIndex>,
    loaded: Mutex<Loaded>,
}

/// Tables that were asked for.
#[derive(Debug, Default)]
struct Loaded {
    by_process: FxHashMap<u32, Weak<BlockTable>>,
    /// The one asked for last is kept where nobody holds it: whoever reads one thread after the other wants it again.
    last: Arc<BlockTable>,
}

impl Tables {
    /// Reads each log once, in order of the processes, so that sites get the same ids each time.
    pub(super) fn scan(
        dir: &Path,
        entries: &mut [ProcessEntry],
        sites: &mut SiteTable,
        damage: &mut Vec<Damage>,
    ) -> Result<Self, ReadError> {
        let mut processes: Vec<ProcessIndex> = Vec::with_capacity(entries.len());
        let mut by_identity = FxHashMap::default();
        for entry in entries {
            let path = dir.join(blocks_file(entry.id));
            let mut index = match scan_one(&path, sites, damage) {
                Err(ReadError::Io { source, .. })
                    if source.kind() == std::io::ErrorKind::NotFound =>
                {
                    damage.push(missing(path));
                    ProcessIndex::default()
                }
                other => other?,
            };
            let facts = &index.facts;
            if facts.inherited > 0 {
                index.origin = by_identity.get(&(facts.parent, facts.origin)).copied();
            }
            by_identity.insert((facts.pid, facts.stamp), processes.len() as u32);
            if entry.pid == 0 {
                (entry.pid, entry.parent) = (facts.pid, facts.parent);
            }
            processes.push(index);
        }
        Ok(Self {
            dir: dir.to_owned(),
            processes,
            loaded: Mutex::default(),
        })
    }

    /// Of which processes is all there that their threads executed? Forked ones execute what their parents' logs have as well.
    pub(super) fn whole(&self, damage: &[Damage]) -> Vec<bool> {
        let damaged: FxHashSet<&Path> = damage.iter().map(|d| &*d.path).collect();
        let mut whole: Vec<bool> = Vec::with_capacity(self.processes.len());
        for (number, process) in (0..).zip(&self.processes) {
            let own = !damaged.contains(&*self.dir.join(blocks_file(ProcessId(number))));
            // A parent comes before its children.
            let origin = process.origin.and_then(|o| whole.get(o as usize));
            whole.push(own && *origin.unwrap_or(&true));
        }
        whole
    }

    /// The table of a process, which lives as long as somebody holds it.
    pub(super) fn get(
        &self,
        process: ProcessId,
        sites: &SiteTable,
    ) -> Result<Arc<BlockTable>, ReadError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // From the process to the first that somebody holds, or that was not forked, and back.
        let (mut line, mut table) = (Vec::new(), None);
        let mut next = Some(process.0);
        while let Some(number) = next {
            table = loaded.by_process.get(&number).and_then(Weak::upgrade);
            if table.is_some() {
                break;
            }
            line.push(number);
            let index = self.processes.get(number as usize);
            next = index.and_then(|p| p.origin);
        }
        for &number in line.iter().rev() {
            table = Some(Arc::new(self.load(number, table.as_deref(), sites)?));
        }
        let table = table.unwrap_or_default();
        if !line.is_empty() {
            loaded.by_process.retain(|_, t| t.strong_count() > 0);
            (loaded.by_process).insert(process.0, Arc::downgrade(&table));
        }
        loaded.last = table.clone();
        Ok(table)
    }

    fn load(
        &self,
        number: u32,
        origin: Option<&BlockTable>,
        sites: &SiteTable,
    ) -> Result<BlockTable, ReadError> {
        let mut table = BlockTable::default();
        let index = self.processes.get(number as usize);
        if index.is_some_and(|i| i.totals.pieces > 0) {
            let path = self.dir.join(blocks_file(ProcessId(number)));
            feed(&mut LogReader::open(&path)?, &mut table, &mut Known(sites))?;
        }
        if let Some(origin) = origin {
            table.inherit(origin);
        }
        Ok(table)
    }
}

/// Reads all of `log` that is right.
fn feed(
    log: &mut LogReader<'_>,
    table: &mut BlockTable,
    sites: &mut impl InternSites,
) -> Result<(), ReadError> {
    loop {
        let before = log.totals;
        let Some(frames) = log.next()? else {
            return Ok(());
        };
        let what = match table.feed(&frames, sites) {
            Ok(n) if n == frames.len() => continue,
            Ok(_) => "it ends within a frame".to_owned(),
            Err(e) => e.to_string(),
        };
        log.totals = before;
        log.end(before.bytes, DamageKind::Corrupt(what));
    }
}

fn scan_one(
    path: &Path,
    sites: &mut SiteTable,
    damage: &mut Vec<Damage>,
) -> Result<ProcessIndex, ReadError> {
    let mut log = LogReader::open(path)?;
    let mut table = BlockTable::default();
    feed(&mut log, &mut table, sites)?;
    damage.extend(log.damage.take());
    Ok(ProcessIndex {
        facts: *table.process(),
        unknown: table.unknown_opcodes().to_vec(),
        origin: None,
        totals: log.totals,
    })
}

pub(super) fn missing(path: PathBuf) -> Damage {
    Damage {
        path,
        offset: 0,
        bytes: 0,
        what: DamageKind::Missing,
    }
}
