//! The arguments of `prestore simulate` and `prestore whatif`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{PlainFormat, SampleArgs, StoredArgs, parse_count};

/// What to simulate and how, whatever for.
#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// Set a value of every machine named (repeatable), as in core.count=10
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Seed of all that is random (replacement, page placement)
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Measure only while a source region of this number, or `any`, is open in some thread; what
    /// comes before and between warms the caches up
    #[arg(long, value_name = "ID|any")]
    pub region: Option<String>,
    /// Let no load wait for the load that brings its address: any number of them under way at once, also along lists and
    /// trees (docs/whatif.md)
    #[arg(long)]
    pub independent_loads: bool,
    /// Simulate only the first N operations of all threads (20M, 1G): a quick look at a long recording
    #[arg(long, value_name = "N", value_parser = parse_limit)]
    pub limit: Option<u64>,
    /// How to sample.
    #[command(flatten)]
    pub sampling: SampleArgs,
    /// Folder with separate debug files (repeatable), for names of functions
    #[arg(long, value_name = "DIR", value_parser = super::folder())]
    pub debug_dir: Vec<PathBuf>,
    /// What to read.
    #[command(flatten)]
    pub stored: StoredArgs,
    /// Form of the output; docs/metrics.md defines the figures
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
    /// Nothing on stderr but errors: neither progress nor notes
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `prestore simulate`.
#[derive(Args, Debug)]
pub struct SimulateArgs {
    /// The machine: a name, or the path of a machine file (ends with .toml)
    #[arg(long, value_name = "M")]
    pub machine: String,
    /// Operations of all threads to simulate before anything is measured
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count, conflicts_with = "sample")]
    pub warmup: u64,
    /// Runs in which a sample's units are simulated, side by side; each has as many units one behind the other, and begins
    /// with empty caches [default: 2, or 1 with --sample-warm all]
    #[arg(long, value_name = "N", requires = "sample", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub sample_runs: Option<u64>,
    /// What takes part beside the machine
    #[arg(long, value_enum, default_value_t)]
    pub mechanism: MechanismArg,
    /// Give a range of memory another caching mode (repeatable), as if the program were written for it: a file that it
    /// mapped, a function or FILE:LINE that allocates, or addresses (0xFIRST-0xEND, 0xFIRST+SIZE); and WB, WT, WC, UC, NT
    /// (write-back with non-temporal stores) or EADR (persistent caches): docs/caching-modes.md
    #[arg(long = "type", value_name = "RANGE:MODE", conflicts_with = "sample")]
    pub types: Vec<String>,
    /// Write the result there instead of to stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to simulate.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// What takes part in a simulation beside the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MechanismArg {
    /// The program as it was recorded
    #[default]
    None,
}

/// Arguments of `prestore whatif`.
#[derive(Args, Debug)]
pub struct WhatifArgs {
    /// The machines: names, or paths of machine files, separated by commas
    #[arg(
        long = "machine",
        value_name = "M[,M…]",
        value_delimiter = ',',
        required = true
    )]
    pub machines: Vec<String>,
    /// Only this finding (repeatable), by its number in `prestore advise`
    #[arg(long = "finding", value_name = "N")]
    pub findings: Vec<usize>,
    /// Try these operations at the chosen findings, each alone, instead of what the analysis advises
    #[arg(
        long = "op",
        value_name = "OP[,OP…]",
        value_enum,
        value_delimiter = ',',
        requires = "findings"
    )]
    pub ops: Vec<OpArg>,
    /// Only this way to write it, with --finding and --op: skip has several (docs/whatif.md)
    #[arg(long, value_enum, requires = "ops")]
    pub way: Option<WayArg>,
    /// Compare caching modes instead: try each for every persistent range (docs/caching-modes.md)
    #[arg(long, conflicts_with_all = ["findings", "ops", "way", "simulations", "thresholds", "sample"])]
    pub types: bool,
    /// Memory that is persistent (repeatable), for --types: as --type of `prestore simulate` names it [default: all files
    /// mapped with MAP_SHARED]
    #[arg(long, value_name = "RANGE", requires = "types")]
    pub persistent: Vec<String>,
    /// Simulate everything N times, with other seeds and places of pages: how far they lie apart stands beside each gain
    #[arg(long, value_name = "N", default_value_t = SIMULATIONS, value_parser = clap::value_parser!(u32).range(1..=99))]
    pub simulations: u32,
    /// Set a threshold of the analysis (repeatable); `prestore advise --help` lists them
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    pub thresholds: Vec<String>,
    /// What to simulate.
    #[command(flatten)]
    pub replay: ReplayArgs,
}

/// Pre-stores to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OpArg {
    /// Write the lines back, keep them cached.
    Clean,
    /// Move the lines to a farther level.
    Demote,
    /// Write around the caches.
    Skip,
}

/// Ways to write a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WayArg {
    /// `prestore()` after the data is written.
    Call,
    /// `prestore_copy_skip()` in the place of `memcpy()`.
    CopyCall,
    /// The compiler's non-temporal stores.
    InPlace,
    /// Built in a buffer, then `prestore_copy_skip()`.
    Buffer,
    /// `prestore_writer`.
    Writer,
}

/// Simulations of each variant unless the user says how many.
pub const SIMULATIONS: u32 = 3;

/// A count of which there is at least one.
pub fn parse_limit(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("0 leaves nothing to simulate: give at least 1".to_owned()),
        n => Ok(n),
    }
}
