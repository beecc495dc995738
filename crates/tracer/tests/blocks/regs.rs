//! General-purpose registers: their names at every width, and what is known of what they hold.

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RBX: usize = 3;
pub const RSP: usize = 4;
pub const RBP: usize = 5;
pub const RSI: usize = 6;
pub const RDI: usize = 7;

/// What a register holds where the generator has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// Anything.
    Data,
    /// Something that must stay until somebody says otherwise, a loop's counter for one.
    Kept,
    /// An address so many bytes into the arena.
    Arena(i64),
    /// The same in the lower half, and anything above it: for 32-bit addressing.
    Dirty(i64),
    /// An address so many bytes into the block's stack.
    Stack(i64),
    /// A number.
    Int(i64),
}

const NAMES: [[&str; 4]; 8] = [
    ["al", "ax", "eax", "rax"],
    ["cl", "cx", "ecx", "rcx"],
    ["dl", "dx", "edx", "rdx"],
    ["bl", "bx", "ebx", "rbx"],
    ["spl", "sp", "esp", "rsp"],
    ["bpl", "bp", "ebp", "rbp"],
    ["sil", "si", "esi", "rsi"],
    ["dil", "di", "edi", "rdi"],
];

/// Name of register `reg` at `bytes`.
pub fn name(reg: usize, bytes: i64) -> String {
    let width = bytes.trailing_zeros() as usize;
    match NAMES.get(reg) {
        Some(names) => format!("%{}", names[width]),
        None => format!("%r{reg}{}", ["b", "w", "d", ""][width]),
    }
}
