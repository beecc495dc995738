//! Hand-offs: what one thread may not do before another one has.
//!
//! The simulator re-times a program, so the recorded order of its threads is not kept, but where
//! one thread waited for what another one made: a consumer's load of a flag that saw the
//! producer's write must not be simulated before that write.
//!
//! # What is recognised
//! The recorder writes down the time before each block execution that contains an atomic read-modify-write, and behind it.
//! In the order of the stamps, an atomic *B* is *handed over* from *A*, the atomic or plain store
//! before it at the same address, when
//! - *A* is another thread's,
//! - *A* is another code site's, and
//! - the thread of *B* has loaded the address with a plain load since then: the *poll* that saw
//!   *A*, at most [`LOOK_BACK`] events before *B*.
//!
//! What waits is the poll, not *B*: what a consumer reads between the poll that succeeded and the
//! atomic with which it hands the slot back must wait as well.
//!
//! A plain store is matched when the other side is an atomic: the k-th store at an address that
//! nobody has taken yet is taken by the next *B* there. What is then left to contradict
//! itself (two threads that each wait for the other) is given up and counted.
//!
//! A thread's first event waits for its creator to come to the system call that made it; so does
//! a forked process.
//!
//! Threads of different processes meet only in memory that the processes share ([`crate::ProcessMemory`]): files mapped shared,
//! shared memory of no file that was there before a fork, segments. What is private may lie at the same addresses.
//!
//! # Locks
//! Who gets a lock next depends on the machine, so of locks no order is kept, but that their sections exclude
//! each other: `sections` finds for each thread where it acquired a lock and where it released it, and the
//! simulator decides who waits. A *section* begins with the last atomic of a thread at an address before the
//! same thread releases the address, by a plain store or by an atomic of a site that releases: one with
//! which no thread begins at an address, and behind which threads begin anew there (an unlock; the slow path of a
//! lock is followed by the unlock instead). That makes spin locks, test-and-test-and-set, and what is made of
//! one word and a futex: mutexes of the C library, with conditions on top of them, and OpenMP's locks and
//! critical sections. Sections of one address that overlap in recorded time (counted references) are no lock's,
//! nor are those that only one thread has. Where some overlap and others do not (`locks`), the former are readers, which
//! share the lock; readers that never met in the recording are taken to exclude each other. What threads hand over to each
//! other at a lock's own words while they wait for it is not kept (a sleeper's wake-up decides nothing).
//!
//! # Barriers, tickets, joins, conditions
//! Where threads arrive at one address by an atomic and look for their turn at another one near it (`neighbours`, `pairs`), they meet at
//! a barrier, of which nobody goes on before all have come, whoever is last in simulated time; or they hold tickets of a
//! lock, in the order in which they draw them in simulated time. The second address must be one that somebody spun at, or
//! have atomics itself: barriers of the C library, OpenMP's barriers and ends of parallel parts (threads that never spin,
//! with `OMP_WAIT_POLICY=passive`, are not recognised), barriers with a sense that turns round.
//!
//! Who joins a thread waits for its end (`joins`). What a condition or semaphore gives to several waiting threads is handed over to
//! each of them: one takes its part with the same instruction behind another. A thread that comes to a condition when it is
//! fulfilled already waits for nobody, in simulated time neither. Where three threads or more wake each other at a
//! condition, now this one, now that one, it is a barrier (`conditions`), of which nobody goes on before all have come. A word
//! at which several took what one gave is a condition's from then on, though those who take and give next look like a lock's.
//!
//! An acquisition by another thread than the one that released is told from a message by the
//! release's own predecessor: the same thread's acquisition from that site, whatever attempts of
//! others from that site failed in between. A thread that failed there and tries again from another
//! site still wants the lock. And a lock is usually taken without a plain load before. Rings in which
//! the same thread both takes from and puts into a slot look like locks.
//!
//! # What is not enforced
//! - Queues of waiting threads (MCS), in which each looks at a word of its own; tickets and barriers whose two
//!   addresses lie farther apart than 512 bytes, or that nobody waited for in the recording.
//! - Hand-offs through plain loads and stores only (a ring of one producer and one consumer with
//!   head and tail counters; a flag that is polled and never claimed): nothing tells in the trace
//!   when a load saw what. Recordings without stamps (of older versions) have no hand-offs at all. Loops that
//!   wait in such ways are counted (`unresolved`), and the results say so. [`HandOffs::infer_order`] matches such loads and stores by
//!   their number (`flags`), 24 bytes each and 100 MB at most: for an order in which the threads may have executed, not for times.
//! - Polls that are atomics themselves (a compare-and-swap tried until it succeeds), if they acquire nothing.
//! - A barrier that two threads make of a condition: it looks like messages in both directions.
//! - A process's end (`wait`). Atomics at other addresses than the one polled, or of overlapping addresses.
//! - The traffic of those who wait: their looks in vain are left out.
//!
//! # Waiting
//! Polls that failed are left out (see [`crate::Waits`]), with all between the first of them and
//! the one that succeeded: the same instruction loads the same address, at most [`LOOP`] events
//! apart, and between two polls nothing is written but what the same instructions wrote to the
//! same place the last time (return addresses of `sched_yield` and `nanosleep`, a counter of
//! attempts). The thread's instruction counts go on as if they had not been executed. The same holds of
//! attempts to acquire a lock that failed, and of looks at it between them.
//!
//! # Two readings
//! The first finds where there are atomics and where threads spin, of as many threads at once as the host has processors
//! (`atomics.rs`). The second shows those accesses, few of all (`scan.rs`), to a walk over all threads in the order of their stamps
//! (`walk.rs`, `infer.rs`); other processors read ahead of it (`readers.rs`). What is found does not depend on how many there are.
//!
//! # Memory
//! While inferring: some 200 bytes an address of atomics and 8 more for each thread that uses it, 100 KiB
//! a thread, its cursor (some 8 MiB), what was read of it ahead (at most 1 MiB) and what is known of its blocks (the same), 40 bytes for each thread that uses an
//! address of atomics, and 32 bytes a hand-off or section. Afterwards 16 bytes a hand-off or section and 16 more where polls are left out. A program with
//! one thread costs nothing.

