//! A program that uses the library, recorded: the trace has exactly the flushes, demotes, non-temporal stores and
//! fences that were meant, at their addresses and in their order.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

mod common;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Ran, Running, prestore, root, run, text, workload};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

/// An event, `(kind, address)`. Non-temporal stores come in pieces of this many bytes, so that stores of any width
/// compare.
type Event = (String, u64);
const PIECE: u64 = 16;
const LINE: u64 = 64;

/// What the uses that the program printed must cause, where `clean` stands behind cleaning.
fn expected(printed: &str, clean: &str) -> Vec<Event> {
    let mut events = Vec::new();
    for use_of in printed.lines() {
        let words: Vec<&str> = use_of.split(' ').collect();
        let (at, size): (u64, u64) = (words[1].parse().unwrap(), words[2].parse().unwrap());
        let mut lines: Vec<u64> = (at..at + size).map(|byte| byte / LINE * LINE).collect();
        lines.dedup();
        match words[0] {
            "clean" => events.extend(lines.iter().map(|l| (clean.to_owned(), *l))),
            "demote" => events.extend(lines.iter().map(|l| ("cldemote".to_owned(), *l))),
            "skip" => {
                let whole = lines
                    .iter()
                    .filter(|l| **l >= at && **l + LINE <= at + size);
                let pieces = whole.flat_map(|line| (*line..line + LINE).step_by(PIECE as usize));
                events.extend(pieces.map(|piece| ("nt-store".to_owned(), piece)));
            }
            "fence" => events.push(("fence-store".to_owned(), 0)),
            other => panic!("{other}"),
        }
    }
    events
}

/// The same events out of a recording.
fn recorded(dir: &Path) -> Vec<Event> {
    run(["export", text(dir), "--to", "parquet"]).exits(0);
    let file = File::open(dir.join("parquet/events.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr();
    let column = |name: &str| {
        columns
            .columns()
            .iter()
            .position(|c| c.name() == name)
            .unwrap()
    };
    let (kind, addr, size) = (column("kind"), column("addr"), column("size"));
    let mut events = Vec::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let name = row.get_string(kind).unwrap().clone();
        let at = row.get_ulong(addr).unwrap_or(0);
        match name.as_str() {
            "clwb" | "clflushopt" | "clflush" | "cldemote" => events.push((name, at / LINE * LINE)),
            "fence-store" => events.push((name, 0)),
            "nt-store" => {
                let bytes = row.get_ulong(size).unwrap();
                assert_eq!(bytes % PIECE, 0, "stores of whole pieces");
                let pieces = (at..at + bytes).step_by(PIECE as usize);
                events.extend(pieces.map(|piece| (name.clone(), piece)));
            }
            _ => {}
        }
    }
    // A line's stores follow each other, in an order that is the compiler's.
    let mut at = 0;
    while at < events.len() {
        let stores = events[at..]
            .iter()
            .take_while(|(kind, _)| kind == "nt-store")
            .count();
        for line in events[at..at + stores].chunks_mut((LINE / PIECE) as usize) {
            line.sort();
        }
        at += stores.max(1);
    }
    events
}

/// Compiles the program, `after` it what it is linked with.
fn program(folder: &Path, name: &str, flags: &[&str], after: &[&str]) -> PathBuf {
    let program = folder.join(name);
    let compiled = Command::new("gcc")
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(root().join("include"))
        .args(flags)
        .arg(root().join("crates/cli/tests/programs/library_events.c"))
        .args(after)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{log}");
    program
}

/// The library, which the workloads are linked with.
fn library() -> PathBuf {
    workload("kv").unwrap().with_file_name("lib/libprestore.a")
}

#[track_caller]
fn compare(folder: &Path, program: &Path, clean: &str, switches: &[(&str, &str)]) {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    if !flags.split_whitespace().any(|flag| flag == clean) {
        eprintln!("SKIPPED: this CPU has no {clean}");
        return;
    }
    let dir = folder.join(format!(
        "{clean}-{}.trace",
        program.file_name().unwrap().display()
    ));
    let mut command = prestore();
    command
        .args(["record", "-o", text(&dir), "--"])
        .arg(program);
    command.envs(switches.iter().copied());
    let ran: Ran = Running::start(command).finish().exits(0);
    let (wanted, got) = (expected(&ran.stdout, clean), recorded(&dir));
    let first = wanted.iter().zip(&got).position(|(w, g)| w != g);
    if let Some(at) = first {
        panic!(
            "event {at} of {}: meant {:x?}, recorded {:x?}",
            wanted.len(),
            wanted[at],
            got[at]
        );
    }
    assert_eq!(wanted.len(), got.len());
    assert!(wanted.len() > 2_000, "something was used at all");
}

#[test]
fn the_library_does_what_is_meant_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let library = library();
    let linked = [text(&library), "-lpthread", "-ldl", "-lm"];
    let program = program(folder.path(), "library", &[], &linked);
    for clean in ["clwb", "clflushopt", "clflush"] {
        let switches = [
            ("PRESTORE_FORCE_CLEAN", clean),
            ("PRESTORE_FORCE_DEMOTE", "cldemote"),
        ];
        compare(folder.path(), &program, clean, &switches);
    }
}

#[test]
fn so_does_the_header_alone() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-DPRESTORE_INLINE", "-mclwb", "-mcldemote"];
    let program = program(folder.path(), "header", &flags, &[]);
    compare(folder.path(), &program, "clwb", &[]);
}
