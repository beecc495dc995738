//! How memory is cached, and what the kernel module offers of it.

/// How memory is cached (P1, section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum MemoryType {
    /// Write-back: as all memory of a program.
    WriteBack = 0,
    /// Write-through: reads are cached, stores go to memory.
    WriteThrough = 1,
    /// Write-combining: not cached; stores gather in buffers until a fence or a full line.
    WriteCombining = 2,
    /// Uncacheable: each access goes to memory, in order.
    Uncacheable = 3,
}

impl MemoryType {
    /// All, in the order of their numbers.
    pub const ALL: [MemoryType; 4] = [
        MemoryType::WriteBack,
        MemoryType::WriteThrough,
        MemoryType::WriteCombining,
        MemoryType::Uncacheable,
    ];

    /// `WB`, `WT`, `WC` or `UC`.
    pub const fn name(self) -> &'static str {
        match self {
            MemoryType::WriteBack => "WB",
            MemoryType::WriteThrough => "WT",
            MemoryType::WriteCombining => "WC",
            MemoryType::Uncacheable => "UC",
        }
    }
}

/// What the kernel module offers on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryTypes {
    pub(crate) types: u32,
    /// Bytes that the module may give away, to all programs together.
    pub limit: u64,
    /// Bytes that it has given away.
    pub used: u64,
}

impl MemoryTypes {
    /// Whether the machine can have memory of the type.
    pub fn has(&self, memory_type: MemoryType) -> bool {
        self.types & (1 << memory_type as u32) != 0
    }
}
