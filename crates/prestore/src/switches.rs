//! The environment switches that force or forbid instructions.

use crate::Instruction;
#[cfg(any(feature = "std", test))]
use crate::Op;

/// What a `PRESTORE_FORCE_…` switch asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "std"),
    allow(dead_code, reason = "without `std` nothing is forced")
)]
pub(crate) enum Force {
    /// The switch is not set.
    #[default]
    No,
    /// It names an instruction that can stand behind the operation on some architecture.
    To(Instruction),
    /// It names nothing known.
    Unknown,
}

/// The switches, read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// By operation, in the order of [`Op`].
    pub force: [Force; 3],
    /// Instructions that are not to be used, as [`Instruction::bit`]s.
    pub forbidden: u16,
    /// Cleaning may use instructions that drop the line from the caches.
    pub invalidating_clean: bool,
    /// `PRESTORE_CLEAN_FALLBACK` has a value that means nothing.
    pub fallback_unknown: bool,
}

#[cfg(any(feature = "std", test))]
impl Switches {
    /// Reads the switches through `lookup`, which gives the value of a variable or `None`.
    pub fn read<V: AsRef<str>>(lookup: impl Fn(&str) -> Option<V>) -> Switches {
        let mut switches = Switches::default();
        for (op, name) in FORCE {
            if let Some(value) = lookup(name) {
                switches.force[op as usize] = force(op, value.as_ref());
            }
        }
        for (instruction, name) in FORBID {
            let set = lookup(name).is_some_and(|value| !matches!(value.as_ref(), "" | "0"));
            if set {
                switches.forbidden |= instruction.bit();
            }
        }
        if let Some(value) = lookup(FALLBACK) {
            match value.as_ref() {
                "invalidate" => switches.invalidating_clean = true,
                "" | "none" => {}
                _ => switches.fallback_unknown = true,
            }
        }
        switches
    }
}

#[cfg(any(feature = "std", test))]
fn force(op: Op, value: &str) -> Force {
    if value.is_empty() {
        return Force::No;
    }
    let known = op.instructions().iter().find(|i| i.is_named(value));
    known.map_or(Force::Unknown, |&instruction| Force::To(instruction))
}

#[cfg(any(feature = "std", test))]
const FORCE: [(Op, &str); 3] = [
    (Op::Demote, "PRESTORE_FORCE_DEMOTE"),
    (Op::Clean, "PRESTORE_FORCE_CLEAN"),
    (Op::Skip, "PRESTORE_FORCE_SKIP"),
];

#[cfg(any(feature = "std", test))]
const FORBID: [(Instruction, &str); 10] = [
    (Instruction::Clwb, "PRESTORE_NO_CLWB"),
    (Instruction::ClflushOpt, "PRESTORE_NO_CLFLUSHOPT"),
    (Instruction::Clflush, "PRESTORE_NO_CLFLUSH"),
    (Instruction::DcCvac, "PRESTORE_NO_DC_CVAC"),
    (Instruction::Cldemote, "PRESTORE_NO_CLDEMOTE"),
    (Instruction::DcCvau, "PRESTORE_NO_DC_CVAU"),
    (Instruction::MovntSse2, "PRESTORE_NO_MOVNT_SSE2"),
    (Instruction::MovntAvx, "PRESTORE_NO_MOVNT_AVX"),
    (Instruction::MovntAvx512, "PRESTORE_NO_MOVNT_AVX512"),
    (Instruction::Stnp, "PRESTORE_NO_STNP"),
];

/// The environment switches that the library reads at its first use, see docs/man/environment.md.
#[cfg(feature = "std")]
pub fn switch_names() -> impl Iterator<Item = &'static str> {
    let force = FORCE.into_iter().map(|(_, name)| name);
    force
        .chain(FORBID.into_iter().map(|(_, name)| name))
        .chain([FALLBACK])
}

#[cfg(any(feature = "std", test))]
const FALLBACK: &str = "PRESTORE_CLEAN_FALLBACK";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &'static str)]) -> Switches {
        Switches::read(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| *v))
    }

    #[test]
    fn nothing_set_changes_nothing() {
        assert_eq!(read(&[]), Switches::default());
    }

    #[test]
    fn zero_and_empty_do_not_forbid() {
        let off = read(&[("PRESTORE_NO_CLWB", "0"), ("PRESTORE_NO_STNP", "")]);
        assert_eq!(off, Switches::default());
        assert_eq!(
            read(&[("PRESTORE_NO_CLWB", "1")]).forbidden,
            Instruction::Clwb.bit()
        );
    }

    #[test]
    fn names_are_taken_in_any_case_and_with_underscores() {
        let switches = read(&[("PRESTORE_FORCE_CLEAN", "DC_CVAC")]);
        assert_eq!(
            switches.force[Op::Clean as usize],
            Force::To(Instruction::DcCvac)
        );
    }

    #[test]
    fn an_instruction_of_another_operation_is_unknown() {
        let switches = read(&[("PRESTORE_FORCE_DEMOTE", "clwb")]);
        assert_eq!(switches.force[Op::Demote as usize], Force::Unknown);
    }

    #[test]
    fn fallback_has_two_values() {
        assert!(read(&[("PRESTORE_CLEAN_FALLBACK", "invalidate")]).invalidating_clean);
        assert!(read(&[("PRESTORE_CLEAN_FALLBACK", "yes")]).fallback_unknown);
    }
}
