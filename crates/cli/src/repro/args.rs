//! Arguments of `prestore repro`.

use std::path::PathBuf;

use clap::Args;

use crate::args::PlainFormat;

/// Arguments of `prestore repro`.
#[derive(Args, Debug)]
pub struct ReproArgs {
    /// Experiments, as in p0-fig-3 [default: their names are listed, nothing is run]
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Shorter runs: the shape, not the numbers
    #[arg(long)]
    pub quick: bool,
    /// Keep the recordings in this folder, and use those that are there already
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// optane: other points to run, in the columns of OptaneStudy's sweep or of one of its figures,
    /// or a folder of such files
    #[arg(long, value_name = "FILE.csv")]
    pub points: Option<PathBuf>,
    /// optane: interleaved DIMMs [default: 1]
    #[arg(long, value_name = "N", requires = "points", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub dimms: Option<u32>,
    /// Seed of all that is random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}
