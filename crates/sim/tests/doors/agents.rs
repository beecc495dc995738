//! A flush runtime, as P2's: flushes go to a queue, a helper thread executes them, fences wait for it.

use std::collections::VecDeque;

use prestore_machine::Machine;
use prestore_sim::{
    Agents, Doors, NoMechanism, Op, OpKind, Simulation, SimulationError, Step, Then, Time, Wakes,
};
use prestore_trace::{FenceKind, SiteId};

use crate::program::{Program, Thread, ns, run, tiny};

/// From the thread's flush until the queue has it.
const ENQUEUE: Time = Time(3_000);

#[derive(Default)]
struct Ribbon {
    queue: VecDeque<(Time, Op)>,
    /// Flushes that threads came to, and those of them that the helper has fenced.
    sent: u64,
    done: u64,
    /// Executed since the helper's last fence.
    executed: u64,
    fencing: bool,
    /// Threads that wait at a fence.
    waiting: Vec<u32>,
    /// When flushes were queued and when the helper came to them.
    queued: Vec<(u64, Time)>,
    begun: Vec<(u64, Time)>,
    /// When fences went on.
    fences: Vec<Time>,
    slept: u64,
    over: bool,
    /// It does nothing.
    broken: bool,
}

impl Agents for Ribbon {
    fn count(&self) -> u32 {
        1
    }

    fn comes_to(&mut self, thread: u32, at: Time, op: &Op, _: &mut Wakes) -> Then {
        match op.kind {
            OpKind::Flush(_) => {
                self.sent += 1;
                Then::HandOver(ENQUEUE)
            }
            OpKind::Fence(_) if self.done < self.sent => {
                self.waiting.push(thread);
                Then::Wait
            }
            OpKind::Fence(_) => {
                self.fences.push(at);
                Then::Execute
            }
            _ => Then::Execute,
        }
    }

    fn handed_over(&mut self, _: u32, at: Time, op: &Op, wakes: &mut Wakes) {
        self.queue.push_back((at, *op));
        self.queued.push((op.addr, at));
        wakes.agent(0, at);
    }

    fn step(&mut self, _: u32, now: Time, over: bool, wakes: &mut Wakes) -> Step {
        self.over = over;
        if self.fencing {
            self.fencing = false;
            self.done += std::mem::take(&mut self.executed);
            if self.done == self.sent {
                let waiting = self.waiting.drain(..);
                waiting.for_each(|thread| wakes.thread(thread, now));
            }
        }
        if self.broken {
            return Step::Sleep;
        }
        if let Some((at, _)) = self.queue.front()
            && *at > now
        {
            return Step::SleepUntil(*at);
        }
        if let Some((_, op)) = self.queue.pop_front() {
            self.begun.push((op.addr, now));
            self.executed += 1;
            return Step::Do(Op { instr: 0, ..op });
        }
        if self.executed > 0 {
            self.fencing = true;
            return Step::Do(Op {
                instr: 0,
                addr: 0,
                size: 0,
                site: SiteId::NONE,
                kind: OpKind::Fence(FenceKind::Store),
                after: 0,
            });
        }
        self.slept += 1;
        Step::Sleep
    }
}

/// Eight lines are written and flushed, then comes work, then a fence.
fn epochs(n: u64) -> Thread {
    (0..n).fold(Thread::default(), |mut thread, epoch| {
        for line in 8 * epoch..8 * epoch + 8 {
            thread = thread.store(64 * line, 1).clwb(64 * line);
        }
        thread.work(600).sfence()
    })
}

fn machine() -> Machine {
    tiny(&[
        "core.count=3",
        "memories.dram.controller.write_latency=\"200 ns\"",
    ])
}

