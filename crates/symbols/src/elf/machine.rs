//! Names of machines and classes, for messages.

use std::fmt;

use object::elf;

/// Width of an ELF file's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// 32-bit.
    Elf32,
    /// 64-bit.
    Elf64,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Elf32 => "32-bit",
            Self::Elf64 => "64-bit",
        })
    }
}

/// The processor architecture of an ELF file: its `e_machine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Machine(pub u16);

impl Machine {
    /// x86-64, also of x32 programs (which are [`Class::Elf32`]).
    pub const X86_64: Self = Self(elf::EM_X86_64.0);

    /// 32-bit x86.
    pub const I386: Self = Self(elf::EM_386.0);

    /// The common name, `None` for the rare ones.
    pub fn name(self) -> Option<&'static str> {
        Some(match elf::Machine(self.0) {
            elf::EM_386 => "x86 (i386)",
            elf::EM_X86_64 => "x86-64",
            elf::EM_AARCH64 => "AArch64 (64-bit Arm)",
            elf::EM_ARM => "32-bit Arm",
            elf::EM_RISCV => "RISC-V",
            elf::EM_PPC => "PowerPC",
            elf::EM_PPC64 => "64-bit PowerPC",
            elf::EM_S390 => "IBM S/390 (z/Architecture)",
            elf::EM_MIPS => "MIPS",
            elf::EM_SPARC | elf::EM_SPARCV9 => "SPARC",
            elf::EM_IA_64 => "Itanium",
            elf::EM_LOONGARCH => "LoongArch",
            elf::EM_BPF => "BPF",
            _ => return None,
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "machine {}", self.0),
        }
    }
}
