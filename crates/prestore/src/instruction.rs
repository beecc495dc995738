//! The instructions that may stand behind an operation.

use core::fmt;

/// An instruction, or kind of store, that an operation may be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Instruction {
    /// Nothing is executed: the operation has no effect.
    None,
    /// x86 `clwb`: writes a line back; the CPU may keep it.
    Clwb,
    /// x86 `clflushopt`: writes a line back and drops it from all caches.
    ClflushOpt,
    /// x86 `clflush`: as `clflushopt`, and ordered with other flushes and stores.
    Clflush,
    /// Arm `dc cvac`: cleans a line to the point of coherency and keeps it.
    DcCvac,
    /// x86 `cldemote`: moves a line to a farther cache level.
    Cldemote,
    /// Arm `dc cvau`: cleans a line to the point of unification.
    DcCvau,
    /// Ordinary stores, where non-temporal ones are missing or forbidden.
    PlainStores,
    /// x86 `movntdq`, 16 bytes a store.
    MovntSse2,
    /// x86 `vmovntdq`, 32 bytes a store.
    MovntAvx,
    /// x86 `vmovntdq`, 64 bytes a store: a whole line.
    MovntAvx512,
    /// Arm `stnp`: a hint that the data will not be used again soon.
    Stnp,
}

impl Instruction {
    /// Every instruction; the position of each is its number.
    pub const ALL: [Instruction; 12] = [
        Instruction::None,
        Instruction::Clwb,
        Instruction::ClflushOpt,
        Instruction::Clflush,
        Instruction::DcCvac,
        Instruction::Cldemote,
        Instruction::DcCvau,
        Instruction::PlainStores,
        Instruction::MovntSse2,
        Instruction::MovntAvx,
        Instruction::MovntAvx512,
        Instruction::Stnp,
    ];

    /// The name, as the query prints it and the environment switches take it.
    pub const fn name(self) -> &'static str {
        self.c_name().split_at(self.c_name().len() - 1).0
    }

    /// The name with a final NUL, for C.
    pub(crate) const fn c_name(self) -> &'static str {
        match self {
            Instruction::None => "none\0",
            Instruction::Clwb => "clwb\0",
            Instruction::ClflushOpt => "clflushopt\0",
            Instruction::Clflush => "clflush\0",
            Instruction::DcCvac => "dc cvac\0",
            Instruction::Cldemote => "cldemote\0",
            Instruction::DcCvau => "dc cvau\0",
            Instruction::PlainStores => "plain stores\0",
            Instruction::MovntSse2 => "movnt sse2\0",
            Instruction::MovntAvx => "movnt avx\0",
            Instruction::MovntAvx512 => "movnt avx512\0",
            Instruction::Stnp => "stnp\0",
        }
    }

    /// The instruction of a number; nothing for a number that is none's.
    #[inline(always)]
    pub(crate) const fn numbered(number: u8) -> Instruction {
        match number {
            1 => Instruction::Clwb,
            2 => Instruction::ClflushOpt,
            3 => Instruction::Clflush,
            4 => Instruction::DcCvac,
            5 => Instruction::Cldemote,
            6 => Instruction::DcCvau,
            7 => Instruction::PlainStores,
            8 => Instruction::MovntSse2,
            9 => Instruction::MovntAvx,
            10 => Instruction::MovntAvx512,
            11 => Instruction::Stnp,
            _ => Instruction::None,
        }
    }

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u8
    }

    /// Whether a switch's value means this name: letter case does not matter, `_` and `-` stand for a space.
    #[cfg(any(feature = "std", test))]
    pub(crate) fn is_named(self, value: &str) -> bool {
        value.len() == self.name().len()
            && value
                .bytes()
                .zip(self.name().bytes())
                .all(|(v, n)| v.eq_ignore_ascii_case(&n) || (n == b' ' && (v == b'_' || v == b'-')))
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
