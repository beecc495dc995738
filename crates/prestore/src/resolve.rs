//! The choices of this process, made once.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::choice::{Choice, Warning, Why, choose};
use crate::switches::Switches;
use crate::{Instruction, Op, arch};

/// All choices in one word, 0 before they are made: a racing or interrupted first use (a signal handler, say)
/// needs no lock, and every later use costs one load.
///
/// Bytes: line size (log2); instruction and reason of demote, of clean, of skip; two bits of warning each.
static CHOSEN: AtomicU64 = AtomicU64::new(0);

/// The packed choices of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chosen(u64);

impl Chosen {
    /// The choices, if they are made already.
    #[inline(always)]
    pub fn known() -> Option<Chosen> {
        match CHOSEN.load(Ordering::Relaxed) {
            0 => None,
            word => Some(Chosen(word)),
        }
    }

    #[inline(always)]
    pub fn get() -> Chosen {
        Chosen::known().unwrap_or_else(resolve)
    }

    #[inline(always)]
    pub fn line_size(self) -> usize {
        1 << (self.0 & 31)
    }

    #[inline(always)]
    pub fn instruction(self, op: Op) -> Instruction {
        Instruction::numbered(self.byte(1 + 2 * op as u32))
    }

    #[inline(always)]
    fn byte(self, at: u32) -> u8 {
        (self.0 >> (8 * at)) as u8
    }

    pub fn choice(self, op: Op) -> Choice {
        let why = self.byte(2 + 2 * op as u32) as usize;
        let warning = (self.byte(7) >> (2 * op as u8)) & 3;
        Choice {
            instruction: self.instruction(op),
            why: Why::ALL.get(why).copied().unwrap_or(Why::CpuLacks),
            warning: Warning::ALL[warning as usize],
        }
    }

    fn pack(line_log2: u8, choices: [(Op, Choice); 3]) -> Chosen {
        let mut bytes = [0; 8];
        bytes[0] = line_log2;
        for (op, choice) in choices {
            bytes[1 + 2 * op as usize] = choice.instruction as u8;
            bytes[2 + 2 * op as usize] = choice.why as u8;
            bytes[7] |= (choice.warning as u8) << (2 * op as u8);
        }
        Chosen(u64::from_le_bytes(bytes))
    }
}

#[cold]
fn resolve() -> Chosen {
    let facts = arch::facts();
    let switches = environment();
    let choices = [Op::Demote, Op::Clean, Op::Skip].map(|op| (op, choose(op, &facts, &switches)));
    let word = Chosen::pack(facts.line_log2, choices).0;
    // The first to decide wins, so that an environment changed meanwhile cannot make threads differ.
    let stored = CHOSEN
        .compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed)
        .map_or_else(|earlier| earlier, |_| word);
    Chosen(stored)
}

#[cfg(feature = "std")]
fn environment() -> Switches {
    // A value that is not UTF-8 is no known word; lossy text stays unknown, and the query says so.
    Switches::read(|name| std::env::var_os(name).map(|v| v.to_string_lossy().into_owned()))
}

#[cfg(not(feature = "std"))]
fn environment() -> Switches {
    Switches::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_survives_packing() {
        let plain = Choice {
            instruction: Instruction::None,
            why: Why::Best,
            warning: Warning::None,
        };
        for op in [Op::Demote, Op::Clean, Op::Skip] {
            for (i, &instruction) in Instruction::ALL.iter().enumerate() {
                assert_eq!(instruction as usize, i, "ALL is in the order of numbers");
                for (w, &why) in Why::ALL.iter().enumerate() {
                    assert_eq!(why as usize, w);
                    for &warning in &Warning::ALL {
                        let choice = Choice {
                            instruction,
                            why,
                            warning,
                        };
                        let of = |o| (o, if o == op { choice } else { plain });
                        let packed = Chosen::pack(7, [Op::Demote, Op::Clean, Op::Skip].map(of));
                        assert_eq!(packed.choice(op), choice);
                        assert_eq!(packed.line_size(), 128);
                    }
                }
            }
        }
    }
}
