//! Samples in a trace directory: a manifest of kind `samples` and one JSON object a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use thiserror::Error;

use super::{Sample, Samples};
use crate::container::{
    Existing, FORMAT, Manifest, ReadError, RecordingInfo, RecordingState, SCHEMA_VERSION,
    SampleTotals, TraceKind, WriteError, prepare, read_manifest, write_manifest,
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
    /// It is not what was imported.
    #[error("{} holds {found} of {count} samples as they were imported: it was cut or changed since; import them again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
        /// Samples in it.
        found: u64,
        /// Samples that were imported.
        count: u64,
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
    let write = || -> io::Result<u32> {
        let mut file = BufWriter::new(File::create(&path)?);
        let mut checksum = Hasher::new();
        for sample in &samples.samples {
            let mut line = serde_json::to_vec(sample)?;
            line.push(b'\n');
            checksum.update(&line);
            file.write_all(&line)?;
        }
        file.flush()?;
        Ok(checksum.finalize())
    };
    let checksum = write().map_err(|e| WriteError::io(&path, e))?;
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        schema_version: SCHEMA_VERSION,
        kind: TraceKind::Samples,
        state: RecordingState::Complete,
        samples: Some(SampleTotals {
            count: samples.samples.len() as u64,
            checksum,
        }),
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
    let manifest = read_manifest(dir)?;
    if manifest.kind != TraceKind::Samples {
        let dir = dir.to_owned();
        return Err(SampleDirError::NotSamples { dir });
    }
    let path = dir.join(SAMPLES);
    let io = |source| SampleDirError::Io {
        path: path.clone(),
        source,
    };
    let mut samples = Samples::default();
    let mut file = BufReader::new(File::open(&path).map_err(io)?);
    let mut checksum = Hasher::new();
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).map_err(io)? > 0 {
        checksum.update(&line);
        let sample: Result<Sample, _> = serde_json::from_slice(&line);
        samples
            .samples
            .push(sample.map_err(|source| SampleDirError::Corrupt {
                path: path.clone(),
                line: samples.samples.len() + 1,
                source,
            })?);
        line.clear();
    }
    let found = samples.samples.len() as u64;
    let read = SampleTotals {
        count: found,
        checksum: checksum.finalize(),
    };
    match manifest.samples {
        Some(written) if written != read => Err(SampleDirError::Changed {
            path,
            found,
            count: written.count,
        }),
        _ => Ok(samples),
    }
}
