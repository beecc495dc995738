//! P4's loops as a program: to run, to kill, to record.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(prestore_recompute::program::run(std::env::args().skip(1)))
}
