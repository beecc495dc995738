//! Programs to trace.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{root, run, text};

/// The recording of a workload's run, in `folder`.
#[track_caller]
pub fn recorded(folder: &Path, name: &str, args: &[&str]) -> PathBuf {
    let dir = folder.join("trace");
    let program = workload(name).unwrap();
    let command = ["record", "--force", "-o", text(&dir), "--", text(&program)];
    run(command.iter().chain(args)).exits(0);
    dir
}

/// The workload of this name built at one of the levels of `make levels`, `None` where it cannot be
/// built here.
pub fn level(level: &str, name: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| made("levels").join("levels"));
    let program = folder.join(level).join(name);
    program.exists().then_some(program)
}

/// The workload in persistent memory of this name that leaves something out, `None` where it cannot be
/// built here.
pub fn defective(name: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| made("defects").join("defects"));
    let program = folder.join(name);
    program.exists().then_some(program)
}

/// Some programs execute `clwb`; a processor without it cannot run them.
pub fn no_clwb() -> bool {
    let lacks = !std::fs::read_to_string("/proc/cpuinfo")
        .unwrap()
        .contains(" clwb");
    if lacks {
        eprintln!("skipped: this processor has no clwb");
    }
    lacks
}

/// Some programs are built with libpmemobj.
pub fn no_pmemobj() -> bool {
    let lacks = !Path::new("/usr/include/libpmemobj.h").exists();
    if lacks {
        eprintln!("skipped: install libpmemobj-dev");
    }
    lacks
}

/// Makes the workloads' `target`; returns the folder they are in.
fn made(target: &str) -> PathBuf {
    let folder = root().join("build/workloads");
    // An up-to-date build is made of nothing but time stamps compared.
    let make = Command::new("make")
        .args(["--no-print-directory", "-s", "-C"])
        .arg(root().join("workloads"))
        .arg(format!("OUT={}", folder.display()))
        .arg(target)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&make.stderr);
    assert!(make.status.success(), "the workloads do not build: {log}");
    folder.canonicalize().unwrap()
}

/// The workload of this name, `None` where it cannot be built here (no Fortran compiler).
pub fn workload(name: &str) -> Option<PathBuf> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    let folder = BUILT.get_or_init(|| made("all"));
    let program = folder.join(name);
    if program.exists() {
        return Some(program);
    }
    eprintln!("skipped {name}: it was not built (install gfortran for the Fortran workloads)");
    None
}

/// The bundled key-value store.
#[track_caller]
pub fn kv() -> PathBuf {
    workload("kv").unwrap()
}

/// The number of the only line of a source file, named from the repository's root, with `text`.
#[track_caller]
pub fn source_line(file: &str, text: &str) -> u32 {
    let source = std::fs::read_to_string(root().join(file)).unwrap();
    let mut lines = (1..).zip(source.lines()).filter(|(_, l)| l.contains(text));
    let found = lines.next().map(|(number, _)| number);
    assert!(lines.next().is_none(), "'{text}' is twice in {file}");
    found.unwrap_or_else(|| panic!("'{text}' is not in {file}"))
}

/// Compiles `source` to `folder/name` with `-O2 -g` and more flags.
#[track_caller]
pub fn c_program(folder: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let path = folder.join(format!("{name}.c"));
    let program = folder.join(name);
    std::fs::write(&path, source).unwrap();
    compile(&path, &program, flags);
    program
}

/// Compiles the C or C++ file `source` to `program` with `-O2 -g` and more flags.
#[track_caller]
pub fn compile(source: &Path, program: &Path, flags: &[&str]) {
    let compiled = Command::new("gcc")
        .args(["-O2", "-g"])
        .args(flags)
        .args([source, Path::new("-o"), program])
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{log}");
}

/// A program of which every run executes the same instructions. No library starts it: what those
/// execute depends on where the kernel put the stack. `much` stores 20 * 65536 longs front to back,
/// `little` 20 * 4096 of the same; then a fence, and every 256th is read.
#[track_caller]
pub fn steady_program(folder: &Path) -> PathBuf {
    let source = r#"
        static long data[1 << 16] __attribute__((aligned(4096)));
        __attribute__((noipa)) static void much(long round) {
            for (long i = 0; i < 1 << 16; i++) data[i] = i ^ round;
        }
        __attribute__((noipa)) static void little(long round) {
            for (long i = 0; i < 1 << 12; i++) data[i] = i + round;
        }
        __attribute__((noreturn)) void _start(void) {
            long sum = 0;
            for (long round = 0; round < 20; round++) {
                much(round);
                little(round);
                __asm__ volatile("mfence" : : : "memory");
                for (long i = 0; i < 1 << 16; i += 1 << 8) sum += data[i];
            }
            __asm__ volatile("syscall" : : "a"(231L), "D"(sum == 5) : "memory");
            __builtin_unreachable();
        }
    "#;
    let flags = [
        "-static-pie",
        "-nostdlib",
        "-fno-tree-vectorize",
        "-fno-tree-loop-distribute-patterns",
        "-fno-stack-protector",
    ];
    c_program(folder, "steady", source, &flags)
}
