//! A core's description in the units of simulation.

use prestore_machine::quantity::Cycles;
use prestore_machine::{Demote, FlushInstruction, Machine, MemoryModel, Strings};
use prestore_trace::FlushKind;

use crate::{Asks, ByteMask, Time};

/// Binary digits after the point of the picoseconds an instruction takes.
pub(super) const FRACTION: u32 = 20;

/// What the parts of a core need to know of its machine.
#[derive(Clone, Debug)]
pub(super) struct Params {
    /// This core's number.
    pub id: u32,
    /// log2 of the line size.
    pub line_shift: u32,
    /// All bytes of a line.
    pub whole: ByteMask,
    /// Picoseconds an instruction takes at full width, with [`FRACTION`] binary digits.
    pub instruction: u64,
    /// From one load to the next on a port that is always busy.
    pub load_period: Time,
    /// From one store that leaves the store buffer to the next (TSO).
    pub store_period: Time,
    /// Size of the reorder window in instructions, and the least time in which they dispatch.
    pub rob: u64,
    pub window: Time,
    /// Load-to-use latency of the nearest cache; of a forwarded store too.
    pub l1: Time,
    /// A load whose address comes no later than this goes to the caches at once, ahead of its time: as far as cores run
    /// ahead of each other anyway.
    pub near: Time,
    /// Costs where nothing is pending.
    pub atomic: Time,
    /// What follows an atomic goes on before that is done.
    pub atomics_overlap: bool,
    pub fence: Time,
    pub store_fence: Time,
    pub flush_issue: Time,
    /// What demotions do.
    pub demote: Demote,
    /// How long a demotion that moves a line takes a buffer.
    pub demote_hold: Option<Time>,
    /// What each [`FlushKind`] acts as here; `None`: there is no flush on this machine.
    pub flushes: [Option<FlushKind>; 6],
    pub clwb_retains: bool,
    /// A store leaves once its line is granted, before the data comes.
    pub leaves_when_granted: bool,
    /// All flushes keep their place among the stores (TSO).
    pub flushes_in_order: bool,
    /// Stores are held back and merged (weak).
    pub merges: bool,
    /// A load that is forwarded does without its line.
    pub forward_misses: bool,
    /// From the last of several stores that has left until a load of bytes of all is done.
    pub merge: Option<Time>,
    pub strings: Strings,
    /// How long a flush keeps its buffer at most.
    pub flush_hold: Option<Time>,
}

impl Params {
    pub fn new(id: u32, machine: &Machine) -> Self {
        let core = &machine.core;
        let cycles = |n: Cycles| Time::cycles(n, core.clock);
        let one = Cycles(1.0);
        let picoseconds = 1e3 / core.clock.0 / core.width;
        let instruction = (picoseconds * f64::from(1u32 << FRACTION)).round() as u64;
        let rob = u64::from(core.rob);
        Self {
            id,
            line_shift: machine.line.0.trailing_zeros(),
            whole: super::bytes::range(0, machine.line.0.clamp(1, 128) - 1),
            instruction,
            load_period: cycles(Cycles(1.0 / core.loads_per_cycle)),
            store_period: cycles(Cycles(1.0 / core.stores_per_cycle)),
            rob,
            window: Time((rob * instruction) >> FRACTION),
            l1: machine
                .caches
                .first()
                .map_or(cycles(one), |c| cycles(c.latency)),
            near: crate::engine::quantum(machine),
            atomic: cycles(core.atomic),
            atomics_overlap: core.atomics_overlap && core.memory_model == MemoryModel::Tso,
            fence: cycles(core.fence),
            store_fence: cycles(core.store_fence.unwrap_or(core.fence)),
            flush_issue: cycles(core.flush_issue),
            demote: core.demote,
            demote_hold: core.demote_hold.map(Time::nanos),
            flushes: KINDS.map(|kind| nearest(kind, &core.flushes)),
            clwb_retains: core.clwb_retains,
            leaves_when_granted: core.store_buffer.leaves_when_granted,
            flushes_in_order: core.store_buffer.flushes_in_order,
            merges: core.memory_model == MemoryModel::Weak,
            forward_misses: core.store_buffer.forward_misses,
            merge: core.store_buffer.merge.map(cycles),
            strings: core.strings,
            flush_hold: core.flush_hold.map(Time::nanos),
        }
    }