#[test]
fn a_helper_flushes_what_it_is_given_and_fences_wait_for_that() {
    const EPOCHS: u64 = 20;
    let (plain, expected) = run(&machine(), [epochs(EPOCHS)], Doors::closed());
    let mut ribbon = Ribbon::default();
    let doors = Doors::closed().agents(&mut ribbon);
    let (results, log) = run(&machine(), [epochs(EPOCHS)], doors);
    let lines = |log: &[prestore_sim::Accepted]| -> Vec<u64> {
        let mut lines: Vec<_> = log.iter().map(|a| a.line.0).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(&log), lines(&expected), "the same becomes persistent");
    assert_eq!(ribbon.fences.len() as u64, EPOCHS);
    for (epoch, fence) in (0..).zip(&ribbon.fences) {
        let of_epoch = log.iter().filter(|a| a.line.0 / 8 == epoch);
        assert!(of_epoch.clone().count() == 8 && of_epoch.clone().all(|a| a.at <= *fence));
    }
    for ((addr, queued), (same, begun)) in ribbon.queued.iter().zip(&ribbon.begun) {
        assert_eq!(addr, same, "in order");
        assert!(begun >= queued, "not before it could be seen");
    }
    assert!(ribbon.slept >= EPOCHS, "nobody polls: {}", ribbon.slept);
    assert!(ribbon.over, "it is told of the end");
    // The helper's core is one of the machine's.
    assert_eq!(results.threads.len(), 2);
    assert_eq!(results.threads[0].ops.flushes, 0);
    assert_eq!(results.threads[1].ops.flushes, 8 * EPOCHS);
    // Work hides the helper's flushes as it does the thread's own, but for what the queue costs.
    assert!(results.cycles < plain.cycles + EPOCHS * 8 * 10);
}

/// Waits at times of its own.
struct Timer {
    every: Time,
    at: Vec<Time>,
}

impl Agents for Timer {
    fn count(&self) -> u32 {
        1
    }

    fn comes_to(&mut self, _: u32, _: Time, _: &Op, _: &mut Wakes) -> Then {
        Then::Execute
    }

    fn step(&mut self, _: u32, now: Time, _: bool, _: &mut Wakes) -> Step {
        self.at.push(now);
        Step::SleepUntil(now + self.every)
    }
}

#[test]
fn a_helper_sleeps_as_long_as_it_says_and_ends_with_the_program() {
    let mut timer = Timer {
        every: ns(500),
        at: Vec::new(),
    };
    let thread = || [epochs(10)];
    let (plain, _) = run(&machine(), thread(), Doors::closed());
    let (results, _) = run(&machine(), thread(), Doors::closed().agents(&mut timer));
    assert_eq!(
        results.cycles, plain.cycles,
        "who only looks changes nothing"
    );
    let times: Vec<u64> = timer.at.iter().map(|at| at.0 / 1000).collect();
    let end = plain.cycles;
    let mut due: Vec<u64> = (0..=end / 500).map(|n| 500 * n).collect();
    due.push(end);
    assert_eq!(times, due);
}

#[test]
fn threads_that_nobody_wakes_are_an_error() {
    let mut ribbon = Ribbon {
        broken: true,
        ..Ribbon::default()
    };
    let doors = Doors::closed().agents(&mut ribbon);
    let mut program = Program::new([epochs(1)]);
    let result = Simulation::new(&machine()).run_with(&mut program, &mut NoMechanism, doors);
    let error = result.unwrap_err();
    assert!(matches!(&error, SimulationError::Abandoned { threads } if threads == &[0]));
    assert!(
        error
            .to_string()
            .contains("threads 0 wait for helper threads")
    );
}

#[test]
fn helpers_need_cores() {
    let doors = Doors::closed().agents(Ribbon::default());
    let mut program = Program::new([epochs(1), epochs(1)]);
    let result = Simulation::new(&tiny(&[])).run_with(&mut program, &mut NoMechanism, doors);
    let said = result.unwrap_err().to_string();
    let expected = "the trace has 2 threads and its runtime 1 helper threads, and tiny has 2 cores";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains("core.count=3"), "{said}");
}