mod atomics;
mod blocks;
mod conditions;
mod flags;
mod infer;
mod inside_out;
mod joins;
mod locks;
mod marking;
mod neighbours;
mod pairs;
mod places;
mod readers;
mod scan;
mod sections;
mod settle;
mod spawns;
mod unresolved;
mod walk;
mod watcher;

use prestore_trace::block::BlockTable;
use prestore_trace::container::Trace;
use prestore_trace::{ProcessId, ThreadId};
use rustc_hash::FxHashMap;

use crate::marks::{Mark, Marks};
use crate::space::knows_shared;
use crate::{ProcessMemory, Space};

/// Events between a poll and the atomic that claims what it saw.
pub const LOOK_BACK: u64 = 4096;

/// Events between two polls of one waiting.
pub const LOOP: u64 = 512;

/// Where threads of `process` meet others. Where it is not known what processes share, all have one memory.
fn meets_others<'a>(trace: &Trace, process: ProcessId, table: &'a BlockTable) -> ProcessMemory<'a> {
    match knows_shared(trace) {
        true => ProcessMemory::of(trace, process, table),
        false => ProcessMemory::of_all(),
    }
}

/// The same of what a process has for itself.
fn space(trace: &Trace, process: ProcessId) -> Space {
    Space::of(match knows_shared(trace) {
        true => process,
        false => ProcessId(0),
    })
}

/// What was recognised in a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HandOffCounts {
    /// Atomic read-modify-writes looked at; 0 where there is one thread only.
    pub atomics: u64,
    /// Polls that wait for another thread's atomic or store.
    pub enforced: u64,
    /// Atomics behind another thread's at the same address that are taken for locks.
    pub locks: u64,
    /// Others behind another thread's for which no poll was found.
    pub unpolled: u64,
    /// Given up because they contradicted others.
    pub contradicting: u64,
    /// Threads and processes that wait for their creator.
    pub spawned: u64,
    /// Waits of which failed polls were left out.
    pub waits: u64,
    /// Critical sections, of locks that several threads had.
    pub sections: u64,
    /// Rounds of barriers.
    pub met: u64,
    /// Threads whose end another one waits for.
    pub joined: u64,
    /// Loops in which a thread waits for what another one writes, of which it is not known what ends them.
    pub unresolved: u64,
    /// Times that several threads were woken at a condition by now this one, now that one, and it is not known to be a
    /// barrier.
    pub unsure: u64,
    /// There are atomics and no stamps: nothing can be said of what threads wait for.
    pub unstamped: bool,
}

/// The order between a recording's threads that the simulator keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandOffs {
    threads: FxHashMap<ThreadId, Marks>,
    counts: HandOffCounts,
}

/// A place in a thread: a hand-off's publication or who waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Number of the hand-off.
    pub number: u32,
    /// Events of the thread before it.
    pub events: u64,
}

impl HandOffs {
    /// What was recognised.
    pub fn counts(&self) -> HandOffCounts {
        self.counts
    }

    /// What threads wait for that is not known, and therefore not simulated.
    pub(crate) fn notes(&self) -> Vec<String> {
        let unstamped = self.counts.unstamped.then(|| {
            "the recording has no time stamps at atomics (an older version made it): threads wait for nothing in it, \
             neither locks nor each other; record the program anew to simulate more than one thread"
                .to_owned()
        });
        let unresolved = (self.counts.unresolved > 0).then(|| {
            format!(
                "a thread waited in a loop for what another one writes with plain stores, in a way that is not recognised \
                 (times: {}): there the simulated threads do not wait for each other",
                self.counts.unresolved
            )
        });
        let unsure = (self.counts.unsure > 0).then(|| {
            format!(
                "a thread woke several that waited for a condition, and another one did at other times (times: {}): the \
                 simulated threads wait for the one that woke them in the recording, and that one for nobody (where this is \
                 a barrier, it should for all)",
                self.counts.unsure
            )
        });
        let all = [unstamped, unresolved, unsure];
        all.into_iter().flatten().collect()
    }

    /// The hand-offs that `thread` publishes, in its order.
    pub fn published_by(&self, thread: ThreadId) -> impl Iterator<Item = Endpoint> + '_ {
        self.marks(thread)
            .iter()
            .filter_map(|(events, mark)| match mark {
                Mark::HandOff(number) => Some(Endpoint { number, events }),
                _ => None,
            })
    }

    /// The hand-offs that `thread` waits for, in its order.
    pub fn awaited_by(&self, thread: ThreadId) -> impl Iterator<Item = Endpoint> + '_ {
        self.marks(thread)
            .iter()
            .filter_map(|(events, mark)| match mark {
                Mark::Await(number) => Some(Endpoint { number, events }),
                _ => None,
            })
    }

    pub(crate) fn marks(&self, thread: ThreadId) -> &Marks {
        static NONE: std::sync::OnceLock<Marks> = std::sync::OnceLock::new();
        let marks = self.threads.get(&thread);
        marks.unwrap_or_else(|| NONE.get_or_init(Marks::default))
    }
}
