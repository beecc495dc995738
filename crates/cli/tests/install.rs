//! `make install` puts there what a user expects of a command, and `make uninstall` takes all of it away.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {err}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `make` builds for this is kept apart from what runs the tests, and is that of the libraries' own tests.
fn make(targets: &[&str], prefix: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let libraries = Path::new(env!("CARGO_TARGET_TMPDIR")).join("library");
    run(Command::new("make")
        .arg("-C")
        .arg(root)
        .args(targets)
        .arg(format!("PREFIX={}", prefix.display()))
        .arg(format!("PRESTORE={}", env!("CARGO_BIN_EXE_prestore")))
        .env("CARGO_TARGET_DIR", libraries));
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[test]
fn what_is_installed_works_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path();
    make(
        &["install-command", "install-lib", "install-recompute"],
        prefix,
    );

    let command = prefix.join("bin/prestore");
    assert!(run(Command::new(&command).arg("--version")).starts_with("prestore "));
    let sections = run(Command::new("readelf").arg("-SW").arg(&command));
    assert!(!sections.contains(".debug_info") && sections.contains(".gnu_debuglink"));
    // Where debuggers look for what the link names, whatever their own folders are.
    let debug = prefix.join("bin/.debug/prestore.debug");
    assert!(run(Command::new("readelf").arg("-SW").arg(debug)).contains(".debug_line"));

    let page = fs::read_to_string(prefix.join("share/man/man1/prestore-advise.1")).unwrap();
    assert!(page.contains(".TH") && page.contains("threshold"), "{page}");
    assert!(prefix.join("share/man/man1/prestore.1").exists());
    let hidden = prefix.join("share/man/man1/prestore-manual.1");
    assert!(!hidden.exists(), "pages of what users do not call");

    let completions = prefix.join("share/bash-completion/completions/prestore");
    let words = format!(
        ". {}; COMP_WORDS=(prestore what); COMP_CWORD=1; _prestore prestore what prestore; echo ${{COMPREPLY[*]}}",
        completions.display()
    );
    let completed = run(Command::new("bash").args(["-c", &words]));
    assert_eq!(completed.trim(), "whatif");
    for there in [
        "share/zsh/site-functions/_prestore",
        "share/fish/vendor_completions.d/prestore.fish",
        "share/prestore/schemas/advise.schema.json",
        "share/doc/prestore/LICENSE-MIT",
    ] {
        assert!(prefix.join(there).exists(), "{there}");
    }

    make(&["uninstall"], prefix);
    assert_eq!(files(prefix), Vec::<PathBuf>::new());
    assert!(!prefix.join("bin/.debug").exists());
}

#[test]
fn a_folder_that_takes_no_pages_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_prestore"));
    let output = command.arg("manual").arg("--output").arg(&file).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("choose another"));
}
