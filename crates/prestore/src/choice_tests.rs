//! Choices on CPUs of every kind, under every kind of switch.

use super::*;

const SKYLAKE_CLIENT: u16 = Instruction::ClflushOpt.bit()
    | Instruction::Clflush.bit()
    | Instruction::MovntSse2.bit()
    | Instruction::MovntAvx.bit();
const SAPPHIRE_RAPIDS: u16 = SKYLAKE_CLIENT
    | Instruction::Clwb.bit()
    | Instruction::Cldemote.bit()
    | Instruction::MovntAvx512.bit();

fn x86(usable: u16) -> Facts {
    Facts {
        line_log2: 6,
        usable,
        nops: Instruction::Cldemote.bit() & !usable,
        lack: Why::CpuLacks,
    }
}

fn forcing(op: Op, instruction: Instruction) -> Switches {
    let mut switches = Switches::default();
    switches.force[op as usize] = Force::To(instruction);
    switches
}

fn forbidding(instruction: Instruction) -> Switches {
    Switches {
        forbidden: instruction.bit(),
        ..Switches::default()
    }
}

#[test]
fn the_widest_and_kindest_instructions_are_chosen() {
    let facts = x86(SAPPHIRE_RAPIDS);
    let chosen = |op| choose(op, &facts, &Switches::default());
    assert_eq!(chosen(Op::Clean).instruction, Instruction::Clwb);
    assert_eq!(chosen(Op::Demote).instruction, Instruction::Cldemote);
    assert_eq!(chosen(Op::Skip).instruction, Instruction::MovntAvx512);
    assert_eq!(chosen(Op::Clean).why, Why::Best);
}

#[test]
fn without_clwb_cleaning_does_nothing_and_says_so() {
    let choice = choose(Op::Clean, &x86(SKYLAKE_CLIENT), &Switches::default());
    assert_eq!(choice.instruction, Instruction::None);
    assert_eq!(choice.why, Why::CpuLacks);
}

#[test]
fn the_user_may_allow_an_invalidating_clean() {
    let mut switches = Switches {
        invalidating_clean: true,
        ..Switches::default()
    };
    let facts = x86(SKYLAKE_CLIENT);
    assert_eq!(
        choose(Op::Clean, &facts, &switches).instruction,
        Instruction::ClflushOpt
    );
    switches.forbidden = Instruction::ClflushOpt.bit();
    let choice = choose(Op::Clean, &facts, &switches);
    assert_eq!(choice.instruction, Instruction::Clflush);
    assert_eq!(choice.why, Why::Fallback);
}

#[test]
fn a_forbidden_instruction_is_not_blamed_on_the_cpu() {
    let choice = choose(
        Op::Clean,
        &x86(SAPPHIRE_RAPIDS),
        &forbidding(Instruction::Clwb),
    );
    assert_eq!(choice.instruction, Instruction::None);
    assert_eq!(choice.why, Why::Forbidden);
}

#[test]
fn forcing_an_instruction_that_would_fault_is_refused_aloud() {
    let switches = forcing(Op::Clean, Instruction::Clwb);
    let choice = choose(Op::Clean, &x86(SKYLAKE_CLIENT), &switches);
    assert_eq!(choice.instruction, Instruction::None);
    assert_eq!(choice.warning, Warning::CpuLacks);
}

#[test]
fn cldemote_may_be_forced_where_it_is_a_nop() {
    let switches = forcing(Op::Demote, Instruction::Cldemote);
    let choice = choose(Op::Demote, &x86(SKYLAKE_CLIENT), &switches);
    assert_eq!(choice.instruction, Instruction::Cldemote);
    assert_eq!(choice.why, Why::ForcedNop);
}

#[test]
fn forbidding_beats_forcing() {
    let switches = Switches {
        forbidden: Instruction::Clwb.bit(),
        ..forcing(Op::Clean, Instruction::Clwb)
    };
    let choice = choose(Op::Clean, &x86(SAPPHIRE_RAPIDS), &switches);
    assert_eq!(choice.instruction, Instruction::None);
    assert_eq!(choice.warning, Warning::Forbidden);
}

#[test]
fn an_unknown_value_leaves_the_best_choice_and_warns() {
    let mut switches = Switches::default();
    switches.force[Op::Skip as usize] = Force::Unknown;
    let choice = choose(Op::Skip, &x86(SAPPHIRE_RAPIDS), &switches);
    assert_eq!(choice.instruction, Instruction::MovntAvx512);
    assert_eq!(choice.warning, Warning::UnknownValue);
}

#[test]
fn forbidding_wide_stores_leaves_narrower_ones() {
    let switches = forbidding(Instruction::MovntAvx512);
    let choice = choose(Op::Skip, &x86(SAPPHIRE_RAPIDS), &switches);
    assert_eq!(choice.instruction, Instruction::MovntAvx);
}

#[test]
fn arm_with_coherent_instruction_caches_may_ignore_a_demote() {
    let facts = Facts {
        line_log2: 7,
        usable: Instruction::DcCvac.bit() | Instruction::DcCvau.bit() | Instruction::Stnp.bit(),
        nops: Instruction::DcCvau.bit(),
        lack: Why::OperatingSystem,
    };
    let demote = choose(Op::Demote, &facts, &Switches::default());
    assert_eq!(demote.instruction, Instruction::DcCvau);
    assert_eq!(demote.why, Why::MayBeNop);
    let clean = choose(Op::Clean, &facts, &Switches::default());
    assert_eq!(clean.instruction, Instruction::DcCvac);
}

#[test]
fn an_unknown_architecture_stores_plainly_and_says_why() {
    let facts = Facts {
        line_log2: 6,
        usable: 0,
        nops: 0,
        lack: Why::Architecture,
    };
    let skip = choose(Op::Skip, &facts, &Switches::default());
    assert_eq!(skip.instruction, Instruction::PlainStores);
    assert_eq!(skip.why, Why::Architecture);
}
