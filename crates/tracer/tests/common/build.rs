//! Compiles test programs.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Is `program` on PATH? Says so where it is not: the test is then skipped.
pub fn found(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !found {
        eprintln!("SKIPPED: {program} is not installed");
    }
    found
}

/// A test program's source.
pub fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}

/// Compiles C; each caller has its own `name`.
pub fn cc(name: &str, flags: &[&str]) -> PathBuf {
    compile("cc", "c", name, flags)
}

/// Compiles C++.
pub fn cxx(name: &str, flags: &[&str]) -> PathBuf {
    compile("c++", "cpp", name, flags)
}

fn compile(compiler: &str, extension: &str, name: &str, flags: &[&str]) -> PathBuf {
    let suffix: String = flags
        .concat()
        .chars()
        .filter(|c| c.is_alphanumeric())
        .collect();
    let out = super::out_dir().join(format!("{name}{suffix}"));
    // Tests that run at the same time use the same programs: one appears under its name when it is
    // whole.
    let making = tempfile::Builder::new()
        .tempdir_in(super::out_dir())
        .unwrap();
    let made = making.path().join(name);
    let done = Command::new(compiler)
        .args(["-O1", "-g", "-pthread", "-o"])
        .arg(&made)
        .arg(source(&format!("{name}.{extension}")))
        .args(flags)
        .arg("-ldl")
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{compiler} {name}: {log}");
    std::fs::rename(made, &out).unwrap();
    out
}
