//! The command line.

mod asked;
mod budget;
mod chosen;
mod sample;
mod simulation;
mod stored;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::bench::{BenchArgs, PROGRAM_VERB, ProgramArgs};
use crate::calibrate::CalibrateArgs;
use crate::crash::CrashArgs;
use crate::repro::ReproArgs;
use crate::trial::TryArgs;

pub use budget::Budget;
use budget::{STRETCH, parse_budget, parse_stretch};
pub use chosen::ChosenArgs;
pub use sample::SampleArgs;
pub use simulation::{MechanismArg, OpArg, SimulateArgs, WayArg, WhatifArgs};
use simulation::{SIMULATIONS, parse_limit};
pub use stored::{ExportArgs, ExportFormat, InfoArgs, StoredArgs};

/// What the exit code says.
const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  `crash --fail-on-findings` found something
  2  wrong usage or input: nothing was run; `try`: the analysis found nothing to try;
     `advise --machine`: the program has more threads than the machine has cores, and the advice
     is printed without gains
  3  the program failed (its own exit code is not 0, or a signal killed it) or its recording did;
     what was recorded up to then is printed or kept, and marked as partial where it is;
     `try`: with a change the program does something else";

/// Find where a program's writes hurt, and what to do there.
#[derive(Debug, Parser)]
#[command(
    name = "prestore",
    version,
    max_term_width = 100,
    arg_required_else_help = true
)]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a program (or read a recording) and say where its writes hurt and what to do there
    #[command(
        after_long_help = crate::advise::thresholds_help(),
        override_usage = "prestore advise [OPTIONS] -- <CMD>...\n       prestore advise [OPTIONS] <DIR>"
    )]
    Advise(AdviseArgs),
    /// Run a program and store what it does to memory
    Record(RecordArgs),
    /// Replay a recording on a described machine: where the time and the bytes go
    Simulate(SimulateArgs),
    /// Say what following the advice about a recording would gain on described machines
    Whatif(WhatifArgs),
    /// Change the stores of a program's findings while it runs, as is advised, and say how much faster it gets
    ///
    /// The program runs often, and as a whole each time: its files are written, and messages sent, as often. Only its standard
    /// output and how it ends are compared, not files.
    Try(TryArgs),
    /// Say what of a program's persistent memory a power cut may lose, from a recording
    Crash(CrashArgs),
    /// Look at a recording
    Trace {
        /// What to look at.
        #[command(subcommand)]
        verb: TraceVerb,
    },
    /// Write a recording in a format that other tools read
    Export(ExportArgs),
    /// Make a recording of samples that other tools took (`perf script`)
    Import(ImportArgs),
    /// Machines that programs are simulated on
    #[command(after_long_help = crate::machine::WHERE)]
    Machine {
        /// What to look at.
        #[command(subcommand)]
        verb: MachineVerb,
    },
    /// Run the workloads natively with each pre-store and say how they compare on this host
    Bench(BenchArgs),
    /// Run experiments of the papers and print their published numbers beside ours
    Repro(ReproArgs),
    /// Say what this host offers, and how to mend what it lacks
    Doctor(DoctorArgs),
    /// Print what a shell needs to complete this command's words
    Completions(CompletionsArgs),
    /// Write this command's manual pages: what `make install` runs
    #[command(hide = true)]
    Manual(ManualArgs),
    /// Be a workload: the process that `bench` starts for each run
    #[command(hide = true, name = PROGRAM_VERB)]
    BenchProgram(ProgramArgs),
}

/// Verbs of `prestore trace`.
#[derive(Debug, Subcommand)]
pub enum TraceVerb {
    /// Say what a recording holds
    Info(InfoArgs),
}

/// Verbs of `prestore machine`.
#[derive(Debug, Subcommand)]
pub enum MachineVerb {
    /// Name the machines
    List(MachineListArgs),
    /// Print all values of a machine, each with its source and the file it stands in
    #[command(after_long_help = crate::machine::WHERE)]
    Show(MachineShowArgs),
    /// Measure this host and write it as the machine `host`
    Calibrate(CalibrateArgs),
}

