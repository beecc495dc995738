//! What stands behind an operation on this machine, and why.

use crate::choice::{Warning, Why};
use crate::resolve::Chosen;
use crate::{Instruction, Op, arch};

/// Whether the data stays in a cache after the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Retains {
    /// It does not: the next access goes to memory.
    No = 0,
    /// It does.
    Yes = 1,
    /// The architecture leaves it to the CPU model: some drop the line on `clwb`, `stnp` is a hint.
    CpuDecides = 2,
}

/// What stands behind an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// The instruction that is executed, [`Instruction::None`] if nothing is.
    pub instruction: Instruction,
    /// Whether the operation can have an effect here. `false`: nothing is executed, or a NOP.
    pub active: bool,
    /// Whether the data stays cached.
    pub retains: Retains,
    /// Bytes a cache line, read from the CPU at run time.
    pub line_size: usize,
    /// Where the line size comes from.
    pub line_source: &'static str,
    /// Why this instruction.
    pub reason: &'static str,
    /// An environment switch that was not followed, and why.
    pub warning: Option<&'static str>,
}

/// Says which instruction stands behind `op` in this process, and why.
pub fn query(op: Op) -> Info {
    let details = Details::of(op);
    Info {
        instruction: details.instruction,
        active: details.active,
        retains: details.retains,
        line_size: details.line_size,
        line_source: without_nul(arch::LINE_SOURCE),
        reason: without_nul(details.reason),
        warning: details.warning.map(without_nul),
    }
}

fn without_nul(text: &'static str) -> &'static str {
    text.trim_end_matches('\0')
}

/// The same, with texts that end in NUL for C.
pub(crate) struct Details {
    pub instruction: Instruction,
    pub active: bool,
    pub retains: Retains,
    pub line_size: usize,
    pub reason: &'static str,
    pub warning: Option<&'static str>,
}

impl Details {
    pub fn of(op: Op) -> Details {
        let chosen = Chosen::get();
        let choice = chosen.choice(op);
        let idle = matches!(
            choice.instruction,
            Instruction::None | Instruction::PlainStores
        );
        Details {
            instruction: choice.instruction,
            active: !idle && choice.why != Why::ForcedNop,
            retains: retains(choice.instruction),
            line_size: chosen.line_size(),
            reason: reason(op, choice.why),
            warning: warning(choice.warning),
        }
    }
}

fn retains(instruction: Instruction) -> Retains {
    match instruction {
        Instruction::Clwb | Instruction::Stnp => Retains::CpuDecides,
        Instruction::ClflushOpt
        | Instruction::Clflush
        | Instruction::MovntSse2
        | Instruction::MovntAvx
        | Instruction::MovntAvx512 => Retains::No,
        Instruction::None
        | Instruction::DcCvac
        | Instruction::Cldemote
        | Instruction::DcCvau
        | Instruction::PlainStores => Retains::Yes,
    }
}

fn reason(op: Op, why: Why) -> &'static str {
    match why {
        Why::Best => "the best that this CPU and operating system offer\0",
        Why::Forced => "forced by the environment\0",
        Why::ForcedNop => {
            "forced by the environment; this CPU does not report the instruction and executes a NOP\0"
        }
        Why::Fallback => {
            "clwb is missing or forbidden, and PRESTORE_CLEAN_FALLBACK=invalidate allows an \
             instruction that drops the line from the caches\0"
        }
        Why::CpuLacks if op == Op::Clean => {
            "this CPU cannot write a line back and keep it; PRESTORE_CLEAN_FALLBACK=invalidate would \
             allow clflushopt or clflush, which drop the line from the caches\0"
        }
        Why::CpuLacks => "this CPU does not report the instruction\0",
        Why::Forbidden => "the environment forbids every instruction that could do it\0",
        Why::Architecture => "no instruction is known for this architecture\0",
        Why::OperatingSystem => {
            "this operating system is not known to allow programs the instruction\0"
        }
        Why::MayBeNop => {
            "the best there is, but CTR_EL0.IDC is 1: this CPU needs no clean to the point of \
             unification and may execute it as a NOP\0"
        }
    }
}

fn warning(warning: Warning) -> Option<&'static str> {
    match warning {
        Warning::None => None,
        Warning::UnknownValue => Some(
            "an environment switch of this operation was ignored: its value is no known word for it\0",
        ),
        Warning::CpuLacks => Some(
            "the instruction that the environment forces was refused: it would fault on this CPU or \
             operating system\0",
        ),
        Warning::Forbidden => Some(
            "the instruction that the environment forces was refused: another switch forbids it\0",
        ),
    }
}
