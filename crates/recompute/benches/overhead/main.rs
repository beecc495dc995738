//! What failure safety costs on this host: each scheme beside the loop without any, in turn, as medians of ratios.
//!
//! Usage: cargo bench -p prestore-recompute --bench overhead -- [SIZE [ROUNDS]] [LOOP…] (1024, 5, and tmm, lu, gauss; sizes are
//! multiples of 64).
//! Files are on tmpfs and flushed by instructions, as persistent memory would be; "msync" is a checkpoint to a file in
//! the target folder.
#![allow(
    missing_docs,
    clippy::expect_used,
    reason = "a measurement that cannot be made ends"
)]

mod counted;
mod pmemobj;

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use pmemobj::{InTransactions, Pool};
use prestore_measure::{Summary, ratios};
use prestore_recompute::kernels::{Gauss, Granularity, Lu, Tmm};
use prestore_recompute::{Durability, Error, File, Kernel, Memory, Options, Scheme, Session};

/// Without it libpmemobj calls msync on tmpfs. It is read when the library is loaded.
const FLUSH_TMPFS: &str = "PMEM_IS_PMEM_FORCE";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::var_os(FLUSH_TMPFS).is_none() {
        let again = Command::new(std::env::current_exe()?)
            .args(std::env::args_os().skip(1))
            .env(FLUSH_TMPFS, "1")
            .exec();
        return Err(again.into());
    }
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<usize>().ok());
    let size = numbers.next().unwrap_or(1024).next_multiple_of(64);
    let rounds = numbers.next().unwrap_or(5).max(1);
    println!(
        "{:8} {:14} {:>24} {:>9} {:>12}",
        "loop", "made safe by", "time to base (quartiles)", "seconds", "MB flushed"
    );
    let loops: Vec<String> = std::env::args().skip(1).collect();
    let known = ["tmm", "lu", "gauss"];
    let any = loops.iter().any(|word| known.contains(&word.as_str()));
    let asked_for = |name: &str| !any || loops.iter().any(|word| word == name);
    if asked_for("tmm") {
        let tmm = Tmm::new(size, 16, Granularity::Ii);
        compare("tmm", &tmm, size / 16, rounds)?;
    }
    if asked_for("lu") {
        compare("lu", &Lu::new(size, 64), 3 * size / 64, rounds)?;
    }
    if asked_for("gauss") {
        let gauss = Gauss::new(size, 64).iterations(size / 2);
        compare("gauss", &gauss, size / 2, rounds)?;
    }
    Ok(())
}

/// Seconds of a run, without opening it.
fn run<K: Kernel, M: prestore_recompute::Medium>(
    mut session: Session<'_, K, M>,
) -> Result<f64, Error> {
    let start = Instant::now();
    session.run()?;
    Ok(start.elapsed().as_secs_f64())
}

fn on_file<K: Kernel>(
    kernel: &K,
    folder: &Path,
    scheme: Scheme,
    how: Durability,
) -> Result<f64, Error> {
    let path = folder.join("bench.loop");
    let options = Options { scheme, workers: 1 };
    let took = Session::<K, File>::on_file(kernel, &path, options, how).and_then(run);
    let _ = std::fs::remove_file(&path);
    took
}

fn in_transactions<K: Kernel>(kernel: &K, folder: &Path) -> Result<f64, Error> {
    let path = folder.join("bench.pool");
    let options = Options {
        scheme: Scheme::None,
        workers: 1,
    };
    let pool = Pool::create(&path, Session::<K, Memory>::needs(kernel, options)?);
    let nest = kernel.nest();
    let mut safe = InTransactions {
        kernel,
        pool: &pool,
        arrays: vec![0; nest.arrays.len()],
        nest,
    };
    let probe = Session::open(&safe, &pool, options, "pool")?;
    let arrays = (0..safe.nest.arrays.len())
        .map(|array| probe.address(array) as usize)
        .collect();
    drop(probe);
    safe.arrays = arrays;
    let took = Session::open(&safe, &pool, options, "pool").and_then(run);
    drop(pool);
    let _ = std::fs::remove_file(&path);
    took
}

/// A loop's ways, each beside the base of its round.
fn compare<K: Kernel>(name: &str, kernel: &K, outer: usize, rounds: usize) -> Result<(), Error> {
    let memory = tempfile::tempdir_in("/dev/shm").expect("a folder on tmpfs");
    let disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on the disk");
    let checkpoint = Scheme::Checkpoint {
        every: (outer / 4).max(1),
        inputs: false,
    };
    let ways = [
        ("R", Scheme::Recompute, memory.path(), Durability::Flush),
        (
            "HRx32",
            Scheme::Hybrid { period: 32 },
            memory.path(),
            Durability::Flush,
        ),
        ("L", Scheme::Logging, memory.path(), Durability::Flush),
        (
            "4 checkpoints",
            checkpoint,
            memory.path(),
            Durability::Flush,
        ),
        ("4 by msync", checkpoint, disk.path(), Durability::Msync),
    ];
    let mut base = Vec::new();
    let mut times = vec![Vec::new(); ways.len() + 1];
    for _ in 0..rounds {
        base.push(on_file(
            kernel,
            memory.path(),
            Scheme::None,
            Durability::Flush,
        )?);
        for (way, times) in ways.iter().zip(&mut times) {
            times.push(on_file(kernel, way.2, way.1, way.3)?);
        }
        times[ways.len()].push(in_transactions(kernel, memory.path())?);
    }
    let seconds = Summary::of(&base).map_or(0.0, |summary| summary.median);
    println!("{name:8} {:14} {:>24} {seconds:9.3}", "none", "1");
    let names = ways.iter().map(|way| way.0).chain(["libpmemobj"]);
    for (number, (way, times)) in names.zip(&times).enumerate() {
        let (Some(ratio), Some(time)) = (Summary::of(&ratios(times, &base)), Summary::of(times))
        else {
            continue;
        };
        let flushed = match ways.get(number) {
            Some(way) => {
                let options = Options {
                    scheme: way.1,
                    workers: 1,
                };
                format!("{:.1}", counted::flushed(kernel, options)? as f64 / 1e6)
            }
            None => "not counted".to_string(),
        };
        let quartiles = format!(
            "{:.2} ({:.2}-{:.2})",
            ratio.median, ratio.lower_quartile, ratio.upper_quartile
        );
        println!(
            "{:8} {way:14} {quartiles:>24} {:9.3} {flushed:>12}",
            "", time.median
        );
    }
    Ok(())
}
