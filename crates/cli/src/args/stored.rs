//! The arguments of verbs that read a recording.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prestore_trace::container::Trace;

use super::PlainFormat;
use crate::error::CliError;
use crate::run;

/// The recording that a verb reads.
#[derive(Args, Debug)]
pub struct StoredArgs {
    /// The recording
    #[arg(value_name = "DIR")]
    pub recording: PathBuf,
    /// Leave corrupt parts of the recording out instead of giving up
    #[arg(long)]
    pub lenient: bool,
}

impl StoredArgs {
    /// Opens the recording.
    pub fn open(&self) -> Result<Trace, CliError> {
        run::open(&self.recording, self.lenient)
    }
}

/// Arguments of `prestore trace info`.
#[derive(Args, Debug)]
pub struct InfoArgs {
    /// What to read.
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}

/// Formats to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Columnar files for pyarrow, Polars, DuckDB (columns: docs/trace-format.md)
    Parquet,
}

/// Arguments of `prestore export`.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// What to read.
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Format
    #[arg(long, value_enum)]
    pub to: ExportFormat,
    /// Where to write [default: DIR/parquet]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
