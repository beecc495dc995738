//! The arguments of `prestore try`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use crate::args::{OpArg, PlainFormat, folder};

/// Arguments of `prestore try`.
///
/// The program is analysed first, as `prestore advise` does, and then runs several times: unchanged, with the stores of
/// each finding changed, and with all of them changed. All of these runs are made under the same engine, so that they
/// compare with each other, not with a run without it.
#[derive(Args, Debug)]
pub struct TryArgs {
    /// Take the findings of this recording instead of analysing the program first
    #[arg(long, value_name = "DIR")]
    pub from: Option<PathBuf>,
    /// Only these findings, as `prestore advise` numbers them; else all with an advice
    #[arg(long = "finding", value_name = "N[,N…]", value_delimiter = ',')]
    pub findings: Vec<usize>,
    /// Make this of the chosen findings' stores, whatever is advised there
    #[arg(long, value_enum, value_name = "OP", requires = "findings")]
    pub op: Option<OpArg>,
    /// Rounds; in each the program runs unchanged once and with each change once
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=999))]
    pub runs: u32,
    /// Keep the order of stores at atomics, fences and system calls only, as a patched source would
    ///
    /// Else each plain store waits for the non-temporal ones before it, as it may tell another thread that they are done:
    /// where other stores lie between the changed ones, those fences are what is measured. Only for programs whose threads tell
    /// each other by atomics or locks of a library; a store-release is a plain store.
    #[arg(long)]
    pub relaxed_order: bool,
    /// The program's standard input, for every run; else it reads nothing
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Form of the output
    ///
    /// With `json` only the result goes to stdout.
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
    /// Set a threshold of the analysis (repeatable); `prestore advise --help` lists them
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    pub thresholds: Vec<String>,
    /// Folder with separate debug files (repeatable)
    #[arg(long, value_name = "DIR", value_parser = folder())]
    pub debug_dir: Vec<PathBuf>,
    /// Nothing on stderr but errors: neither progress nor notes
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<OsString>,
}
