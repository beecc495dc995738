//! What the recorder's client has written down of the program's memory (tracer/client/stops.c).

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub const PAGE: usize = 4096;

const STOP: u64 = 1;
const PAGE_CHANGED: u64 = 2;
const RANGE: u64 = 3;
const DONE: u64 = 4;

/// What a thread does.
const IN_KERNEL: u64 = 2;

/// One stop of one process.
pub struct Stop {
    pub pid: u32,
    /// Of each thread, by its kernel's id, how many words it has written.
    pub words: HashMap<u32, u64>,
    /// Threads that were in a system call, with their words: it may have written already what is recorded behind it.
    pub calls: HashMap<u32, u64>,
    /// Pages whose content is another one than at the process's stop before.
    pub changed: BTreeMap<u64, Box<[u8; PAGE]>>,
    /// What is writable.
    pub ranges: Vec<(u64, u64)>,
}

struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn word(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn three(&mut self) -> Option<(u64, u64, u64)> {
        Some((self.word()?, self.word()?, self.word()?))
    }
}

/// All whole stops in `file`.
pub fn read(file: &Path) -> Vec<Stop> {
    let bytes = std::fs::read(file).unwrap();
    let mut words = Words(&bytes);
    let mut stops = Vec::new();
    while let Some(stop) = one(&mut words) {
        stops.push(stop);
    }
    stops
}

fn one(words: &mut Words<'_>) -> Option<Stop> {
    let (STOP, pid, threads) = words.three()? else {
        panic!("no stop where one should be");
    };
    let mut stop = Stop {
        pid: pid as u32,
        words: HashMap::new(),
        calls: HashMap::new(),
        changed: BTreeMap::new(),
        ranges: Vec::new(),
    };
    for _ in 0..threads {
        let (tid, written, doing) = words.three()?;
        if doing == IN_KERNEL {
            stop.calls.insert(tid as u32, written);
        }
        stop.words.insert(tid as u32, written);
    }
    loop {
        match words.three()? {
            (PAGE_CHANGED, addr, _) => {
                let page = words.take::<PAGE>()?;
                stop.changed.insert(addr, Box::new(page));
            }
            (RANGE, begin, end) => stop.ranges.push((begin, end)),
            (DONE, ..) => return Some(stop),
            (tag, ..) => panic!("a stop has a part {tag}"),
        }
    }
}
