//! The back of the analysis: what executions do to memory.

mod ahead;
mod execution;
mod meeting;
mod quiet;
mod rows;
mod sweep;
mod touches;

use prestore_trace::ProcessId;
use prestore_trace::block::{SharedMemory, XsaveComponent};
use rustc_hash::FxHashMap;

use self::ahead::Written;
use self::execution::Execution;
use self::meeting::{Common, Meeting};
use self::quiet::{Looked, Quiet};
use crate::access::Access;
use crate::batch::{Batch, Ended, NewRun};
use crate::clock::{ProcessClock, ThreadClock};
use crate::contexts::Limits;
use crate::fences::PendingWrites;
use crate::ledger::Ledger;
use crate::memory::{Memory, Streak};
use crate::steps::Step;
use crate::thread::Part;

/// The back's share of a process.
#[derive(Debug)]
pub(crate) struct BackProcess {
    clock: ProcessClock,
    pub(crate) memory: Memory,
    pub(crate) threads: Vec<BackThread>,
    /// Of threads that ended in this part of the run.
    ended: Ledger,
    /// Its memory that other processes may have, too.
    common: Option<Common>,
    /// It has ended, with the rest of its threads and what its sums count.
    over: Option<(Vec<Option<Part>>, u64)>,
}

/// The back's share of a thread.
#[derive(Debug, Default)]
pub(crate) struct BackThread {
    /// First and last step of each run.
    runs: Vec<(u32, u32)>,
    /// By run.
    quiet: Vec<Quiet>,
    steps: Vec<Step>,
    /// First and last of what each run writes.
    written_by: Vec<(u32, u32)>,
    written: Vec<Written>,
    accesses: Vec<Access>,
    streaks: Vec<Streak>,
    odd: Vec<prestore_trace::block::Ref>,
    xsave: Vec<XsaveComponent>,
    pending: PendingWrites,
    /// Bytes written by accesses whose size varies.
    pub(crate) odd_bytes: Vec<u64>,
    /// Accesses that have read what another thread wrote.
    pub(crate) received: Vec<bool>,
}

/// All processes' memories.
#[derive(Debug)]
pub(crate) struct Back {
    limits: Limits,
    /// Those that have not ended, and some that have.
    processes: FxHashMap<ProcessId, BackProcess>,
    meeting: Meeting,
    ledger: Ledger,
}

