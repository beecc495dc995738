//! Samples in a trace directory: a manifest of kind `samples` and one JSON object a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Sample, Samples};
use crate::container::{
    Existing, FORMAT, Manifest, ReadError, RecordingInfo, RecordingState, SCHEMA_VERSION,
    TraceKind, WriteError, prepare, read_manifest, write_manifest,
};

/// File name of the samples in a trace directory of kind samples.
pub const SAMPLES: &str = "samples.jsonl";

/// Why samples could not be read from a trace directory.
#[derive(Debug, Error)]
pub enum SampleDirError {
    /// No trace, or a newer one.
    #[error(transparent)]
    Manifest(#[from] ReadError),
    /// The trace holds events.
    #[error("{} holds events, not samples", dir.display())]
    NotSamples {
        /// The directory.
        dir: PathBuf,
    },
    /// The samples cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line is no sample.
    #[error("{} is corrupt at line {line}: {source}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

/// Makes a trace directory of `samples`.
///
/// # Errors
/// As [`crate::container::TraceWriter::create`].
pub fn write_samples(
    dir: &Path,
    samples: &Samples,
    info: RecordingInfo,
    existing: Existing,
) -> Result<(), WriteError> {
    prepare(dir, existing)?;
    let path = dir.join(SAMPLES);
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&path)?);
        for sample in &samples.samples {
            serde_json::to_writer(&mut file, sample)?;
            file.write_all(b"\n")?;
        }
        file.flush()
    };
    write().map_err(|e| WriteError::io(&path, e))?;
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        schema_version: SCHEMA_VERSION,
        kind: TraceKind::Samples,
        state: RecordingState::Complete,
        info,
        ..Manifest::default()
    };
    write_manifest(dir, &manifest).map(drop)
}

/// Reads the samples of a trace directory.
///
/// # Errors
/// [`SampleDirError`].
pub fn read_samples(dir: &Path) -> Result<Samples, SampleDirError> {
    if read_manifest(dir)?.kind != TraceKind::Samples {
        let dir = dir.to_owned();
        return Err(SampleDirError::NotSamples { dir });
    }
    let path = dir.join(SAMPLES);
    let io = |source| SampleDirError::Io {
        path: path.clone(),
        source,
    };
    let mut samples = Samples::default();
    for (i, line) in BufReader::new(File::open(&path).map_err(io)?)
        .lines()
        .enumerate()
    {
        let sample: Result<Sample, _> = serde_json::from_str(&line.map_err(io)?);
        samples
            .samples
            .push(sample.map_err(|source| SampleDirError::Corrupt {
                path: path.clone(),
                line: i + 1,
                source,
            })?);
    }
    Ok(samples)
}
