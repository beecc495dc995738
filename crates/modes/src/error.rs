//! Why modes cannot be tried.

use prestore_replay::SourceError;
use prestore_sim::SimulationError;
use thiserror::Error;

/// Why modes cannot be tried.
#[derive(Debug, Error)]
pub enum ModesError {
    /// Not of the form `RANGE:MODE`.
    #[error("'{text}': {why}")]
    Assignment {
        /// As it was written.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// The recording cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A simulation failed.
    #[error("on {machine}: {error}")]
    Simulation {
        /// The machine.
        machine: String,
        /// Why.
        error: SimulationError<SourceError>,
    },
    /// The program had no such memory.
    #[error(
        "{name}: the program mapped no file of this name, and nothing of this name allocates; {mapped}"
    )]
    NoSuchRange {
        /// As it was asked for.
        name: String,
        /// What it did map, in words.
        mapped: String,
    },
    /// Nothing is known to be persistent.
    #[error(
        "{0}: the program mapped no file that its stores reach (mmap with MAP_SHARED), so nothing is known to be \
         persistent: name the memory with --persistent, by its addresses (0xFIRST-0xEND) or by the function or \
         FILE:LINE that allocates it"
    )]
    NothingPersistent(String),
    /// Two ranges share memory.
    #[error("{one} and {other} overlap, at {at:#x}: memory has one mode; name each part once")]
    Overlap {
        /// A range.
        one: String,
        /// Another.
        other: String,
        /// An address in both.
        at: u64,
    },
    /// The machine cannot do it.
    #[error(
        "{name}: {machine} has {lacks}; take another mode, or another machine (core.memory_types says what a machine has)"
    )]
    NoSuchMode {
        /// The range.
        name: String,
        /// The machine.
        machine: String,
        /// What it does not have, in words.
        lacks: String,
    },
    /// Nobody loads or stores there.
    #[error(
        "{0}: the program never touches it, so its mode cannot matter; addresses change from run to run: take them from \
         this recording"
    )]
    Untouched(String),
}
