//! Helper threads of a runtime.

use crate::{Op, Time};

/// What becomes of an operation that a thread comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The thread executes it.
    Execute,
    /// It need not be executed: the thread goes on behind it after this time.
    Skip(Time),
    /// A helper takes it over, through a queue: the thread goes on behind it after this time, and
    /// [`Agents::handed_over`] is called when it is known from when on helpers can see it, that is, when what the
    /// thread stored before it is visible.
    HandOver(Time),
    /// The thread sleeps until a helper wakes it, and comes to the operation again then.
    Wait,
}

/// What a helper does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It executes this operation. [`Op::instr`] counts its own instructions.
    Do(Op),
    /// It sleeps until this time.
    SleepUntil(Time),
    /// It sleeps until it is woken.
    Sleep,
}

/// Who is woken, and when.
#[derive(Clone, Debug, Default)]
pub struct Wakes(pub(crate) Vec<(Sleeper, Time)>);

/// Who sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sleeper {
    Thread(u32),
    Agent(u32),
}

impl Wakes {
    /// Thread `thread` of the program, if it sleeps because of [`Then::Wait`], goes on at `at`.
    pub fn thread(&mut self, thread: u32, at: Time) {
        self.0.push((Sleeper::Thread(thread), at));
    }

    /// Helper `agent`, if it sleeps, goes on at `at`.
    pub fn agent(&mut self, agent: u32, at: Time) {
        self.0.push((Sleeper::Agent(agent), at));
    }
}

/// Helper threads, each on a core of its own behind those of the program's threads, with a clock of its own. The
/// engine lets them go on in order of time with all others, so no thread sees a helper from its own future by more
/// than the quantum.
pub trait Agents {
    /// Are there any? Where not, none of this is compiled in.
    const ACTIVE: bool = true;

    /// How many.
    fn count(&self) -> u32;

    /// `thread` comes to `op` at `at`. What it stored before may still be on its way to the cache.
    fn comes_to(&mut self, thread: u32, at: Time, op: &Op, wakes: &mut Wakes) -> Then;

    /// Helpers can see from `at` on, which may be later than now, that `thread` has handed `op` over: one that is
    /// earlier sleeps until then.
    fn handed_over(&mut self, thread: u32, at: Time, op: &Op, wakes: &mut Wakes) {
        let _ = (thread, at, op, wakes);
    }

    /// `agent` has executed what it was told to, or was woken, and it is `now` on its core. `over`: all threads
    /// of the program have ended; a helper that sleeps then has ended, too.
    fn step(&mut self, agent: u32, now: Time, over: bool, wakes: &mut Wakes) -> Step;
}

/// No helper threads.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAgents;

impl Agents for NoAgents {
    const ACTIVE: bool = false;

    fn count(&self) -> u32 {
        0
    }

    fn comes_to(&mut self, _thread: u32, _at: Time, _op: &Op, _wakes: &mut Wakes) -> Then {
        Then::Execute
    }

    fn step(&mut self, _agent: u32, _now: Time, _over: bool, _wakes: &mut Wakes) -> Step {
        Step::Sleep
    }
}

impl<A: Agents> Agents for &mut A {
    const ACTIVE: bool = A::ACTIVE;

    fn count(&self) -> u32 {
        (**self).count()
    }

    fn comes_to(&mut self, thread: u32, at: Time, op: &Op, wakes: &mut Wakes) -> Then {
        (**self).comes_to(thread, at, op, wakes)
    }

    fn handed_over(&mut self, thread: u32, at: Time, op: &Op, wakes: &mut Wakes) {
        (**self).handed_over(thread, at, op, wakes);
    }

    fn step(&mut self, agent: u32, now: Time, over: bool, wakes: &mut Wakes) -> Step {
        (**self).step(agent, now, over, wakes)
    }
}
