//! Why a recording cannot be checked.

use prestore_replay::SourceError;
use thiserror::Error;

/// Why a recording cannot be checked.
#[derive(Debug, Error)]
pub enum CrashError {
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// Not all stores, flushes and fences are in it.
    #[error(
        "{dir}: {what} were recorded, so flushes and fences may be missing that the program did: \
         record all of it again (`prestore record -o DIR -- CMD`)"
    )]
    Partial {
        /// The recording.
        dir: String,
        /// Which part there is, in words.
        what: &'static str,
    },
    /// It does not say which memory is which file.
    #[error(
        "{0}: this recording does not know mapped files: record again with this version (and \
         without --no-allocations), or name the memory by its addresses (--image 0xFIRST-0xEND)"
    )]
    NoMappedFiles(String),
    /// Nothing is known to be persistent.
    #[error(
        "{0}: the program mapped no file that its stores reach (mmap with MAP_SHARED), so nothing is \
         known to be persistent: name the memory with --image, by its addresses (0xFIRST-0xEND) or \
         by the function or FILE:LINE that allocates it"
    )]
    NothingMapped(String),
    /// An image that the program did not have.
    #[error(
        "--image {image}: the program mapped no file of this name, and nothing of this name allocates; \
         {mapped}"
    )]
    NoSuchImage {
        /// As it was asked for.
        image: String,
        /// What it did map, in words.
        mapped: String,
    },
    /// All that it names is another image's.
    #[error("--image {0}: what it names is another --image's already: name each once")]
    NamedTwice(String),
    /// A range that the program did not use.
    #[error(
        "--image {0}: the program neither stored nor flushed anything there; addresses change from run to \
         run: take them from this recording"
    )]
    UnusedRange(String),
    /// Images are made of one memory.
    #[error(
        "{dir}: the program stored to {}; images are made of one of them: choose it with --image",
        names.join(", ")
    )]
    SeveralImages {
        /// The recording.
        dir: String,
        /// What it stored to.
        names: Vec<String>,
    },
    /// There is nothing to lose.
    #[error(
        "{0}: the program stored nothing to this memory, so every power cut leaves the same; name another \
         with --image"
    )]
    NothingStored(String),
    /// Images are made of one allocation.
    #[error(
        "--image {0}: it allocates more than once, and images are made of one memory: name that by its \
         addresses (0xFIRST+SIZE)"
    )]
    SeveralAllocations(String),
    /// Images of it would not fit into memory.
    #[error(
        "{0}: it has more than 16 GiB, and images of so much are not made: choose the part that matters by its \
         addresses (--image 0xFIRST+SIZE)"
    )]
    TooLarge(String),
}