impl Back {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            processes: FxHashMap::default(),
            meeting: Meeting::default(),
            ledger: Ledger::default(),
        }
    }

    /// Takes in what a thread did.
    pub(crate) fn take(&mut self, batch: &mut Batch) {
        match batch.ended.take() {
            None => self.execute(batch),
            Some(Ended::Process(threads, weight)) => self.end(batch.process, threads, weight),
            Some(Ended::Part(threads, weight)) => {
                if let Some(process) = self.processes.get_mut(&batch.process) {
                    process.memory.leave_open();
                    let next = process.next_part(self.limits);
                    let ended = std::mem::replace(process, next);
                    self.ledger.merge(ended.sums(&threads, weight));
                }
            }
            Some(Ended::Thread(thread)) => {
                if let Some(process) = self.processes.get_mut(&batch.process) {
                    let mut ended = std::mem::take(&mut process.ended);
                    ended.add_thread(&thread, batch.thread, process);
                    process.ended = ended;
                }
            }
        }
    }

    /// The sums of all, when every process has ended.
    pub(crate) fn finish(mut self) -> Ledger {
        while let Some(ended) = self.meeting.ended.pop_front() {
            self.add(ended);
        }
        self.ledger
    }

    fn end(&mut self, id: ProcessId, threads: Vec<Option<Part>>, weight: u64) {
        let Some(process) = self.processes.get_mut(&id) else {
            return;
        };
        process.over = Some((threads, weight));
        let (is_kept, no_longer) = self.meeting.ends(id, process);
        let over = (!is_kept).then_some(id).into_iter().chain(no_longer);
        over.for_each(|id| self.add(id));
    }

    /// Adds the sums of a process that has ended.
    fn add(&mut self, id: ProcessId) {
        if let Some(mut process) = self.processes.remove(&id)
            && let Some((threads, weight)) = process.over.take()
        {
            self.ledger.merge(process.sums(&threads, weight));
        }
    }

    fn execute(&mut self, batch: &mut Batch) {
        if let Some((memory, others)) = batch.common.take() {
            self.join(batch.process, memory, others);
        }
        let process = self
            .processes
            .entry(batch.process)
            .or_insert_with(|| BackProcess::new(self.limits));
        process.begin_threads(batch.thread);
        process.memory.origins.learn(&batch.origins);
        process.memory.turn_of(batch.thread as u32);
        let thread = &mut process.threads[batch.thread];
        thread.xsave.clone_from(&batch.xsave);
        for run in batch.runs.drain(..) {
            thread.learn(run);
        }
        let mut execution = Execution {
            index: batch.thread as u32,
            thread,
            memory: &mut process.memory,
            looked: Looked::default(),
            loaded: false,
        };
        execution.run(batch);
        if self.meeting.concerns(process) {
            self.meet(batch);
        } else {
            self.meeting.buffer_ended(process, batch);
        }
    }

    /// A process has this in common with others, from now on.
    fn join(&mut self, id: ProcessId, memory: SharedMemory, others: usize) {
        let process = (self.processes.entry(id)).or_insert_with(|| BackProcess::new(self.limits));
        let before = self.meeting.is_possible();
        self.meeting.joins(process, memory, others);
        if self.meeting.is_possible() && !before {
            for (id, process) in &mut self.processes {
                self.meeting.learn(*id, process);
            }
        }
    }

    /// What a process has done in memory that others have, too.
    fn meet(&mut self, batch: &Batch) {
        let Some(mut process) = self.processes.remove(&batch.process) else {
            return;
        };
        let own = (batch.process, &mut process);
        self.meeting.take(own, &mut self.processes, batch);
        self.meeting.buffer_ended(&mut process, batch);
        self.processes.insert(batch.process, process);
    }
}

impl BackProcess {
    fn new(limits: Limits) -> Self {
        Self {
            clock: ProcessClock::default(),
            memory: Memory::new(limits),
            threads: Vec::new(),
            ended: Ledger::default(),
            common: None,
            over: None,
        }
    }

    /// Its threads up to number `last` have begun.
    fn begin_threads(&mut self, last: usize) {
        while self.threads.len() <= last {
            self.memory
                .thread_begins(ThreadClock::starting(&self.clock));
            self.threads.push(BackThread::default());
        }
    }

    /// The process in the next part of its run: it has its allocations and threads, and has done nothing yet.
    fn next_part(&mut self, limits: Limits) -> Self {
        let mut next = Self::new(limits);
        next.clock = self.clock;
        next.memory.allocations = std::mem::take(&mut self.memory.allocations);
        next.memory.known = std::mem::take(&mut self.memory.known).after_gap();
        next.memory.others = self.memory.others.take();
        next.common = self.common.take();
        next.memory.lines.watch_as(&self.memory.lines);
        for clock in &self.memory.clocks {
            next.memory.thread_begins(clock.clone());
            next.threads.push(BackThread::default());
        }
        next
    }

    /// Its sums, `weight` times, when it or a part of its run has ended.
    fn sums(mut self, threads: &[Option<Part>], weight: u64) -> Ledger {
        let mut sums = std::mem::take(&mut self.ended);
        sums.add(threads, self);
        if weight != 1 {
            sums.scale(weight);
        }
        sums
    }
}

impl BackThread {
    fn learn(&mut self, run: NewRun) {
        let first = self.steps.len() as u32;
        let written = self.written.len() as u32;
        self.written.extend(ahead::written(&run.steps));
        self.written_by.push((written, self.written.len() as u32));
        self.quiet.push(Quiet::new(&run.steps));
        self.steps.extend(run.steps);
        self.runs.push((first, self.steps.len() as u32));
        self.odd_bytes
            .resize(self.odd_bytes.len() + run.accesses.len(), 0);
        self.received
            .resize(self.received.len() + run.accesses.len(), false);
        self.accesses.extend(run.accesses);
        self.streaks
            .extend(run.streaks.into_iter().map(Streak::new));
        self.odd.extend(run.odd);
    }
}
