//! Arguments of `prestore bench`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use prestore_bench::{Options, Program, Variant};

use crate::args::PlainFormat;
use crate::host::HOST;

/// Arguments of `prestore bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Programs [default: all]
    #[arg(long = "program", value_name = "NAME,…", value_delimiter = ',', value_parser = program())]
    programs: Vec<Program>,
    /// Operations to compare with base, which always runs [default: all that a program has]
    #[arg(long, value_name = "OP,…", value_delimiter = ',', value_parser = variant())]
    ops: Vec<Variant>,
    /// Bytes of one write, for listing1 and kv: multiples of 64 up to 4096 [default: 256,1024,4096 and 256,1024]
    #[arg(long, value_name = "BYTES,…", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// Threads, for listing1, kv and stencil [default: 1]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    threads: Vec<u64>,
    /// Rounds; each runs every operation once, in turn
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub runs: usize,
    /// Also simulate the same runs on a machine, this host by default, and put what it predicts beside
    #[arg(long)]
    pub predict: bool,
    /// Machine to predict with: a name, or the path of a machine file (ends with .toml)
    #[arg(long, value_name = "M", requires = "predict", default_value = HOST)]
    pub machine: String,
    /// Measure memory of each type instead (write-back, write-through, write-combining, uncacheable): bandwidth of reads,
    /// writes and copies, latency of a flush. Needs the kernel module prestore, docs/memory-types.md
    #[arg(long, conflicts_with_all = ["programs", "ops", "sizes", "threads", "predict"])]
    pub types: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t)]
    pub format: PlainFormat,
    /// Nothing on stderr but errors: neither progress nor notes
    #[arg(short, long)]
    pub quiet: bool,
}

impl BenchArgs {
    /// What is asked for.
    pub fn options(&self) -> Options {
        Options {
            programs: self.programs.clone(),
            variants: self.ops.clone(),
            sizes: self.sizes.clone(),
            threads: self.threads.clone(),
            runs: self.runs,
        }
    }
}

/// Arguments of the process that is a workload.
#[derive(Args, Debug)]
pub struct ProgramArgs {
    /// The workload
    #[arg(value_parser = any_program())]
    pub program: Program,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<String>,
}

fn program() -> impl TypedValueParser<Value = Program> {
    one_of(Program::ALL.map(|p| (p.name(), p)))
}

/// Those that are no benchmarks, too.
fn any_program() -> impl TypedValueParser<Value = Program> {
    let mut all = [(Program::Listing1.name(), Program::Listing1); 13];
    let programs = (Program::ALL.into_iter())
        .chain(Program::MODES)
        .chain([Program::RecomputeKernels]);
    for (entry, program) in all.iter_mut().zip(programs) {
        *entry = (program.name(), program);
    }
    one_of(all)
}

fn variant() -> impl TypedValueParser<Value = Variant> {
    // `none` is what the workloads call it.
    one_of([
        ("base", Variant::Base),
        ("none", Variant::Base),
        ("clean", Variant::Clean),
        ("skip", Variant::Skip),
        ("demote", Variant::Demote),
    ])
}

fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    words: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words.map(|(word, _)| word)).try_map(move |given| {
        let found = words.iter().find(|(word, _)| *word == given);
        found.map(|(_, value)| *value).ok_or("an unknown word")
    })
}
