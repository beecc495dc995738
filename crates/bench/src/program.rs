//! The programs and their arguments.

use serde::Serialize;

use crate::Variant;

/// A workload (`workloads/README.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Program {
    /// Random elements are written, then re-read (P0, section 4.1).
    Listing1,
    /// A write, reads that hit L1, a fence (P0, section 4.2).
    Listing2,
    /// One line is rewritten all the time (P0, section 5): the warning.
    Listing3,
    /// Messages handed from thread to thread (P0, section 7.3.2).
    Ring,
    /// A key-value store under YCSB A (P0, section 7.2.3).
    Kv,
    /// Multigrid-like sweeps (P0, section 7.2.2).
    Stencil,
    /// Transforms of rows that are copied to a matrix (P0, section 7.2.2).
    Fft,
    /// Sums of large and of small tensors (P0, section 7.2.1).
    Tensor,
    /// A persistent array, element by element (P1, section 3.2).
    ModesArray,
    /// A persistent queue (P1, section 3.2).
    ModesQueue,
    /// A persistent hash table (P1, section 3.2).
    ModesHash,
    /// A persistent copy-on-write list (P1, section 3.2).
    ModesCowlist,
    /// A failure-safe loop of P4's (`docs/recompute.md`).
    RecomputeKernels,
}

/// Bytes of the array of listing 1: more than a last-level cache holds.
const ARRAY_BYTES: u64 = 128 << 20;
/// Bytes that listing 1 writes, and kv crafts. Short enough that a busy machine lets some runs pass undisturbed, and
/// that a simulation takes seconds.
const WRITTEN_BYTES: u64 = 64 << 20;
/// Bytes that they write before: each page is touched, and the caches are full of lines written.
const WARMUP_BYTES: u64 = 48 << 20;
/// MiB of replaced values that kv keeps back: more than a last-level cache holds, less than the warm-up writes.
const SPARE_MB: u64 = 40;

impl Program {
    /// Those that are benchmarks, in the order of the paper.
    pub const ALL: [Program; 8] = [
        Program::Listing1,
        Program::Listing2,
        Program::Listing3,
        Program::Ring,
        Program::Kv,
        Program::Stencil,
        Program::Fft,
        Program::Tensor,
    ];

    /// Those about caching modes: they have no pre-store to compare, so they are run and simulated by name only.
    pub const MODES: [Program; 4] = [
        Program::ModesArray,
        Program::ModesQueue,
        Program::ModesHash,
        Program::ModesCowlist,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Program::Listing1 => "listing1",
            Program::Listing2 => "listing2",
            Program::Listing3 => "listing3",
            Program::Ring => "ring",
            Program::Kv => "kv",
            Program::Stencil => "stencil",
            Program::Fft => "fft",
            Program::Tensor => "tensor",
            Program::ModesArray => "modes_array",
            Program::ModesQueue => "modes_queue",
            Program::ModesHash => "modes_hash",
            Program::ModesCowlist => "modes_cowlist",
            Program::RecomputeKernels => "recompute_kernels",
        }
    }

    /// The variants it has.
    pub const fn variants(self) -> &'static [Variant] {
        match self {
            Program::Listing1 => &Variant::ALL,
            Program::Listing2 | Program::Listing3 | Program::Ring => {
                &[Variant::Base, Variant::Clean, Variant::Demote]
            }
            Program::Kv | Program::Stencil => &[Variant::Base, Variant::Clean, Variant::Skip],
            Program::Fft | Program::Tensor => &[Variant::Base, Variant::Clean],
            Program::ModesArray
            | Program::ModesQueue
            | Program::ModesHash
            | Program::ModesCowlist
            | Program::RecomputeKernels => &[Variant::Base],
        }
    }

    /// Bytes of one write, where nobody asks for others.
    pub(crate) const fn usual_sizes(self) -> &'static [u64] {
        match self {
            Program::Listing1 => &[256, 1024, 4096],
            Program::Listing2 => &[128],
            Program::Listing3 => &[64],
            Program::Ring => &[256],
            Program::Kv => &[256, 1024],
            // A row of 64 points, half of a row of 1024 points (its real parts), a line.
            Program::Stencil => &[512],
            Program::Fft => &[8192],
            Program::Tensor => &[64],
            Program::ModesArray
            | Program::ModesQueue
            | Program::ModesHash
            | Program::ModesCowlist
            | Program::RecomputeKernels => &[8],
        }
    }

    /// Can the size of a write be chosen?
    pub(crate) const fn sizes_vary(self) -> bool {
        matches!(self, Program::Listing1 | Program::Kv)
    }

    /// The number of threads where it cannot be chosen.
    pub(crate) const fn fixed_threads(self) -> Option<u64> {
        match self {
            Program::Listing1 | Program::Kv | Program::Stencil => None,
            Program::Listing2 | Program::Listing3 | Program::Fft | Program::Tensor => Some(1),
            Program::ModesArray | Program::ModesHash | Program::RecomputeKernels => Some(1),
            Program::Ring | Program::ModesQueue | Program::ModesCowlist => Some(2),
        }
    }

    /// The source region of what is timed; none where that is the whole run.
    pub const fn timed_region(self) -> Option<u64> {
        match self {
            // Its region is a message's making.
            Program::Ring => None,
            Program::RecomputeKernels => Some(4095),
            _ => Some(1),
        }
    }

    /// Its command line, but for the operation.
    pub(crate) fn arguments(self, size: u64, threads: u64) -> Vec<String> {
        match self {
            Program::Listing1 => vec![
                format!("--size={size}"),
                format!("--elements={}", ARRAY_BYTES / size),
                format!("--iters={}", WRITTEN_BYTES / size),
                format!("--warmup={}", WARMUP_BYTES / size),
                format!("--threads={threads}"),
            ],
            Program::Listing2 => vec!["--iters=200000".into(), "--warmup=50000".into()],
            Program::Listing3 => vec!["--iters=500000".into()],
            Program::Ring => vec!["--messages=150000".into()],
            // Half of the requests are puts.
            Program::Kv => vec![
                "--workload=A".into(),
                format!("--value-size={size}"),
                format!("--spare-mb={SPARE_MB}"),
                format!("--warmup={}", 2 * WARMUP_BYTES / size),
                format!("--ops={}", WRITTEN_BYTES / size),
                format!("--threads={threads}"),
            ],
            Program::Stencil => vec!["--steps=10".into(), format!("--threads={threads}")],
            Program::Fft => vec!["--rows=4K".into()],
            Program::Tensor => vec!["--large-count=2".into(), "--small-count=200000".into()],
            Program::ModesArray
            | Program::ModesQueue
            | Program::ModesHash
            | Program::ModesCowlist
            | Program::RecomputeKernels => Vec::new(),
        }
    }
}
