//! One kernel record, from bytes to what it means here.

mod decode;
mod ibs;

pub use decode::{DecodeError, Decoder};
pub use ibs::{IbsOp, decode_ibs_op};

/// What the sampled instruction did to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// It wrote (a read-modify-write too).
    Store,
    /// It only read.
    Load,
    /// It touched no memory, or the record does not tell.
    Other,
}

/// A sample as the kernel delivered it, addresses absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawSample {
    /// Address of the sampled instruction.
    pub ip: u64,
    /// Data address, where the hardware gave one.
    pub addr: Option<u64>,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Perf time, nanoseconds.
    pub time: u64,
    /// Events that this sample stands for.
    pub period: u64,
    /// What the instruction did.
    pub kind: AccessKind,
    /// User return addresses, innermost first, without the kernel's context markers. The first is
    /// the interrupted instruction, which may lie behind `ip`.
    pub callchain: Vec<u64>,
    /// Whether the sample hit user code.
    pub user: bool,
}

/// A kernel record that matters to sampling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// A sample.
    Sample(RawSample),
    /// Records (of any kind) that found no room in the buffer.
    Lost(u64),
    /// The kernel stopped the event for the rest of a timer tick: it came too often.
    Throttle,
    /// The event goes on after a throttling.
    Unthrottle,
    /// Code was mapped.
    Mapping(Mapping),
    /// A process was created.
    Fork {
        /// The new process.
        pid: u32,
        /// Its parent.
        parent: u32,
        /// Perf time, nanoseconds.
        time: u64,
    },
    /// A process replaced its program.
    Exec {
        /// The process.
        pid: u32,
        /// Perf time, nanoseconds.
        time: u64,
    },
    /// Bytes have arrived in the AUX area.
    Aux(AuxChunk),
    /// Anything else, by `PERF_RECORD_*` number.
    Other(u32),
}

/// A mapping of a file (or of anonymous code) into a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Process.
    pub pid: u32,
    /// Perf time, nanoseconds.
    pub time: u64,
    /// First address.
    pub start: u64,
    /// Length, bytes.
    pub length: u64,
    /// Offset of the first byte in the file.
    pub file_offset: u64,
    /// Path of the file, or the kernel's name for what has none: `[vdso]`, `//anon`.
    pub path: Vec<u8>,
    /// GNU build id, where the kernel gives it (Linux 5.12 and later).
    pub build_id: Option<Vec<u8>>,
}

/// Where new bytes lie in the AUX area.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuxChunk {
    /// Free-running position of the first byte.
    pub offset: u64,
    /// Number of bytes.
    pub size: u64,
    /// Samples were dropped before or within it: area full, or two samples at once.
    pub incomplete: bool,
    /// Process that ran meanwhile.
    pub pid: u32,
    /// Thread that ran meanwhile.
    pub tid: u32,
    /// Perf time of the record, nanoseconds.
    pub time: u64,
}
