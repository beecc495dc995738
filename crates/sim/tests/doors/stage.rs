//! Work at the memory controllers, as P3's: encryption with counters in memory, writes that need not be made.

use std::collections::{HashMap, HashSet};

use prestore_sim::{
    Accepted, Admission, Arrival, Changed, Doors, Hint, MemoryPort, MemorySystem, NoStage, Orders,
    Probe, Sent, Stage, Stored, Time,
};
use prestore_trace::LineAddr;

use crate::program::{Thread, ns, run, tiny};

const ENCRYPT: u64 = 40;
/// Counters of the pages' lines, a line a page.
const COUNTERS: u64 = 1 << 30;

/// Each write is encrypted, with a counter that is read once a page; what is known beforehand is encrypted then.
#[derive(Default)]
struct Encryption {
    pages: HashSet<u64>,
    ready: HashMap<LineAddr, Time>,
    accepted: Vec<Accepted>,
    sent: Vec<Sent>,
}

impl Encryption {
    fn encrypted(
        &mut self,
        core: u32,
        at: Time,
        line: LineAddr,
        memory: &mut MemorySystem,
    ) -> Time {
        let page = line.0 / 64;
        let counter = match self.pages.insert(page) {
            true => memory.read(core, at, LineAddr(COUNTERS + page)).0,
            false => at,
        };
        counter + ns(ENCRYPT)
    }
}

impl Stage for Encryption {
    fn write(&mut self, write: &Arrival, memory: &mut MemorySystem) -> Admission {
        self.sent.push(write.why);
        let ready = self.ready.remove(&write.line);
        let ready =
            ready.unwrap_or_else(|| self.encrypted(write.core, write.at, write.line, memory));
        Admission::At(write.at.max(ready))
    }

    fn read(&mut self, _: u32, _: Time, _: LineAddr, done: Time, _: &mut MemorySystem) -> Time {
        done + ns(ENCRYPT)
    }

    fn accepted(&mut self, accepted: &Accepted) {
        self.accepted.push(*accepted);
    }

    fn hint(&mut self, core: u32, at: Time, hint: Hint, memory: &mut MemorySystem) {
        let ready = self.encrypted(core, at, hint.line, memory);
        self.ready.insert(hint.line, ready);
    }
}

/// Tells the controllers of each store.
struct Tells;

impl Probe for Tells {
    fn changed(&mut self, _: u32, _: Time, line: LineAddr, _: Changed, by: &[Stored]) -> Orders {
        let youngest = by.last();
        Orders {
            write_back: None,
            hint: youngest.map(|store| Hint {
                line,
                content: u64::from(store.site.0),
            }),
        }
    }
}

/// Stores that are flushed, so many instructions after.
fn flushed(lines: u64, work: u64) -> Thread {
    (0..lines).fold(Thread::default(), |thread, line| {
        thread
            .store(64 * line, 7)
            .work(work)
            .clwb(64 * line)
            .sfence()
    })
}

#[test]
fn a_stage_delays_writes_and_reads_and_adds_its_own() {
    let machine = tiny(&[]);
    let (plain, _) = run(&machine, [flushed(1, 500)], Doors::closed());
    let mut stage = Encryption::default();
    let doors = Doors::closed().stage(&mut stage);
    let (results, log) = run(&machine, [flushed(1, 500)], doors);
    assert_eq!(stage.sent, [Sent::Flushed]);
    assert_eq!(stage.accepted, log);
    // The line is read for its ownership, but not waited for; then the counter: 20 ns to the controller and
    // back, and from the open row of another bank or not at most 20 + 20 + 4 from the device.
    let added = results.cycles - plain.cycles;
    assert!(
        (ENCRYPT + 20..=ENCRYPT + 20 + 44).contains(&added),
        "{added}"
    );
    let read = |r: &prestore_sim::Results| r.memories[0].read_bytes;
    assert_eq!(read(&results), read(&plain) + 64);
    let (two, _) = run(
        &machine,
        [flushed(64, 500)],
        Doors::closed().stage(Encryption::default()),
    );
    assert_eq!(read(&two), 64 * 64 + 64, "one counter a page");
}

#[test]
fn loads_wait_for_what_a_stage_does_to_them() {
    let load = || [Thread::default().load(0)];
    let (plain, _) = run(&tiny(&[]), load(), Doors::closed());
    let doors = Doors::closed().stage(Encryption::default());
    let (results, _) = run(&tiny(&[]), load(), doors);
    assert_eq!(results.cycles, plain.cycles + ENCRYPT);
}

#[test]
fn a_hint_long_before_hides_the_work() {
    let machine = tiny(&[]);
    let run = |probe: bool, work| {
        let stage = Encryption::default();
        match probe {
            true => run(
                &machine,
                [flushed(20, work)],
                Doors::closed().stage(stage).probe(Tells),
            ),
            false => run(&machine, [flushed(20, work)], Doors::closed().stage(stage)),
        }
    };
    let gain = |work| run(false, work).0.cycles - run(true, work).0.cycles;
    assert!(gain(500) >= 20 * ENCRYPT, "{}", gain(500));
    assert!(gain(0) < 20 * ENCRYPT / 2, "too late: {}", gain(0));
}

/// Knows what lies in memory, and does not write the same again.
#[derive(Default)]
struct Silent {
    comes: HashMap<LineAddr, u64>,
    memory: HashMap<LineAddr, u64>,
    dropped: u64,
}

impl Stage for Silent {
    fn write(&mut self, write: &Arrival, _: &mut MemorySystem) -> Admission {
        let comes = self.comes.get(&write.line).copied();
        if comes.is_some() && self.memory.get(&write.line).copied() == comes {
            self.dropped += 1;
            return Admission::Drop(write.at + ns(5));
        }
        self.memory
            .extend(comes.map(|content| (write.line, content)));
        Admission::At(write.at)
    }

    fn hint(&mut self, _: u32, _: Time, hint: Hint, _: &mut MemorySystem) {
        self.comes.insert(hint.line, hint.content);
    }
}

#[test]
fn what_need_not_be_written_is_not_and_counts_as_accepted() {
    let twice = || {
        let thread = flushed(10, 20);
        let again = (0..10).fold(thread, |t, line| {
            // Every other line gets something else.
            t.store(64 * line, 7 + line as u32 % 2)
                .clwb(64 * line)
                .sfence()
        });
        [again]
    };
    let machine = tiny(&[]);
    let mut stage = Silent::default();
    let doors = Doors::closed().stage(&mut stage).probe(Tells);
    let (results, log) = run(&machine, twice(), doors);
    assert_eq!(stage.dropped, 5);
    assert_eq!(results.memories[0].write_bytes, 15 * 64);
    assert_eq!(log.len(), 20, "all of it is persistent");
    let (plain, _) = run(&machine, twice(), Doors::closed().stage(NoStage));
    assert_eq!(plain.memories[0].write_bytes, 20 * 64);
    assert!(results.cycles < plain.cycles);
}
