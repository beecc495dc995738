//! Who made which thread.

use prestore_trace::ProcessId;
use prestore_trace::block::ProcessFacts;

#[derive(Debug)]
struct Thread {
    process: ProcessId,
    pid: u32,
    /// Of a forked process, its parent.
    parent: Option<u32>,
    begun: bool,
}

#[derive(Debug)]
struct Spawn {
    ticks: u64,
    thread: usize,
    events: u64,
}

/// Threads and the system calls that made them. Which call made which thread is not recorded: of
/// the calls of a thread's process (of the parent, for a forked process's first thread) it is the
/// last before the thread began that made no other.
#[derive(Debug, Default)]
pub(super) struct Spawns {
    threads: Vec<Thread>,
    calls: Vec<Spawn>,
}

impl Spawns {
    /// The next thread, of `process`.
    pub(super) fn thread(&mut self, process: ProcessId, facts: &ProcessFacts) {
        self.threads.push(Thread {
            process,
            pid: facts.pid,
            parent: (facts.inherited > 0).then_some(facts.parent),
            begun: false,
        });
    }

    /// `thread` makes a thread or a process at `ticks`, behind so many of its events.
    pub(super) fn spawn(&mut self, thread: usize, ticks: u64, events: u64) {
        self.calls.push(Spawn {
            ticks,
            thread,
            events,
        });
    }

    /// If `thread` begins now: who made it, behind how many of its events.
    pub(super) fn creator(&mut self, thread: usize, ticks: u64) -> Option<(usize, u64)> {
        if std::mem::replace(&mut self.threads[thread].begun, true) {
            return None;
        }
        let own = &self.threads[thread];
        let first = !(self.threads.iter().enumerate())
            .any(|(i, t)| i != thread && t.begun && t.process == own.process);
        let by = |spawn: &Spawn| {
            let creator = &self.threads[spawn.thread];
            let related = match own.parent {
                Some(parent) if first => creator.pid == parent && creator.process != own.process,
                _ => creator.process == own.process && !first,
            };
            related && spawn.thread != thread && spawn.ticks <= ticks
        };
        let at = self.calls.iter().rposition(by)?;
        let call = self.calls.remove(at);
        Some((call.thread, call.events))
    }
}
