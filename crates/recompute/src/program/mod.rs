//! P4's loops as a program: to run, to kill, to record.

mod args;

use std::time::Instant;

use crate::kernels::{Convolution, Fft, Gauss, Gemm, Granularity, Lu, Tmm};
use crate::{Error, File, Kernel, Medium, Memory, Options, Report, Session, State};
use args::{Args, Asked, USAGE};

/// Runs the loop that the arguments (without the program's name) ask for and prints what it did. Gives the exit code: 0, or
/// 2 where the arguments are wrong or the loop failed.
pub fn run(mut arguments: impl Iterator<Item = String>) -> u8 {
    match Args::parse(&mut arguments).and_then(|asked| match asked {
        Asked::Help => {
            print!("{USAGE}");
            Ok(())
        }
        Asked::Loop(args) => run_named(&args),
    }) {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("recompute-kernels: {message}");
            2
        }
    }
}

fn run_named(args: &Args) -> Result<(), String> {
    let (size, block) = (args.size, args.block);
    let some = args.iterations.unwrap_or(usize::MAX);
    match args.kernel.as_str() {
        "tmm_ii" => run_one(
            args,
            &Tmm::new(size, block, Granularity::Ii).iterations(some),
            Tmm::RESULT,
        ),
        "tmm_jj" => run_one(
            args,
            &Tmm::new(size, block, Granularity::Jj).iterations(some),
            Tmm::RESULT,
        ),
        "lu" => run_one(args, &Lu::new(size, block).iterations(some), Lu::RESULT),
        "fft" => run_one(args, &Fft::new(size, block), Fft::RESULT),
        "gauss" => run_one(
            args,
            &Gauss::new(size, block).iterations(some),
            Gauss::RESULT,
        ),
        "convolution" => {
            let kernel = Convolution::new(size, block, args.iterations.unwrap_or(10));
            run_one(args, &kernel, kernel.result())
        }
        name => match args.gemm() {
            Some(kernel) => run_one(args, &kernel, Gemm::RESULT),
            None => Err(format!(
                "--kernel={name}: there is no such kernel (--help lists them)"
            )),
        },
    }
}

fn run_one<K: Kernel>(args: &Args, kernel: &K, result: usize) -> Result<(), String> {
    let options = Options {
        scheme: args.scheme,
        workers: args.threads,
    };
    let done = match &args.file {
        Some(path) => Session::on_file(kernel, path, options, args.durability)
            .and_then(|session| finish(args, session, result, File::durability)),
        None => Session::<K, Memory>::needs(kernel, options)
            .and_then(Memory::flushed)
            .and_then(|memory| Session::open(kernel, memory, options, "memory"))
            .and_then(|session| {
                // What is measured (memory alone, nobody's file) begins with caches that hold modified lines, as it ends: else
                // those that are still there at the end count as never written.
                session.reset_all();
                finish(args, session, result, |_| "ordinary memory".to_string())
            }),
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
    args: &Args,
    mut session: Session<'_, K, M>,
    result: usize,
    durability: impl Fn(&M) -> String,
) -> Result<String, Error> {
    let began = match session.state() {
        State::New => "begun",
        State::Begun => "resumed",
        State::Finished => "found finished",
    };
    if let Some(iterations) = &args.region {
        session.mark(iterations.clone());
    }
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