    /// What a flush of this kind acts as here.
    #[inline]
    pub fn flush(&self, kind: FlushKind) -> Option<FlushKind> {
        self.flushes[kind as usize]
    }

    /// What a flush of this kind asks of those who have its line.
    pub fn asks(&self, kind: FlushKind) -> Asks {
        if self.retains(kind) {
            Asks::Clean
        } else {
            Asks::Flush
        }
    }

    /// Does a flush of this kind leave the line in the caches?
    #[inline]
    pub fn retains(&self, kind: FlushKind) -> bool {
        match kind {
            FlushKind::Clwb | FlushKind::DcCvac | FlushKind::DcCvap => self.clwb_retains,
            FlushKind::Clflush | FlushKind::Clflushopt | FlushKind::DcCivac => false,
        }
    }
}

/// In the order of their discriminants.
const KINDS: [FlushKind; 6] = [
    FlushKind::Clflush,
    FlushKind::Clflushopt,
    FlushKind::Clwb,
    FlushKind::DcCivac,
    FlushKind::DcCvac,
    FlushKind::DcCvap,
];

/// The instruction that stands for `kind` on a machine that has `present`: the same, else one that
/// leaves the line in the same state, else any write-back, the least ordered first.
fn nearest(kind: FlushKind, present: &[FlushInstruction]) -> Option<FlushKind> {
    use FlushKind::{Clflush, Clflushopt, Clwb, DcCivac, DcCvac, DcCvap};
    let preferred = match kind {
        Clflush => [Clflush, Clflushopt, DcCivac, Clwb, DcCvac, DcCvap],
        Clflushopt => [Clflushopt, DcCivac, Clflush, Clwb, DcCvac, DcCvap],
        DcCivac => [DcCivac, Clflushopt, Clflush, Clwb, DcCvac, DcCvap],
        Clwb => [Clwb, DcCvac, DcCvap, Clflushopt, DcCivac, Clflush],
        DcCvac => [DcCvac, Clwb, DcCvap, Clflushopt, DcCivac, Clflush],
        DcCvap => [DcCvap, Clwb, DcCvac, Clflushopt, DcCivac, Clflush],
    };
    let has = |kind: &FlushKind| present.iter().any(|p| kind_of(*p) == *kind);
    preferred.into_iter().find(has)
}

fn kind_of(instruction: FlushInstruction) -> FlushKind {
    match instruction {
        FlushInstruction::Clflush => FlushKind::Clflush,
        FlushInstruction::Clflushopt => FlushKind::Clflushopt,
        FlushInstruction::Clwb => FlushKind::Clwb,
        FlushInstruction::DcCivac => FlushKind::DcCivac,
        FlushInstruction::DcCvac => FlushKind::DcCvac,
        FlushInstruction::DcCvap => FlushKind::DcCvap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_their_numbers() {
        for (i, kind) in KINDS.into_iter().enumerate() {
            assert_eq!(kind as usize, i);
        }
    }

    #[test]
    fn a_missing_flush_acts_as_the_nearest_present() {
        let old = [FlushInstruction::Clflush];
        let arm = [FlushInstruction::DcCivac, FlushInstruction::DcCvac];
        assert_eq!(nearest(FlushKind::Clwb, &old), Some(FlushKind::Clflush));
        assert_eq!(nearest(FlushKind::Clwb, &arm), Some(FlushKind::DcCvac));
        assert_eq!(nearest(FlushKind::Clflush, &arm), Some(FlushKind::DcCivac));
        assert_eq!(nearest(FlushKind::Clwb, &[]), None);
    }
}