/// Forms of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs; the schemas are in `schemas/`.
    Json,
    /// For code review tools (SARIF 2.1.0); only findings with a source line.
    Sarif,
}

/// Forms of output of verbs that have no findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PlainFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How much is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScopeArg {
    /// How often each block ran: exact stores by function, no addresses. The cheapest
    Count,
    /// The accesses of chosen functions, all fences, and any code's accesses to what they wrote
    Functions,
    /// Every access
    All,
    /// Precise store samples from hardware counters; where there are none, `count`
    Sample,
}

/// What to run and what of it to record.
#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// How much to record [default: all]
    ///
    /// With `functions` and nothing named the program runs twice; the first run's output is
    /// thrown away.
    #[arg(long, value_enum)]
    pub scope: Option<ScopeArg>,
    #[command(flatten)]
    pub chosen: ChosenArgs,
    /// Instructions to leave out at the start (all threads together)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_count)]
    pub skip: u64,
    /// Instructions to record; then the program runs on unrecorded
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub take: Option<u64>,
    /// Record `--take` instructions of every N
    #[arg(long, value_name = "N", requires = "take", value_parser = parse_count)]
    pub period: Option<u64>,
    /// Record only inside a source region (`prestore_region.h`): its number, or `any`
    #[arg(long, value_name = "ID|any")]
    pub region: Option<String>,
    /// End the recording after this time (`30s`, `5m`); the program runs on unrecorded
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    pub stop_after: Option<Duration>,
    /// Do not record allocations
    #[arg(long)]
    pub no_allocations: bool,
    /// Nothing on stderr but errors: neither progress nor notes, nor how the program ended (exit code 3: it failed)
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `prestore advise`.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("what").args(["recording", "command"]).required(true))]
pub struct AdviseArgs {
    /// A recording to read (instead of `-- CMD…`)
    #[arg(value_name = "DIR", conflicts_with_all = [
        "output", "stretch", "scope", "functions", "modules", "places", "skip", "take", "period", "region", "no_allocations", "stop_after",
    ])]
    pub recording: Option<PathBuf>,
    /// Also keep the recording here
    #[arg(short, long, value_name = "DIR", requires = "command")]
    pub output: Option<PathBuf>,
    /// Replace the recording that is there
    #[arg(long, requires = "output")]
    pub force: bool,
    /// Form of the output
    ///
    /// With `json` and `sarif` only the result goes to stdout: what the program prints there goes
    /// to stderr. With `text` the program prints where it always does, and the result follows.
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Leave corrupt parts of the recording out instead of giving up
    #[arg(long, requires = "recording", conflicts_with = "command")]
    pub lenient: bool,
    /// Show the source around each place
    #[arg(long)]
    pub annotate: bool,
    /// Also print places to leave alone in full
    #[arg(long)]
    pub all: bool,
    /// Set a threshold (repeatable); `--help` lists them
    #[arg(long = "threshold", value_name = "NAME=VALUE")]
    pub thresholds: Vec<String>,
    /// Folder with separate debug files (repeatable)
    #[arg(long, value_name = "DIR", value_parser = folder())]
    pub debug_dir: Vec<PathBuf>,
    /// Slow the program down only so much in the long run (`2x`, `5x`), or as `auto` does; `all`: look at everything
    ///
    /// The first thousand million instructions of a process are looked at in full, so that what runs for less than a second
    /// is looked at whole (with less than 3x a quarter of that); of what follows less and less, in stretches, down to what the budget allows, of `auto` 3x. What
    /// long runs are said to do is then an estimate, and the result says so.
    ///
    /// `auto` is the default, but where everything is asked for (`--output`, `--machine`, `--scope functions`) or other parts are
    /// (`--skip`, `--take`, `--period`, `--region`).
    #[arg(long, value_name = "all|auto|Nx", value_parser = parse_budget, conflicts_with_all = [
        "recording", "output", "skip", "take", "period", "region", "machines",
    ])]
    pub budget: Option<Budget>,
    /// With a budget: instructions of a stretch; the first 48 are looked at in full, or with less than 3x 12, and 96 million instructions
    ///
    /// Whether what is written at the end of a stretch is read again is not seen: shorter stretches show more parts of
    /// the run, and know less of each.
    #[arg(long, value_name = "N", value_parser = parse_stretch, requires = "budget", default_value_t = STRETCH)]
    pub stretch: u64,
    /// Also predict by simulation what each piece of advice would gain on these machines (names,
    /// or paths of machine files, separated by commas), and put what gains most first
    ///
    /// The run is recorded to be simulated; without `--output` the recording is deleted afterwards.
    #[arg(long = "machine", value_name = "M[,M…]", value_delimiter = ',')]
    pub machines: Vec<String>,
    /// Simulate only the first N operations of all threads (20M, 1G)
    #[arg(long, value_name = "N", value_parser = parse_limit, requires = "machines")]
    pub limit: Option<u64>,
    /// Simulate everything N times, with other seeds and places of pages: how far they lie apart stands beside each gain
    #[arg(long, value_name = "N", default_value_t = SIMULATIONS, value_parser = clap::value_parser!(u32).range(1..=99),
          requires = "machines")]
    pub simulations: u32,
    /// What to record.
    #[command(flatten)]
    pub run: RunArgs,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Arguments of `prestore record`.
