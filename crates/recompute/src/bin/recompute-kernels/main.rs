//! P4's loops as a program: to run, to kill, to record.

mod args;

use std::process::ExitCode;
use std::time::Instant;

use prestore_recompute::kernels::{Convolution, Fft, Gauss, Granularity, Lu, Tmm};
use prestore_recompute::{Error, File, Kernel, Medium, Memory, Options, Report, Session, State};

use args::{Args, USAGE};

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(message) => {
            eprintln!("recompute-kernels: {message}");
            return ExitCode::from(2);
        }
    };
    match run_named(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("recompute-kernels: {message}");
            ExitCode::from(2)
        }
    }
}

fn run_named(args: &Args) -> Result<(), String> {
    let (size, block) = (args.size, args.block);
    let some = args.iterations.unwrap_or(usize::MAX);
    match args.kernel.as_str() {
        "tmm_ii" => run(
            args,
            &Tmm::new(size, block, Granularity::Ii).iterations(some),
            Tmm::RESULT,
        ),
        "tmm_jj" => run(
            args,
            &Tmm::new(size, block, Granularity::Jj).iterations(some),
            Tmm::RESULT,
        ),
        "lu" => run(args, &Lu::new(size, block).iterations(some), Lu::RESULT),
        "fft" => run(args, &Fft::new(size, block), Fft::RESULT),
        "gauss" => run(
            args,
            &Gauss::new(size, block).iterations(some),
            Gauss::RESULT,
        ),
        "convolution" => {
            let kernel = Convolution::new(size, block, args.iterations.unwrap_or(10));
            run(args, &kernel, kernel.result())
        }
        name => match args.gemm() {
            Some(kernel) => run(args, &kernel, prestore_recompute::kernels::Gemm::RESULT),
            None => Err(format!(
                "--kernel={name}: there is no such kernel (--help lists them)"
            )),
        },
    }
}

fn run<K: Kernel>(args: &Args, kernel: &K, result: usize) -> Result<(), String> {
    let options = Options {
        scheme: args.scheme,
        workers: args.threads,
    };
    let done = match &args.file {
        Some(path) => Session::on_file(kernel, path, options, args.durability)
            .and_then(|session| finish(session, result, File::durability)),
        None => Session::<K, Memory>::needs(kernel, options)
            .and_then(Memory::flushed)
            .and_then(|memory| Session::open(kernel, memory, options, "memory"))
            .and_then(|session| finish(session, result, |_| "ordinary memory".to_string())),
    };
    let line = done.map_err(|error| error.to_string())?;
    println!(
        "{} size={} block={} scheme={} threads={}: {line}",
        args.kernel, args.size, args.block, args.scheme, args.threads
    );
    Ok(())
}

/// Runs to the end; what happened, in words.
fn finish<K: Kernel, M: Medium>(
    mut session: Session<'_, K, M>,
    result: usize,
    durability: impl Fn(&M) -> String,
) -> Result<String, Error> {
    let began = match session.state() {
        State::New => "begun",
        State::Begun => "resumed",
        State::Finished => "found finished",
    };
    let start = Instant::now();
    let Report {
        resumed_at,
        recomputed,
        steps,
        ..
    } = session.run()?;
    let seconds = start.elapsed().as_secs_f64();
    let sum = crc32fast::hash(&session.read::<u8>(result));
    let durability = durability(session.medium());
    Ok(format!(
        "{began} at iteration {resumed_at}, {steps} steps and {recomputed} anew in {seconds:.3} s, result {sum:08x}, \
         {durability}"
    ))
}
