//! What one process writes and another one gets, in memory that they share: as between threads of one.

use prestore_dirtbuster::{Findings, Verdict};
use prestore_trace::SiteTable;
use prestore_trace::block::{BlockTable, meta};

use crate::synthetic::Program;
use crate::{HEAP, of_site};

const SLOTS: u64 = 32;
const WORDS: u64 = 512;
const ROUNDS: u64 = 20;
const POLLS: u64 = 50;
/// Where the reader has the memory, if that is not where the writer has it.
const ELSEWHERE: u64 = 0x7e00_0000_3000;
const BYTES: u64 = SLOTS * (WORDS + 8) * 8;

/// Messages are written to slots in turn, each published by an atomic, and read by another thread which polls, and has its memory at `there`.
fn messages(there: u64) -> Program {
    let mut p = Program::default();
    let copy = p.block(2, 0).store(0, 0, 8).compute(1).done();
    let publish = p.block(1, 20).atomic(0, 0, 8).compute(4).done();
    let poll = p.block(3, 0).load(0, 0, 8).compute(3).done();
    let read = p.block(3, 10).load(0, 0, 8).compute(1).done();
    for i in 0..SLOTS * ROUNDS {
        let slot = i % SLOTS * (WORDS + 8) * 8;
        (8..WORDS + 8).for_each(|w| p.run(0, copy, &[HEAP + slot + w * 8]));
        p.run(0, publish, &[HEAP + slot]);
        (0..POLLS).for_each(|_| p.run(1, poll, &[there + slot]));
        (8..WORDS + 8).for_each(|w| p.run(1, read, &[there + slot + w * 8]));
    }
    p
}

/// The program's table with memory that is shared, by identity, at this address.
fn sharing(program: &Program, at: u64, identity: u64) -> BlockTable {
    let mut table = program.table.clone();
    let frame = [meta::SHARED, 32].map(u32::to_le_bytes).concat();
    let memory = [at, BYTES, identity, 0].map(u64::to_le_bytes).concat();
    let whole = [frame, memory].concat();
    let taken = table.feed(&whole, &mut SiteTable::default());
    assert_eq!(taken.ok(), Some(whole.len()));
    table
}

fn processes(there: u64, identities: [u64; 2]) -> Findings {
    let p = messages(there);
    let tables = [(HEAP, identities[0]), (there, identities[1])];
    let tables = tables.map(|(at, identity)| sharing(&p, at, identity));
    p.analyze_processes(&tables, false).findings
}

#[test]
fn messages_between_processes_are_judged_as_those_between_threads() {
    let threads = messages(HEAP).analyze().findings;
    let place = of_site(&threads, 2000);
    assert_eq!(place.verdict, Verdict::Demote, "{place:#?}");
    assert_eq!(processes(HEAP, [7, 7]), threads);
    // Which lines are sampled depends on where they are.
    let elsewhere = processes(ELSEWHERE, [7, 7]);
    let found = of_site(&elsewhere, 2000);
    assert_eq!(
        (found.verdict, &found.reason),
        (place.verdict, &place.reason)
    );
    assert_eq!(found.contexts, place.contexts);
    let got = |f: &Findings| (f.time.lines_taken, f.time.waited);
    assert_eq!(got(&elsewhere), got(&threads));
}

#[test]
fn nobody_gets_what_lies_elsewhere() {
    for identities in [[7, 8], [8, 7]] {
        let found = processes(HEAP, identities);
        assert_eq!((found.time.lines_taken, found.time.waited), (0, 0));
        let place = of_site(&found, 2000);
        assert!(
            place.reason.contains("No other thread was seen"),
            "{place:#?}"
        );
    }
}

/// One process fills memory and ends; then another one, which there was not before, reads it.
#[test]
fn what_a_process_leaves_behind_is_read_when_it_has_ended() {
    for ends in [false, true] {
        let mut p = Program::default();
        let fill = p.block(1, 0).store(0, 0, 8).compute(1).done();
        let read = p.block(2, 0).load(0, 0, 8).compute(1).done();
        (0..BYTES / 8).for_each(|w| p.run(0, fill, &[HEAP + w * 8]));
        (0..BYTES / 8).for_each(|w| p.run(1, read, &[ELSEWHERE + w * 8]));
        let tables = [HEAP, ELSEWHERE].map(|at| sharing(&p, at, 7));
        let found = p.analyze_processes(&tables, ends).findings;
        assert_eq!(found.time.lines_taken, BYTES / 64, "{ends}");
    }
}
