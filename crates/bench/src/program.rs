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
}

/// Bytes of the array of listing 1: more than a last-level cache holds.
const ARRAY_BYTES: u64 = 128 << 20;
/// Bytes that listing 1 writes: the array many times, so that its pages' first touch counts little.
const WRITTEN_BYTES: u64 = 2 << 30;

impl Program {
    /// All of them, in the order of the paper.
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
            Program::Ring => Some(2),
        }
    }

    /// Its command line, but for the operation.
    pub(crate) fn arguments(self, size: u64, threads: u64) -> Vec<String> {
        match self {
            Program::Listing1 => vec![
                format!("--size={size}"),
                format!("--elements={}", ARRAY_BYTES / size),
                format!("--iters={}", WRITTEN_BYTES / size),
                format!("--threads={threads}"),
            ],
            Program::Listing2 => vec!["--iters=2000000".into()],
            Program::Listing3 => vec!["--iters=20000000".into()],
            Program::Ring => vec!["--messages=2000000".into()],
            Program::Kv => vec![
                "--workload=A".into(),
                format!("--value-size={size}"),
                "--ops=2000000".into(),
                format!("--threads={threads}"),
            ],
            Program::Stencil => vec!["--steps=40".into(), format!("--threads={threads}")],
            Program::Fft => vec!["--rows=16K".into()],
            Program::Tensor => vec!["--large-count=8".into(), "--small-count=800000".into()],
        }
    }
}
