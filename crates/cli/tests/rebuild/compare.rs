//! Rebuilt memory beside the real one.

use std::collections::{BTreeMap, HashMap, HashSet};

use prestore_replay::{Counts, Memory, Rebuild};
use prestore_trace::container::Trace;
use prestore_trace::{ProcessId, ThreadId};

use crate::stops::{PAGE, Stop};

/// What was found, over all stops.
#[derive(Debug, Default)]
pub struct Compared {
    pub stops: usize,
    /// Bytes compared, in pages that are other than zeros.
    pub bytes: u64,
    /// The first bytes that are known and wrong: stop, address, real, rebuilt.
    pub wrong: Vec<(usize, u64, u8, u8)>,
    pub wrong_bytes: u64,
    /// Bytes that were wrong while a thread was in a system call: when all those have returned they must not be.
    pub midway: HashSet<u64>,
    /// Bytes that are not known, and the first of them.
    pub unknown: u64,
    pub first_unknown: Vec<(usize, u64)>,
    /// Bytes that are unordered, the real value among those they may have.
    pub unordered: u64,
    pub counts: Counts,
}

type Pages = BTreeMap<u64, Box<[u8; PAGE]>>;

pub fn compare(trace: &Trace, stops: &[Stop]) -> Compared {
    let mut found = Compared {
        stops: stops.len(),
        ..Compared::default()
    };
    let mut rebuild = Rebuild::new(trace, false).unwrap();
    let mut real: HashMap<u32, Pages> = HashMap::new();
    let mut last_of: HashMap<u32, usize> = HashMap::new();
    for (at, stop) in stops.iter().enumerate() {
        let before = last_of.insert(stop.pid, at).map(|b| &stops[b]);
        let process = process(trace, stop.pid);
        let words = threads(trace, process, stop);
        rebuild.to(&words.into_iter().collect()).unwrap();
        let pages = real.entry(stop.pid).or_default();
        pages.extend(stop.changed.iter().map(|(a, p)| (*a, p.clone())));
        let memory = rebuild.memory(process).unwrap();
        one(&mut found, at, stop, before, pages, memory);
    }
    found.counts = rebuild.counts().clone();
    // Once more in one go, with nothing known of when the threads stopped.
    if let Some(last) = stops.last() {
        let mut rebuild = Rebuild::new(trace, false).unwrap();
        rebuild.to_end().unwrap();
        let memory = rebuild.memory(process(trace, last.pid)).unwrap();
        one(
            &mut found,
            stops.len(),
            last,
            None,
            &real[&last.pid],
            memory,
        );
    }
    found
}

fn process(trace: &Trace, pid: u32) -> ProcessId {
    let mut all = trace.manifest().processes.iter();
    all.find(|p| p.pid == pid).unwrap().id
}

fn threads(trace: &Trace, process: ProcessId, stop: &Stop) -> HashMap<ThreadId, u64> {
    let all = trace.manifest().threads.iter();
    let mine = all.filter(|t| t.process == process);
    mine.filter_map(|t| {
        // One that is not named has not begun, or is at its end already.
        let words = stop.words.get(&t.tid)?;
        Some((t.id, *words))
    })
    .collect()
}

/// `earlier`: the process's stop before.
fn one(
    found: &mut Compared,
    at: usize,
    stop: &Stop,
    earlier: Option<&Stop>,
    real: &Pages,
    memory: &Memory,
) {
    static ZEROS: [u8; PAGE] = [0; PAGE];
    let before = std::mem::take(&mut found.midway);
    // The same call may still go on: stops come quickly.
    let mut calls = stop.calls.iter();
    let still = calls.any(|(tid, words)| earlier.and_then(|e| e.calls.get(tid)) == Some(words));
    let last = at == found.stops;
    for &(begin, end) in &stop.ranges {
        let mut pages: Vec<u64> = real.range(begin..end).map(|p| *p.0).collect();
        pages.extend(memory.pages().map(|n| n * PAGE as u64));
        pages.retain(|p| (begin..end).contains(p));
        pages.sort_unstable();
        pages.dedup();
        for addr in pages {
            let page = real.get(&addr).map_or(&ZEROS, |p| &**p);
            found.bytes += PAGE as u64;
            for (addr, real) in (addr..).zip(page) {
                match memory.byte(addr) {
                    None => {
                        found.unknown += 1;
                        if found.first_unknown.len() < 3 {
                            found.first_unknown.push((at, addr));
                        }
                    }
                    Some(byte) if byte == *real => {}
                    Some(_) if memory.others(addr).any(|o| o == *real) => found.unordered += 1,
                    Some(_)
                        if !stop.calls.is_empty()
                            && !last
                            && (still || !before.contains(&addr)) =>
                    {
                        found.midway.insert(addr);
                    }
                    Some(byte) => {
                        found.wrong_bytes += 1;
                        if found.wrong.len() < 60 && found.wrong.iter().all(|w| w.1 != addr) {
                            found.wrong.push((at, addr, *real, byte));
                        }
                    }
                }
            }
        }
    }
}
