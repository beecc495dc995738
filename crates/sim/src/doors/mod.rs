//! What plugs into a machine: doors between its parts, each a contract with one type behind it.
//!
//! | door | contract | sees | may |
//! |---|---|---|---|
//! | private caches | [`Probe`] | which store changed a line, what left a private cache and why, flushes | write a line back, answer a flush itself, refuse another core's request for a while, hint |
//! | memory controller | [`Stage`] | writes and reads as they arrive, what was accepted, hints | delay, add accesses, drop writes |
//! | helper threads | [`Agents`] | operations as threads come to them | take them over, make the thread wait, execute operations of their own |
//!
//! The fourth door, the memory types of ranges, is the machine's own ([`prestore_machine::Placement::types`]),
//! and what software in a thread does is a [`crate::Mechanism`]. All are chosen at compile time: where nothing is
//! plugged in, nothing of them is compiled in. Two machines are
//! compiled all the same, with and without memory types and the log: small functions of the hot path that both call
//! are marked to be inlined always, as they were when there was one caller.

mod agents;
mod logged;
mod probe;
mod stage;

pub(crate) use agents::Sleeper;
pub use agents::{Agents, NoAgents, Step, Then, Wakes};
pub use logged::{AcceptanceLog, Logged};
pub use probe::{Asks, Changed, Departure, Left, NoProbe, Orders, Probe, Request};
pub use stage::{Accepted, Admission, Arrival, NoStage, Stage};

/// What is plugged into a machine; nothing, to begin with. Give `&mut` of what is to be looked at afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub struct Doors<P = NoProbe, S = NoStage, A = NoAgents> {
    /// At the private caches.
    pub probe: P,
    /// At the memory controllers.
    pub stage: S,
    /// Helper threads.
    pub agents: A,
}

impl Doors {
    /// Nothing is plugged in.
    pub const fn closed() -> Self {
        Self {
            probe: NoProbe,
            stage: NoStage,
            agents: NoAgents,
        }
    }
}

impl<P, S, A> Doors<P, S, A> {
    /// With `probe` at the private caches.
    pub fn probe<Q: Probe>(self, probe: Q) -> Doors<Q, S, A> {
        Doors {
            probe,
            stage: self.stage,
            agents: self.agents,
        }
    }

    /// With `stage` at the memory controllers.
    pub fn stage<T: Stage>(self, stage: T) -> Doors<P, T, A> {
        Doors {
            probe: self.probe,
            stage,
            agents: self.agents,
        }
    }

    /// With helper threads.
    pub fn agents<B: Agents>(self, agents: B) -> Doors<P, S, B> {
        Doors {
            probe: self.probe,
            stage: self.stage,
            agents,
        }
    }
}
