//! Programs that are killed at random times and started again come to the very bits of one that was left alone.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;

fn program(file: Option<&Path>, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recompute-kernels"));
    command.args(args);
    if let Some(file) = file {
        command.arg(format!("--file={}", file.display()));
    }
    command
}

/// The checksum of the result, and all that was said.
fn finished(command: &mut Command) -> (String, String) {
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let (_, after) = said.split_once("result ").unwrap();
    (after.split(',').next().unwrap().to_string(), said)
}

/// Kills `kills` runs of one loop, more often than not several before it can finish; how many of them were resumed.
fn kill(folder: &Path, args: &[&str], kills: usize, seed: u64) -> usize {
    let (expected, _) = finished(&mut program(None, args));
    let file = folder.join("loop");
    let _ = std::fs::remove_file(&file);
    let mut random = Rng::with_seed(seed);
    // How long a whole run takes, so that it is hit anywhere in it.
    let start = Instant::now();
    assert_eq!(finished(&mut program(Some(&file), args)).0, expected);
    let whole = start.elapsed();
    let (mut killed, mut resumed) = (0, 0);
    while killed < kills {
        let _ = std::fs::remove_file(&file);
        let mut rounds = 1 + random.usize(..4);
        while rounds > 0 && killed < kills {
            let mut child = program(Some(&file), args)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_nanos(random.u64(..whole.as_nanos() as u64)));
            // A run that was faster has not been killed.
            let early = child.try_wait().unwrap();
            child.kill().unwrap();
            let status = early.unwrap_or_else(|| child.wait().unwrap());
            match std::os::unix::process::ExitStatusExt::signal(&status) {
                Some(_) => killed += 1,
                None => {
                    assert!(status.success(), "{args:?}: {status}");
                    break;
                }
            }
            rounds -= 1;
        }
        let (sum, said) = finished(&mut program(Some(&file), args));
        assert_eq!(sum, expected, "{said}");
        resumed += usize::from(said.contains(": resumed"));
    }
    resumed
}

const KERNELS: [&[&str]; 6] = [
    &["--kernel=tmm_ii", "--size=192", "--block=16"],
    &["--kernel=tmm_jj", "--size=192", "--block=16"],
    &["--kernel=lu", "--size=192", "--block=16"],
    &["--kernel=gauss", "--size=160", "--block=16"],
    &["--kernel=fft", "--size=128", "--block=8"],
    &["--kernel=convolution", "--size=160", "--block=8"],
];

#[test]
fn killed_at_random_times_on_a_file() {
    let folder = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let mut resumed = 0;
    for (number, kernel) in KERNELS.iter().enumerate() {
        for (scheme, threads) in [("CP4", 1), ("L", 1), ("R", 1), ("R", 3), ("HRx4", 2)] {
            let fresh = ["fft", "conv"].iter().any(|name| kernel[0].contains(name));
            if fresh && scheme == "HRx4" {
                continue;
            }
            let scheme = format!("--scheme={scheme}");
            let threads = format!("--threads={threads}");
            // Flushed even on a disk: a kill leaves the page cache, and msync a step would take minutes.
            let args = [
                kernel,
                &[scheme.as_str(), threads.as_str(), "--durability=flush"][..],
            ]
            .concat();
            resumed += kill(folder.path(), &args, 8, number as u64);
        }
    }
    println!("224 kills, {resumed} runs resumed");
    assert!(resumed > 0, "no run was resumed");
}

#[test]
fn killed_while_msync_makes_it_durable() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let args = [
        "--kernel=tmm_ii",
        "--size=64",
        "--block=16",
        "--durability=msync",
    ];
    kill(folder.path(), &args, 6, 7);
}

/// Whatever a run that is killed in its first moments leaves, the next one begins the loop or goes on with it.
#[test]
fn killed_while_it_begins() {
    let args = [
        "--kernel=tmm_ii",
        "--size=256",
        "--block=64",
        "--durability=flush",
    ];
    let (expected, _) = finished(&mut program(None, &args));
    for folder in [
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap(),
    ] {
        let file = folder.path().join("loop");
        let mut random = Rng::with_seed(11);
        for _ in 0..60 {
            for _ in 0..1 + random.usize(..3) {
                let mut child = program(Some(&file), &args)
                    .stdout(Stdio::null())
                    .spawn()
                    .unwrap();
                std::thread::sleep(Duration::from_micros(random.u64(..4000)));
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let (sum, said) = finished(&mut program(Some(&file), &args));
            assert_eq!(sum, expected, "{said}");
            std::fs::remove_file(&file).unwrap();
        }
    }
}
