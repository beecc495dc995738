//! The command `prestore`.

// What cannot be told must not end it: see `notice`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod accuracy;
mod advise;
mod args;
mod bench;
mod calibrate;
mod config;
mod crash;
mod doctor;
mod error;
mod export;
mod host;
mod import;
mod interrupt;
mod machine;
mod modes;
mod naming;
mod notice;
mod output;
mod progress;
mod record;
mod repro;
mod room;
mod run;
mod shell;
mod simulate;
mod switches;
mod trace_info;
mod trial;
mod values;
mod whatif;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use args::{Cli, MachineVerb, TraceVerb, Verb};
use config::Config;

fn main() -> ExitCode {
    room::with_room(command)
}

fn command() -> ExitCode {
    let config = Config::load();
    let command = match &config {
        Ok(config) => config.defaults(Cli::command()),
        // Whoever asks for help gets it, first.
        Err(_) => Cli::command(),
    };
    let matches = match command.try_get_matches() {
        Ok(matches) => matches,
        // Help and version are results, which may not get where they are to go.
        Err(help) if !help.use_stderr() => return output::print_help(&help),
        Err(wrong) => {
            // The machine may be named in the file that could not be read.
            if let Err(error) = &config
                && lacks_machine(&wrong)
            {
                error.report();
            }
            wrong.exit()
        }
    };
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    if cli.verb.is_quiet() {
        notice::be_quiet();
    }
    switches::tell_of_unknown();
    match config {
        Ok(config) if cli.verb.is_configured() => {
            if let Some(text) = config.describe(&matches) {
                notice::tell(&text);
            }
        }
        Err(error) if cli.verb.is_configured() => return error.report(),
        _ => {}
    }
    let result = match cli.verb {
        Verb::Advise(args) => advise::run(&args),
        Verb::Record(args) => record::run(&args),
        Verb::Simulate(args) => simulate::run(&args),
        Verb::Whatif(args) => whatif::run(&args),
        Verb::Try(args) => trial::run(&args),
        Verb::Crash(args) => crash::run(&args),
        Verb::Trace { verb } => match verb {
            TraceVerb::Info(args) => trace_info::run(&args),
        },
        Verb::Export(args) => export::run(&args),
        Verb::Import(args) => import::run(&args),
        Verb::Machine { verb } => match verb {
            MachineVerb::List(args) => machine::list(&args),
            MachineVerb::Show(args) => machine::show(&args),
            MachineVerb::Calibrate(args) => calibrate::run(&args),
        },
        Verb::Bench(args) => bench::run(&args),
        Verb::BenchProgram(args) => bench::program(&args),
        Verb::Repro(args) => repro::run(&args),
        Verb::Doctor(args) => doctor::run(&args),
        Verb::Completions(args) => shell::completions(&args),
        Verb::Manual(args) => shell::manual(&args),
    };
    interrupt::settle();
    match result {
        Ok(code) => code,
        Err(error) => error.report(),
    }
}

/// Is what `wrong` misses on the command line the name of a machine?
fn lacks_machine(wrong: &clap::Error) -> bool {
    let missing = wrong.kind() == ErrorKind::MissingRequiredArgument;
    missing
        && matches!(
            wrong.get(ContextKind::InvalidArg),
            Some(ContextValue::Strings(args)) if args.iter().any(|a| a.starts_with("--machine"))
        )
}
