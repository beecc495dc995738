//! Records a command and writes what was recorded to a file, a fact a line.
//!
//! The tests run it as a process of its own: what the traced program prints is then apart from
//! what the tests print, and either side can be killed.
//!
//! `record-summary FACTS [count] [values] [events] [slow=MS] [fail=BUFFERS]
//! [skip=N] [take=N] [period=N] [region=ID|any] -- COMMAND…`

mod facts;

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::Duration;

use facts::Facts;
use prestore_tracer::{Allocations, Bursts, Interrupts, Options, Region, Scope, record};

static INTERRUPTS: OnceLock<Interrupts> = OnceLock::new();

extern "C" fn on_interrupt(_signal: libc::c_int) {
    if let Some(interrupts) = INTERRUPTS.get() {
        interrupts.add();
    }
}

extern "C" fn on_termination(signal: libc::c_int) {
    if let Some(interrupts) = INTERRUPTS.get() {
        interrupts.pass(signal);
    }
}

fn main() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().skip(1).collect();
    let Some(split) = args.iter().position(|a| a == "--") else {
        eprintln!("record-summary: no `--` before the command");
        return ExitCode::from(2);
    };
    let command = args.split_off(split + 1);
    match run(&args[..split], &command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("record-summary: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[OsString], command: &[OsString]) -> Result<(), Box<dyn std::error::Error>> {
    let path = args.first().ok_or("no file to write to")?;
    let mut options = Options {
        allocations: Allocations::Ignored,
        gap_a_block: u64::MAX,
        ..Options::default()
    };
    let mut facts = Facts::new(BufWriter::new(File::create(path)?));
    for arg in &args[1..] {
        match arg.to_str().unwrap_or("").split_once('=') {
            None if arg == "count" => options.scope = Scope::Count,
            None if arg == "values" => options.values = true,
            None if arg == "events" => facts.events = true,
            None if arg == "allocations" => options.allocations = Allocations::Recorded,
            Some(("skip", n)) => options.window.skip = n.parse()?,
            Some(("take", n)) => options.window.take = Some(n.parse()?),
            Some(("gap", n)) => options.gap_a_block = n.parse()?,
            Some(("period", n)) => options.window.period = Some(n.parse()?),
            Some(("bursts", numbers)) => {
                let numbers: Result<Vec<u64>, _> = numbers.split(',').map(str::parse).collect();
                let [burst, dense, thinnest] = numbers?[..] else {
                    return Err("bursts are BURST,DENSE,THINNEST".into());
                };
                options.bursts = Some(Bursts {
                    burst,
                    dense,
                    thinnest,
                });
            }
            Some(("region", "any")) => options.region = Region::Any,
            Some(("region", id)) => options.region = Region::Id(id.parse()?),
            Some(("slow", ms)) => facts.slow = Duration::from_millis(ms.parse()?),
            Some(("fail", buffers)) => facts.fail_after = Some(buffers.parse()?),
            _ => return Err(format!("unknown argument {arg:?}").into()),
        }
    }
    let interrupts = INTERRUPTS.get_or_init(Interrupts::default);
    // SAFETY: the handlers only change atomics that were made before.
    unsafe {
        libc::signal(
            libc::SIGINT,
            on_interrupt as *const () as libc::sighandler_t,
        );
        libc::signal(
            libc::SIGTERM,
            on_termination as *const () as libc::sighandler_t,
        );
    }
    let outcome = record(command, &options, interrupts, &mut facts);
    let mut out = facts.finish()?;
    match outcome {
        Ok(outcome) => {
            let status = outcome.status.map(|s| s.to_string());
            writeln!(out, "status {}", status.unwrap_or("none".into()))?;
            writeln!(out, "program {}", outcome.program.display())?;
            writeln!(out, "interrupted {}", outcome.interrupted)?;
            writeln!(out, "torn {}", outcome.torn_threads)?;
            writeln!(out, "processes {}", outcome.processes)?;
            writeln!(out, "threads {}", outcome.threads)?;
            if let Some(c) = outcome.coverage {
                let (recorded, skipped, regions) = (c.recorded, c.skipped, c.regions);
                writeln!(
                    out,
                    "coverage recorded {recorded} skipped {skipped} regions {regions}"
                )?;
            }
            for note in outcome.notes {
                writeln!(out, "note {note}")?;
            }
            if let Some(failure) = outcome.failure {
                writeln!(out, "failure {failure}")?;
            }
        }
        Err(error) => writeln!(out, "error {error}")?,
    }
    out.flush()?;
    Ok(())
}
