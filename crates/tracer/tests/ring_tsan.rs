//! The client's side of the lock-free protocol under ThreadSanitizer.
//!
//! `crates/ring-model` goes through the interleavings; this runs the C code itself.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::native;

/// Compiles the harness; `None`, and says so, where the compiler lacks ThreadSanitizer.
fn harness(dir: &Path) -> Option<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let compile = |source: &Path, out: &Path| {
        Command::new("cc")
            // GCC warns that ThreadSanitizer does not know fences. These keep wake-ups from getting
            // lost; no data is handed over by them.
            .args(["-std=gnu11", "-O2", "-g", "-pthread", "-Wno-tsan"])
            .args(["-fsanitize=thread", "-I"])
            .arg(tests.join("../client"))
            .arg(source)
            .arg("-o")
            .arg(out)
            .output()
            .unwrap()
    };
    let empty = dir.join("empty.c");
    std::fs::write(&empty, "int main(void) { return 0; }\n").unwrap();
    let out = dir.join("harness");
    let can = compile(&empty, &out);
    if !can.status.success() || !Command::new(&out).status().is_ok_and(|s| s.success()) {
        eprintln!("SKIPPED: cc has no working ThreadSanitizer");
        return None;
    }
    let done = compile(&tests.join("ring_tsan.c"), &out);
    let log = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{log}");
    Some(out)
}

#[test]
fn buffers_pass_without_races_and_in_order() {
    let dir = common::scratch();
    let Some(harness) = harness(dir.path()) else {
        return;
    };
    // One that waits for a lost wake-up is killed as one that hangs.
    let said = native(&[harness.to_str().unwrap(), "200000"]);
    assert!(said.status.success(), "{said:#?}");
    assert_eq!(said.stdout, "200000 buffers arrived\n", "{said:#?}");
    assert_eq!(said.stderr, "");
}
