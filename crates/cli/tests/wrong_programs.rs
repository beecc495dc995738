//! Programs that cannot be traced are said so, with the cause and the cure: exit code 2.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use common::{Ran, kv, run, text};

fn advise(program: &Path) -> Ran {
    run(["advise", "--", text(program)])
}

fn executable(path: &Path, content: &[u8]) {
    fs::write(path, content).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn programs_that_cannot_be_traced() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let missing = path("missing");
    advise(&missing)
        .exits(2)
        .says(&[text(&missing), "no such file", "give the path"]);
    run(["advise", "--", "no-such-program-anywhere"])
        .exits(2)
        .says(&["PATH", "./no-such-program-anywhere"]);

    let plain = path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    advise(&plain)
        .exits(2)
        .says(&["not executable", "chmod +x"]);
    advise(folder.path()).exits(2).says(&["not a regular file"]);

    let words = path("words");
    executable(&words, b"just words\n");
    advise(&words)
        .exits(2)
        .says(&["neither an ELF program nor a script", "interpreter"]);

    let led = path("led");
    executable(&led, b"#!/no/such/interpreter -x\n");
    advise(&led).exits(2).says(&[
        &format!("{}: its interpreter", text(&led)),
        "/no/such/interpreter: no such file",
    ]);
    for here in [".", ".."] {
        run(["advise", "--", here])
            .exits(2)
            .says(&["not a regular file"]);
    }

    let looped = path("looped");
    executable(&looped, format!("#!{}\n", text(&looped)).as_bytes());
    advise(&looped).exits(2).says(&["binary interpreter"]);
}

#[test]
fn programs_for_other_machines() {
    let folder = tempfile::tempdir().unwrap();
    let native = fs::read(kv()).unwrap();

    // e_ident[EI_CLASS], e_type and e_machine are at 4, 16 and 18 of an ELF header; ET_EXEC is 2,
    // i386 is 3, AArch64 is 183.
    let mut other = native.clone();
    other[18..20].copy_from_slice(&183u16.to_le_bytes());
    let path = folder.path().join("aarch64");
    executable(&path, &other);
    advise(&path)
        .exits(2)
        .says(&["a program for", "only x86-64", "build it for x86-64"]);

    // A header of 52 bytes and no program headers.
    let mut small = native[..52].to_vec();
    small[4] = 1;
    small[16..20].copy_from_slice(&[2, 0, 3, 0]);
    small[28..52].fill(0);
    small[40] = 52;
    let path = folder.path().join("i386");
    executable(&path, &small);
    advise(&path).exits(2).says(&["32-bit", "without -m32"]);
}

#[test]
fn nothing_is_left_of_a_recording_that_cannot_begin() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("trace");
    for verb in ["record", "advise"] {
        run([verb, "-o", text(&dir), "--", "./missing"])
            .exits(2)
            .says(&["no such file"]);
        assert!(!dir.exists(), "{verb} made a folder");
    }
}
