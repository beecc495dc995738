//! The module of `kernel/`, on a real kernel in an emulated machine: `kernel/test/guest` prints what it sees there, and
//! `kernel/test/expected` is what it has to be.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod guest;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use guest::{Kernel, kernels, no_complaints, run};

/// A new folder.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}

/// What the test program says under a kernel with these arguments.
fn lines(kernel: &Kernel, name: &str, arguments: &str) -> Vec<String> {
    let scratch = scratch(&format!("{name}-{}", kernel.version));
    let root = kernel.root(&scratch);
    let sources = fs::read_dir(guest::root().join("kernel/test/guest")).unwrap();
    let sources = sources.map(|entry| entry.unwrap().path());
    run(Command::new("gcc")
        .args([
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-static",
        ])
        .args(sources.filter(|path| path.extension().is_some_and(|e| e == "c")))
        .arg("-o")
        .arg(root.join("init")));
    let console = kernel.boot(&root, arguments);
    no_complaints(&console);
    let lines = console
        .lines()
        .filter_map(|line| line.strip_prefix("TEST "));
    lines.map(str::to_owned).collect()
}

/// Compares line by line, so that the first difference is what is shown.
fn check(kernel: &Kernel, expected: &str, arguments: &str) {
    let folder = guest::root().join("kernel/test/expected");
    let expected_lines = fs::read_to_string(folder.join(format!("{expected}.txt"))).unwrap();
    let seen = lines(kernel, expected, arguments);
    for (number, line) in expected_lines.lines().enumerate() {
        assert_eq!(
            seen.get(number).map(String::as_str),
            Some(line),
            "{} {arguments}: line {}",
            kernel.version,
            number + 1
        );
    }
    assert_eq!(seen.len(), expected_lines.lines().count());
}

#[test]
fn with_the_pat() {
    for kernel in kernels() {
        check(&kernel, "pat", "");
    }
}

#[test]
fn without_the_pat() {
    for kernel in kernels() {
        check(&kernel, "nopat", "nopat");
    }
}

#[test]
fn dkms_builds_the_module() {
    if !Path::new("/usr/sbin/dkms").exists() {
        eprintln!("SKIPPED: dkms is not installed");
        return;
    }
    for kernel in kernels() {
        let scratch = scratch(&format!("dkms-{}", kernel.version));
        // As docs/memory-types.md says.
        run(Command::new("make")
            .args(["-s", "-C"])
            .arg(guest::root())
            .arg("install-kernel")
            .arg(format!("DESTDIR={}", scratch.display())));
        let tree = scratch.join("tree");
        fs::create_dir(&tree).unwrap();
        run(Command::new("/usr/sbin/dkms")
            .args([
                "build",
                concat!("prestore/", env!("CARGO_PKG_VERSION")),
                "-k",
            ])
            .arg(format!("{}/x86_64", kernel.version))
            .arg("--sourcetree")
            .arg(scratch.join("usr/src"))
            .arg("--dkmstree")
            .arg(&tree)
            .arg("--kernelsourcedir")
            .arg(kernel.headers())
            .env_remove("MAKEFLAGS"));
        let module = format!(
            "prestore/{}/{}/x86_64/module",
            env!("CARGO_PKG_VERSION"),
            kernel.version
        );
        let built = fs::read_dir(tree.join(module)).unwrap();
        let names: Vec<_> = built.map(|e| e.unwrap().file_name()).collect();
        assert!(
            names
                .iter()
                .any(|n| n.to_string_lossy().starts_with("prestore.ko")),
            "{names:?}"
        );
    }
}
