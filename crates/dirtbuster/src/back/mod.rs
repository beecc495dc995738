//! The back of the analysis: what executions do to memory.

mod ahead;
mod execution;
mod quiet;
mod rows;

use prestore_trace::ProcessId;
use prestore_trace::block::XsaveComponent;
use rustc_hash::FxHashMap;

use self::ahead::Written;
use self::execution::Execution;
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
    /// Those that have not ended.
    processes: FxHashMap<ProcessId, BackProcess>,
    pub(crate) ledger: Ledger,
}

impl Back {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            processes: FxHashMap::default(),
            ledger: Ledger::default(),
        }
    }

    /// Takes in what a thread did.
    pub(crate) fn take(&mut self, batch: &mut Batch) {
        match batch.ended.take() {
            None => self.execute(batch),
            Some(Ended::Process(threads, weight)) => {
                if let Some(process) = self.processes.remove(&batch.process) {
                    self.ledger.merge(process.sums(&threads, weight));
                }
            }
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

    fn execute(&mut self, batch: &mut Batch) {
        let process = self
            .processes
            .entry(batch.process)
            .or_insert_with(|| BackProcess::new(self.limits));
        while process.threads.len() <= batch.thread {
            let clock = ThreadClock::starting(&process.clock);
            process.memory.thread_begins(clock);
            process.threads.push(BackThread::default());
        }
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
        process.memory.clocks[batch.thread].buffer_ended(batch.instrs, &mut process.clock);
    }
}

impl BackProcess {
    fn new(limits: Limits) -> Self {
        Self {
            clock: ProcessClock::default(),
            memory: Memory::new(limits),
            threads: Vec::new(),
            ended: Ledger::default(),
        }
    }

    /// The process in the next part of its run: it has its allocations and threads, and has done nothing yet.
    fn next_part(&mut self, limits: Limits) -> Self {
        let mut next = Self::new(limits);
        next.clock = self.clock;
        next.memory.allocations = std::mem::take(&mut self.memory.allocations);
        next.memory.known = std::mem::take(&mut self.memory.known).after_gap();
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
