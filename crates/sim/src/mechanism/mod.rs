//! What observes a run and acts in it: virtual pre-stores, runtimes, hardware.
//!
//! A mechanism stands between the trace and the cores. All that a thread does passes through it:
//! stores, flushes, fences, and the regions and hand-offs between them. It sees them in the thread's
//! order, a batch at a time, and says what the core executes instead. That is all that software
//! needs: a pre-store put behind a streak of stores (P0), stores turned into non-temporal ones, a
//! flush moved, coalesced or dropped (P2), a flush that persistent caches make needless.
//!
//! What hardware does between the parts of the machine needs no contract of its own, because the
//! parts speak through traits: a mechanism that acts on evictions or on acceptance by the memory
//! controller is a [`crate::MemoryPort`] around another one, and one that acts on what reaches the
//! caches is a [`crate::Below`] around another. Both are monomorphised.

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