#[derive(Args, Debug)]
pub struct RecordArgs {
    /// Where the recording goes
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace the recording that is there
    #[arg(long)]
    pub force: bool,
    /// Also record the bytes that stores write
    #[arg(long)]
    pub values: bool,
    /// End the recording when its events take so much on disk (`500MB`, `2GiB`); the program runs on unrecorded
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_size: Option<ByteSize>,
    /// What to record.
    #[command(flatten)]
    pub run: RunArgs,
    /// The program and its arguments
    #[arg(last = true, value_name = "CMD", required = true)]
    pub command: Vec<OsString>,
}

/// Arguments of `prestore import`.
#[derive(Args, Debug)]
pub struct ImportArgs {
    /// Output of `perf script` (of a `perf mem record` or `perf record -e …stores…`); `-`: stdin
    #[arg(value_name = "FILE")]
    pub input: PathBuf,
    /// Where the recording goes
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Replace the recording that is there
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `prestore doctor`.
#[derive(Args, Debug)]
pub struct DoctorArgs {
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}

/// Arguments of `prestore completions`.
#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Arguments of `prestore manual`.
#[derive(Args, Debug)]
pub struct ManualArgs {
    /// Folder that the pages go to
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

/// Arguments of `prestore machine list`.
#[derive(Args, Debug)]
pub struct MachineListArgs {
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
}

/// Forms of output of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MachineFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
    /// One file with all that is inherited in it, to begin a machine of your own with
    Toml,
}

/// Arguments of `prestore machine show`.
#[derive(Args, Debug)]
pub struct MachineShowArgs {
    /// Name of a machine, or path of a file that ends with .toml
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    /// Set a value for this once (repeatable), as in core.count=10 or memories.pmem.device=NAME
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: MachineFormat,
}

/// A count with an optional K, M, G or T behind it (powers of ten).
fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.chars().last() {
        Some('k' | 'K') => (&text[..text.len() - 1], 1_000),
        Some('m' | 'M') => (&text[..text.len() - 1], 1_000_000),
        Some('g' | 'G') => (&text[..text.len() - 1], 1_000_000_000),
        Some('t' | 'T') => (&text[..text.len() - 1], 1_000_000_000_000),
        _ => (text, 1),
    };
    let n: u64 = digits
        .parse()
        .map_err(|_| format!("'{text}' is not a number (10000, 10K, 5M, 2G)"))?;
    n.checked_mul(factor)
        .ok_or_else(|| format!("'{text}' is too large"))
}

fn parse_size(text: &str) -> Result<ByteSize, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not a size (500MB, 2GiB)"))
}

/// A folder that is there.
pub fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        let is_there = path.is_dir();
        is_there.then_some(path).ok_or("there is no such folder")
    })
}
