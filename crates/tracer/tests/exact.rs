//! Small programs whose events were counted by hand are recorded event for event.
//!
//! The programs and the format of their expectations: `workloads/asm/README.md`.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use object::{Object, ObjectSymbol};

/// A program's `.expect` file.
struct Expected {
    instructions: u64,
    /// Of each thread: instructions and events.
    threads: BTreeMap<u32, (u64, Vec<String>)>,
}

/// The programs' folder, with what could be built.
fn programs() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let workloads = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
        let out = common::out_dir().join("exact");
        let make = Command::new("make")
            .arg("-C")
            .arg(workloads)
            .args(["asm", &format!("OUT={}", common::str(&out))])
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&make.stderr);
        assert!(make.status.success(), "{log}");
        eprint!("{}", String::from_utf8_lossy(&make.stdout));
        out.join("asm")
    })
}

/// Addresses of the symbols of `program`.
fn symbols(program: &Path) -> BTreeMap<String, u64> {
    let bytes = std::fs::read(program).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let symbols = file.symbols();
    symbols
        .filter_map(|s| Some((s.name().ok()?.to_owned(), s.address())))
        .collect()
}

fn address(text: &str, symbols: &BTreeMap<String, u64>) -> u64 {
    if text == "-" {
        return 0;
    }
    if let Ok(number) = text.parse() {
        return number;
    }
    let at = text.find(['+', '-']).unwrap_or(text.len());
    let offset: i64 = if at < text.len() {
        text[at..].parse().unwrap()
    } else {
        0
    };
    symbols[&text[..at]].wrapping_add(offset as u64)
}

/// Reads the expectations, or says why the program cannot run here.
fn expected(name: &str, program: &Path) -> Result<Expected, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../workloads/asm")
        .join(format!("{name}.expect"));
    let symbols = symbols(program);
    let mut expected = Expected {
        instructions: 0,
        threads: BTreeMap::new(),
    };
    for line in std::fs::read_to_string(file).unwrap().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] | ["#", ..] => {}
            ["requires", ref flags @ ..] => runs_with(flags, program)?,
            ["instructions", n] => expected.instructions = n.parse().unwrap(),
            ["thread", t, "instructions", n] => {
                let thread = expected.threads.entry(t.parse().unwrap()).or_default();
                thread.0 = n.parse().unwrap();
            }
            [t, index, kind, at, size] => {
                let at = address(at, &symbols);
                let event = format!("{index} {kind} {at:#x} {size}");
                let thread = expected.threads.entry(t.parse().unwrap()).or_default();
                thread.1.push(event);
            }
            _ => panic!("{name}.expect: {line}"),
        }
    }
    Ok(expected)
}

/// Virtual machines may hide a feature and run it all the same: what counts is whether it runs.
fn runs_with(flags: &[&str], program: &Path) -> Result<(), String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let line = cpu.lines().find(|l| l.starts_with("flags")).unwrap_or("");
    let lacks = |flag: &&&str| !line.split_whitespace().any(|f| f == **flag);
    match flags.iter().find(lacks) {
        Some(flag) if !common::native(&[program]).status.success() => {
            Err(format!("this processor has no {flag}"))
        }
        _ => Ok(()),
    }
}

/// An event without its values.
fn bare(event: &str) -> String {
    event.split(' ').take(4).collect::<Vec<_>>().join(" ")
}

fn check(name: &str) {
    let program = programs().join(name);
    if !program.exists() {
        eprintln!("SKIPPED {name}: the assembler cannot build it");
        return;
    }
    let expected = match expected(name, &program) {
        Ok(expected) => expected,
        Err(why) => {
            eprintln!("SKIPPED {name}: {why}");
            return;
        }
    };
    for options in [&["events"][..], &["events", "values"]] {
        let (said, facts) = common::recorder(options, &[&program]).run();
        let context = format!("{name} {options:?}: {said:?} {:?}", facts.error);
        assert_eq!(facts.status, "exit status: 0", "{context}");
        assert_eq!(facts.torn, 0, "{context}");
        assert_eq!(facts.instrs(), expected.instructions, "{context}");
        assert_eq!(facts.threads.len(), expected.threads.len(), "{context}");
        let order = facts.by_start();
        for (thread, (instructions, events)) in &expected.threads {
            let number = order[*thread as usize];
            let prefix = format!("{number} ");
            let of_thread = facts.events.iter().filter_map(|e| e.strip_prefix(&prefix));
            let recorded: Vec<String> = of_thread.map(bare).collect();
            assert_eq!(&recorded, events, "{context}");
            assert_eq!(facts.threads[number].instrs, *instructions, "{context}");
        }
    }
    let (said, facts) = common::recorder(&["count"], &[&program]).run();
    assert_eq!(facts.status, "exit status: 0", "{said:?}");
    assert_eq!(facts.instrs(), expected.instructions, "{name} count");
    for (thread, (instructions, _)) in &expected.threads {
        let number = facts.by_start()[*thread as usize];
        let counted = facts.threads[number].instrs;
        assert_eq!(counted, *instructions, "{name} count, thread {thread}");
    }
}

#[test]
fn scalar_accesses() {
    check("plain");
}

#[test]
fn vector_accesses() {
    check("vector");
}

#[test]
fn avx_masks_and_gathers() {
    check("masked_avx");
}

#[test]
fn byte_masked_stores() {
    check("maskmovdqu");
}

#[test]
fn avx512() {
    check("avx512");
}

#[test]
fn string_instructions() {
    check("string");
}

#[test]
fn places_that_operands_do_not_tell() {
    check("addresses");
}

#[test]
fn flushes_and_fences() {
    check("flush");
}

#[test]
fn direct_stores() {
    check("movdir64b");
}

#[test]
fn region_marks() {
    check("region");
}

#[test]
fn addresses_beside_live_flags() {
    check("flags");
}

/// Of one byte, in units that the engine's tables did not have.
#[test]
fn displacements_of_vectors() {
    check("displacements");
}

#[test]
fn sizes_that_tables_had_wrong() {
    check("sizes");
}

#[test]
fn strided_loop() {
    check("loop");
}

#[test]
fn four_threads() {
    check("threads4");
}

/// The count scope knows the stores of plain blocks too: one a reference and execution.
#[test]
fn counted_stores_are_those_recorded() {
    for name in ["plain", "loop", "threads4"] {
        let program = programs().join(name);
        let (_, all) = common::recorder(&[], &[&program]).run();
        let (_, counted) = common::recorder(&["count"], &[&program]).run();
        assert!(all.stores() > 0, "{name}");
        assert_eq!(counted.stores(), all.stores(), "{name}");
    }
}

/// Values that `plain` writes: constants in its source, and one that passes through a register.
#[test]
fn stored_values() {
    let program = programs().join("plain");
    let (_, facts) = common::recorder(&["events", "values"], &[&program]).run();
    let value_at = |index: u64| {
        let prefix = format!("0 {index} Store ");
        let event = facts.events.iter().find(|e| e.starts_with(&prefix));
        let word = event.and_then(|e| e.split(' ').nth(5));
        u64::from_str_radix(word.unwrap_or_else(|| panic!("no value at {index}")), 16).unwrap()
    };
    let stored: Vec<u64> = [2, 3, 4, 5, 11, 15].map(value_at).to_vec();
    assert_eq!(stored, [1, 2, 3, 4, 4, 4]);
    // addl $5 to the 3 at buf+4.
    assert_eq!(value_at(35), 8);
}
