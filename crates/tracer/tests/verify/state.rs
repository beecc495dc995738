//! What a program has at the beginning of a block: written by the recorder (`client/verify.c`), or read from a process.

/// General registers in the order of their encoding.
pub const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];
/// Carry, parity, auxiliary, zero, sign, direction, overflow.
pub const FLAGS: u64 = 0xcd5;
/// Bytes of a state that the recorder writes.
const BYTES: usize = 8 * (2 + 16 + 3);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub pc: u64,
    pub gpr: [u64; 16],
    pub flags: u64,
    /// Hashes: of the vector registers' lower 256 bits, of all memory that the program writes to.
    pub vectors: u64,
    pub memory: u64,
}

/// A state, and the instructions of the block that begins there.
pub fn states(file: &[u8]) -> Vec<(State, u64)> {
    let words = |bytes: &[u8]| -> Vec<u64> {
        let chunks = bytes.as_chunks().0.iter();
        chunks.map(|b| u64::from_le_bytes(*b)).collect()
    };
    let one = |bytes: &[u8]| {
        let w = words(bytes);
        let state = State {
            pc: w[0],
            gpr: std::array::from_fn(|i| w[2 + i]),
            flags: w[18],
            vectors: w[19],
            memory: w[20],
        };
        (state.without_steps(), w[1])
    };
    file.chunks_exact(BYTES).map(one).collect()
}

/// The client's.
pub fn hash(mut h: u64, bytes: &[u8]) -> u64 {
    for word in bytes.as_chunks().0 {
        h = (h ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^= h >> 32;
    }
    h
}

impl State {
    /// While an instruction is stepped over, a flag says so, and `syscall` puts the flags into r11: that bit of it
    /// is not compared.
    pub fn without_steps(mut self) -> Self {
        self.gpr[11] &= !0x100;
        self
    }

    /// What differs, natively and recorded.
    pub fn difference(&self, recorded: &Self) -> String {
        let mut pairs = vec![("pc", self.pc, recorded.pc)];
        for (i, name) in NAMES.iter().enumerate() {
            pairs.push((*name, self.gpr[i], recorded.gpr[i]));
        }
        pairs.push(("flags", self.flags, recorded.flags));
        pairs.push(("vectors", self.vectors, recorded.vectors));
        pairs.push(("memory", self.memory, recorded.memory));
        pairs.retain(|(_, a, b)| a != b);
        let lines = pairs
            .iter()
            .map(|(name, a, b)| format!("{name}: natively {a:#x}, recorded {b:#x}\n"));
        lines.collect()
    }
}
