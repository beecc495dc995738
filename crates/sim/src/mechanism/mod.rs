//! What software in a thread would do: virtual pre-stores, coalescing.
//!
//! A mechanism stands between the trace and the cores. All that a thread does passes through it:
//! stores, flushes, fences, and the regions and hand-offs between them. It sees them in the thread's
//! order, a batch at a time, and says what the core executes instead. That is all that software
//! needs: a pre-store put behind a streak of stores (P0), stores turned into non-temporal ones, a
//! flush moved, coalesced or dropped (P2), a flush that persistent caches make needless.
//!
//! What hardware does at the private caches and at the memory controllers, and what helper threads of a runtime
//! do while the program runs, has contracts of its own: [`crate::Doors`].

mod none;
mod prestores;

pub use none::NoMechanism;
pub use prestores::{Costs, PreStore, REACH, Rule, VirtualPrestores, Way};

use crate::Op;

/// Rewrites the operations of a run.
pub trait Mechanism {
    /// Does it rewrite at all? Where it does not, operations are not copied and [`Self::ops`] is
    /// never called: the mechanism costs nothing.
    const REWRITES: bool = true;

    /// Its name in results, as the user chose it.
    fn name(&self) -> &str;

    /// `input` are the next operations of `thread`; appends to `out` what its core executes instead.
    /// It may hold operations back until a later call, but must give hand-offs
    /// ([`crate::OpKind::HandOff`]) and awaits on in their order and not behind operations of a
    /// later call, or threads wait for each other for ever.
    ///
    /// What it adds carries the `instr` of its neighbour; its own instructions are charged by the
    /// operation's issue cost.
    fn ops(&mut self, thread: u32, input: &[Op], out: &mut Vec<Op>);

    /// `thread` executes nothing more; appends to `out` what is left to do for it.
    fn end(&mut self, _thread: u32, _out: &mut Vec<Op>) {}
}
