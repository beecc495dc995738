//! Which instruction stands behind each operation: a pure function of CPU, operating system and switches.

use crate::switches::{Force, Switches};
use crate::{Instruction, Op};

/// What the CPU and the operating system offer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// Base-two logarithm of the cache line's size in bytes.
    pub line_log2: u8,
    /// Instructions that work here, as [`Instruction::bit`]s.
    pub usable: u16,
    /// Instructions that do nothing here, yet may be executed.
    pub nops: u16,
    /// Why the other instructions do not work.
    pub lack: Why,
}

/// Why an instruction was chosen. The texts are in `info.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Why {
    Best,
    Forced,
    ForcedNop,
    Fallback,
    CpuLacks,
    Forbidden,
    Architecture,
    OperatingSystem,
    MayBeNop,
}

impl Why {
    pub const ALL: [Why; 9] = [
        Why::Best,
        Why::Forced,
        Why::ForcedNop,
        Why::Fallback,
        Why::CpuLacks,
        Why::Forbidden,
        Why::Architecture,
        Why::OperatingSystem,
        Why::MayBeNop,
    ];
}

/// A switch that could not be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Warning {
    None,
    UnknownValue,
    CpuLacks,
    Forbidden,
}

impl Warning {
    pub const ALL: [Warning; 4] = [
        Warning::None,
        Warning::UnknownValue,
        Warning::CpuLacks,
        Warning::Forbidden,
    ];
}

/// The choice for one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub instruction: Instruction,
    pub why: Why,
    pub warning: Warning,
}

pub(crate) fn choose(op: Op, facts: &Facts, switches: &Switches) -> Choice {
    let warning = match switches.force[op as usize] {
        Force::To(instruction) => match forced(instruction, facts, switches) {
            Ok(why) => {
                return Choice {
                    instruction,
                    why,
                    warning: Warning::None,
                };
            }
            Err(warning) => warning,
        },
        Force::Unknown => Warning::UnknownValue,
        Force::No if op == Op::Clean && switches.fallback_unknown => Warning::UnknownValue,
        Force::No => Warning::None,
    };
    let (instruction, why) = best(op, facts, switches);
    Choice {
        instruction,
        why,
        warning,
    }
}

fn forced(instruction: Instruction, facts: &Facts, switches: &Switches) -> Result<Why, Warning> {
    if switches.forbidden & instruction.bit() != 0 {
        return Err(Warning::Forbidden);
    }
    if matches!(instruction, Instruction::None | Instruction::PlainStores)
        || facts.usable & instruction.bit() != 0
    {
        return Ok(Why::Forced);
    }
    if facts.nops & instruction.bit() != 0 {
        return Ok(Why::ForcedNop);
    }
    // Executing it would raise an invalid-opcode fault.
    Err(Warning::CpuLacks)
}

fn best(op: Op, facts: &Facts, switches: &Switches) -> (Instruction, Why) {
    let allowed = facts.usable & !switches.forbidden;
    let first = |order: &[Instruction]| order.iter().copied().find(|i| allowed & i.bit() != 0);

    if let Some(instruction) = first(op.keeping()) {
        let why = match facts.nops & instruction.bit() {
            0 => Why::Best,
            _ => Why::MayBeNop,
        };
        return (instruction, why);
    }
    if op == Op::Clean
        && switches.invalidating_clean
        && let Some(instruction) = first(INVALIDATING)
    {
        return (instruction, Why::Fallback);
    }
    let forbade = op
        .keeping()
        .iter()
        .any(|i| facts.usable & switches.forbidden & i.bit() != 0);
    (
        op.nothing(),
        if forbade { Why::Forbidden } else { facts.lack },
    )
}

/// Instructions that clean, yet break the promise that the data stays cached; best first.
const INVALIDATING: &[Instruction] = &[Instruction::ClflushOpt, Instruction::Clflush];

impl Op {
    /// The instructions that do what the operation promises, best first.
    fn keeping(self) -> &'static [Instruction] {
        match self {
            Op::Demote => &[Instruction::Cldemote, Instruction::DcCvau],
            Op::Clean => &[Instruction::Clwb, Instruction::DcCvac],
            Op::Skip => &[
                Instruction::MovntAvx512,
                Instruction::MovntAvx,
                Instruction::MovntSse2,
                Instruction::Stnp,
            ],
        }
    }

    /// What is left when no instruction is.
    const fn nothing(self) -> Instruction {
        match self {
            Op::Skip => Instruction::PlainStores,
            _ => Instruction::None,
        }
    }

    /// Everything that a switch may force the operation to.
    #[cfg(any(feature = "std", test))]
    pub(crate) fn instructions(self) -> &'static [Instruction] {
        use Instruction::*;
        match self {
            Op::Demote => &[None, Cldemote, DcCvau],
            Op::Clean => &[None, Clwb, ClflushOpt, Clflush, DcCvac],
            Op::Skip => &[PlainStores, MovntSse2, MovntAvx, MovntAvx512, Stnp],
        }
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
