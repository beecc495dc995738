//! The command `prestore`.

mod advise;
mod args;
mod doctor;
mod error;
mod export;
mod host;
mod import;
mod interrupt;
mod naming;
mod output;
mod record;
mod run;
mod trace_info;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, TraceVerb, Verb};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.verb {
        Verb::Advise(args) => advise::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Trace { verb } => match verb {
            TraceVerb::Info(args) => trace_info::run(&args),
        },
        Verb::Export(args) => export::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}
