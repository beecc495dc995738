//! What one x86-64 instruction reads and writes.

use iced_x86::{Decoder, DecoderOptions, InstructionInfoFactory, OpAccess, Register};

/// A set of registers: bits 0 to 15 the general ones, from 16 on the vector registers.
pub(super) type Registers = u64;

/// General and vector registers.
pub(super) const COUNT: usize = 48;

/// The registers of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// Read, those of addresses too.
    pub reads: Registers,
    /// In the address of what is loaded.
    pub addresses: Registers,
    /// Written whole: what they held is gone.
    pub writes: Registers,
    /// Written in part, or perhaps.
    pub merges: Registers,
}

/// Decodes instructions.
pub(super) struct Decode {
    info: InstructionInfoFactory,
}

impl Default for Decode {
    fn default() -> Self {
        Self {
            info: InstructionInfoFactory::new(),
        }
    }
}

impl Decode {
    /// The registers of the instruction with these bytes; none where it is unknown.
    pub fn uses(&mut self, code: &[u8]) -> Uses {
        let mut uses = Uses::default();
        let instruction = Decoder::new(64, code, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return uses;
        }
        let info = self.info.info(&instruction);
        for used in info.used_registers() {
            let bit = bit(used.register());
            match used.access() {
                OpAccess::Read | OpAccess::CondRead => uses.reads |= bit,
                OpAccess::Write if is_whole(used.register()) => uses.writes |= bit,
                OpAccess::Write | OpAccess::CondWrite => uses.merges |= bit,
                OpAccess::ReadWrite if is_whole(used.register()) => {
                    uses.reads |= bit;
                    uses.writes |= bit;
                }
                OpAccess::ReadWrite | OpAccess::ReadCondWrite => {
                    uses.reads |= bit;
                    uses.merges |= bit;
                }
                _ => {}
            }
        }
        // Pointers that an instruction moves on by constants hold what they held, for whom they come from.
        let mut moved = 0;
        if instruction.is_stack_instruction() {
            moved |= bit(Register::RSP);
        }
        if instruction.is_string_instruction() {
            moved |= bit(Register::RSI) | bit(Register::RDI) | bit(Register::RCX);
        }
        uses.writes &= !moved;
        uses.merges &= !moved;
        for memory in info.used_memory() {
            if is_read(memory.access()) {
                uses.addresses |= bit(memory.base()) | bit(memory.index());
            }
        }
        uses
    }
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn bit(register: Register) -> Registers {
    let whole = register.full_register();
    if whole.is_gpr64() {
        1 << whole.number()
    } else if whole.is_vector_register() {
        1 << (16 + whole.number())
    } else {
        0
    }
}

/// Does writing it leave nothing of the register? A write of 32 bits clears the others.
fn is_whole(register: Register) -> bool {
    !register.is_gpr8() && !register.is_gpr16()
}

#[cfg(test)]
mod tests {
    use super::{Decode, Uses};

    const RAX: u64 = 1;
    const RCX: u64 = 1 << 1;
    const RSP: u64 = 1 << 4;
    const XMM1: u64 = 1 << 17;

    #[test]
    fn registers_of_instructions() {
        let of = |code: &[u8]| Decode::default().uses(code);
        // mov (%rcx,%rax),%eax
        let load = Uses {
            reads: RAX | RCX,
            addresses: RAX | RCX,
            writes: RAX,
            merges: 0,
        };
        assert_eq!(of(&[0x8b, 0x04, 0x01]), load);
        // xor %eax,%eax depends on nothing.
        let zero = Uses {
            writes: RAX,
            ..Uses::default()
        };
        assert_eq!(of(&[0x31, 0xc0]), zero);
        // mov %cl,%al
        let part = Uses {
            reads: RCX,
            merges: RAX,
            ..Uses::default()
        };
        assert_eq!(of(&[0x88, 0xc8]), part);
        // push %rax: the address is the stack pointer's, and nothing is loaded.
        let push = of(&[0x50]);
        assert_eq!((push.reads, push.addresses), (RAX | RSP, 0));
        assert_eq!(push.writes, 0);
        // lodsq: the pointer moves on.
        let string = of(&[0x48, 0xad]);
        assert_eq!((string.addresses, string.writes), (1 << 6, RAX));
        // movsd %xmm1,(%rcx)
        let store = of(&[0xf2, 0x0f, 0x11, 0x09]);
        assert_eq!((store.reads, store.writes), (XMM1 | RCX, 0));
        // Not an instruction.
        assert_eq!(of(&[0x06]), Uses::default());
    }
}
