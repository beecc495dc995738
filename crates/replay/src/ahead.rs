//! Operations brought ahead: decoding has a thread of its own, beside the simulation.
//!
//! What a source gives does not depend on when it is asked, so that a simulation is the same with and without.
//! Memory: some 128 KiB for each of [`AHEAD`] fillings a core.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use prestore_sim::{Next, Op, Source};

/// Fillings that wait for each core, at most: enough that neither side waits for the other's unevenness.
const AHEAD: usize = 4;

/// Runs `simulate` on what `source` gives, brought by another thread as far ahead as there is room; where the system has no
/// thread for it, as it is asked for. Answers with the source, which may have been asked for more than was simulated.
pub(crate) fn beside<S, R>(mut source: S, simulate: impl FnOnce(Either<'_, S>) -> R) -> (S, R)
where
    S: Source + Send,
    S::Error: Send,
{
    let shared = Shared::new(source.threads());
    let answer = thread::scope(|scope| {
        let (bring, from) = (&shared, &mut source);
        let name = thread::Builder::new().name("decode".to_owned());
        let brings = name.spawn_scoped(scope, move || bring.bring(from));
        match brings {
            Ok(_) => {
                let ahead = Ahead(&shared);
                Ok(simulate(Either::Ahead(ahead)))
            }
            Err(_) => Err(simulate),
        }
    });
    match answer {
        Ok(answer) => (source, answer),
        Err(simulate) => {
            let answer = simulate(Either::Direct(&mut source));
            (source, answer)
        }
    }
}

/// A source that is asked at once, or one that was asked ahead.
pub(crate) enum Either<'a, S: Source> {
    Direct(&'a mut S),
    Ahead(Ahead<'a, S::Error>),
}

impl<S: Source> Source for Either<'_, S> {
    type Error = S::Error;

    fn threads(&self) -> u32 {
        match self {
            Self::Direct(source) => source.threads(),
            Self::Ahead(ahead) => ahead.0.lock().cores.len() as u32,
        }
    }

    fn fill(&mut self, thread: u32, ops: &mut Vec<Op>) -> Result<Next, S::Error> {
        match self {
            Self::Direct(source) => source.fill(thread, ops),
            Self::Ahead(ahead) => ahead.0.take(thread as usize, ops),
        }
    }
}

/// The simulation's side. Without it nothing more is brought.
pub(crate) struct Ahead<'a, E>(&'a Shared<E>);

impl<E> Drop for Ahead<'_, E> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.room.notify_one();
    }
}

/// What lies between the two threads.
struct Shared<E> {
    state: Mutex<State<E>>,
    /// Something was taken.
    room: Condvar,
    /// Something was brought.
    brought: Condvar,
}

struct State<E> {
    cores: Vec<Core<E>>,
    /// The core for which the simulation waits.
    wanted: Option<usize>,
    /// Emptied, to be filled again.
    spare: Vec<Vec<Op>>,
    /// One of the two has gone.
    over: bool,
}

struct Core<E> {
    waiting: VecDeque<(Vec<Op>, Result<Next, E>)>,
    /// There is nothing more to bring: instructions executed in all.
    ended: Option<u64>,
}

impl<E> State<E> {
    /// The core to bring something for: that which is waited for, or has the least.
    fn next(&self) -> Option<usize> {
        let has_room = |n: &usize| {
            let core = &self.cores[*n];
            core.ended.is_none() && core.waiting.len() < AHEAD
        };
        let wanted = self.wanted.filter(has_room);
        wanted.or_else(|| {
            let all = (0..self.cores.len()).filter(has_room);
            all.min_by_key(|&n| self.cores[n].waiting.len())
        })
    }
}

impl<E> Shared<E> {
    fn new(cores: u32) -> Self {
        let core = || Core {
            waiting: VecDeque::new(),
            ended: None,
        };
        Self {
            state: Mutex::new(State {
                cores: (0..cores).map(|_| core()).collect(),
                wanted: None,
                spare: Vec::new(),
                over: false,
            }),
            room: Condvar::new(),
            brought: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings what `source` has, until all has come or nobody wants it any more.
    fn bring<S: Source<Error = E>>(&self, source: &mut S) {
        let _over = Over(self);
        let mut state = self.lock();
        while !state.over && state.cores.iter().any(|c| c.ended.is_none()) {
            let Some(core) = state.next() else {
                state = (self.room.wait(state)).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let mut ops = state.spare.pop().unwrap_or_default();
            drop(state);
            let next = source.fill(core as u32, &mut ops);
            state = self.lock();
            let of = &mut state.cores[core];
            of.ended = match next {
                Ok(Next::More) => None,
                Ok(Next::End { instrs }) => Some(instrs),
                Err(_) => Some(0),
            };
            of.waiting.push_back((ops, next));
            if state.wanted == Some(core) {
                state.wanted = None;
                self.brought.notify_one();
            }
        }
    }

    /// Appends to `ops` what comes next for the core, when it is there.
    fn take(&self, core: usize, ops: &mut Vec<Op>) -> Result<Next, E> {
        let mut state = self.lock();
        loop {
            let of = &mut state.cores[core];
            if let Some((mut brought, next)) = of.waiting.pop_front() {
                if ops.is_empty() {
                    std::mem::swap(ops, &mut brought);
                } else {
                    ops.append(&mut brought);
                }
                brought.clear();
                state.spare.push(brought);
                drop(state);
                self.room.notify_one();
                return next;
            }
            if let Some(instrs) = of.ended {
                return Ok(Next::End { instrs });
            }
            if state.over {
                // The other thread panicked, which is passed on when it is joined.
                return Ok(Next::End { instrs: 0 });
            }
            state.wanted = Some(core);
            self.room.notify_one();
            state = (self.brought.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Tells the simulation, at the end, that nothing more comes.
struct Over<'a, E>(&'a Shared<E>);

impl<E> Drop for Over<'_, E> {
    fn drop(&mut self) {
        self.0.lock().over = true;
        self.0.brought.notify_one();
    }
}

#[cfg(test)]
mod tests;
