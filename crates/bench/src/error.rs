//! What can go wrong.

use std::io;

use thiserror::Error;

/// Why a plan cannot be made or run.
#[derive(Debug, Error)]
pub enum BenchError {
    /// A size no program takes.
    #[error("writes of {size} bytes cannot be benched: choose multiples of 64 from 64 to 4096")]
    Size {
        /// What was asked for.
        size: u64,
    },
    /// A number of threads no program takes.
    #[error("{threads} threads cannot be benched: choose 1 to 256")]
    Threads {
        /// What was asked for.
        threads: u64,
    },
    /// No rounds.
    #[error("without runs there is nothing to measure: choose at least 1")]
    Runs,
    /// No case is left.
    #[error(
        "none of the chosen programs has any of the chosen operations; listing1 has all, kv and stencil \
             have clean and skip, listing2, listing3 and ring clean and demote, fft and tensor clean"
    )]
    NothingToRun,
    /// Built for a machine without workloads.
    #[error(
        "this build of prestore has no programs to bench: they need x86-64 or AArch64 and Unix"
    )]
    NotBuilt,
    /// The program's process cannot be started.
    #[error("{program} cannot be run: {source}")]
    Start {
        /// The program.
        program: &'static str,
        /// What went wrong.
        source: io::Error,
    },
    /// The program failed.
    #[error("{program} failed ({status}): {message}")]
    Program {
        /// The program.
        program: &'static str,
        /// How it ended.
        status: String,
        /// What it said.
        message: String,
    },
    /// A variant computed something else than base: its figures mean nothing.
    #[error(
        "{program} computed another result with {variant} than without; please report this with the output of \
         `prestore doctor`"
    )]
    Result {
        /// The program.
        program: &'static str,
        /// The variant.
        variant: &'static str,
    },
}
