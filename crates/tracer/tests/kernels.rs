//! Numeric kernels that check their own results do so recorded too, bit for bit as natively, at every
//! level of optimisation and with several threads.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{found, out_dir, same, source, str};

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];
const OPTIONS: [&[&str]; 4] = [
    &[],
    &["values", "allocations"],
    &["count"],
    &["skip=20000", "take=50000", "period=90000"],
];

fn build(compiler: &str, file: &str, level: &str) -> PathBuf {
    let out = out_dir().join(format!("kernel-{file}{compiler}{level}"));
    let made = Command::new(compiler)
        .args([level, "-march=native", "-pthread", "-o"])
        .args([&out, &source("kernels").join(file)])
        .arg("-lm")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{compiler} {level} {file}: {log}");
    out
}

/// At each level by one compiler or the other, with 1, 2 and 4 threads.
fn kernel(name: &str) {
    let compilers: Vec<&str> = ["gcc", "clang"].into_iter().filter(|c| found(c)).collect();
    let mut number = name.len();
    for level in LEVELS {
        for threads in ["1", "2", "4"] {
            number += 1;
            let compiler = compilers[number % compilers.len()];
            let program = build(compiler, &format!("{name}.c"), level);
            let options = OPTIONS[number / 2 % OPTIONS.len()];
            let facts = same(options, &[str(&program), threads]);
            assert_eq!(facts.status, "exit status: 0", "{name} {level} {facts:?}");
        }
    }
}

#[test]
fn multigrid() {
    kernel("multigrid");
}

#[test]
fn fft() {
    kernel("fft");
}

#[test]
fn lu() {
    kernel("lu");
}

#[test]
fn gradient() {
    kernel("gradient");
}

#[test]
fn sort() {
    kernel("sort");
}

#[test]
fn bigint() {
    kernel("bigint");
}

#[test]
fn convolve() {
    kernel("convolve");
}

#[test]
fn tridiagonal() {
    if !found("gfortran") {
        return;
    }
    for (level, options) in LEVELS.iter().zip(OPTIONS) {
        let program = build("gfortran", "tridiagonal.f90", level);
        let facts = same(options, &[program]);
        assert_eq!(facts.status, "exit status: 0", "{level} {facts:?}");
    }
}
