//! Instructions that the engine's decoder does not know are executed, counted and named.

#![allow(clippy::unwrap_used, clippy::panic)]

mod specials;

use std::io::Write;
use std::process::{Command, Stdio};

use prestore_trace::record::Special;
use prestore_tracer::Options;

/// First bytes of instructions of the program that the engine's decoder lacks, and how often the
/// program executes them; by the name in its output.
const LACKING: [(&str, &[u8], u64); 3] = [
    ("clzero", &[0x0f, 0x01, 0xfc], 50),
    ("vp2intersectd", &[0x62, 0xf2, 0x77, 0x40, 0x68], 50),
    ("relative", &[0x62, 0xf2, 0x6f, 0x48, 0x68], 1),
];

#[test]
fn they_do_what_they_do_natively() {
    let program = specials::compile("cc", "unknown_opcodes.c", "unknown_opcodes", &[]);
    let native = tempfile::NamedTempFile::new().unwrap();
    let traced = tempfile::NamedTempFile::new().unwrap();
    let status = Command::new(&program).arg(native.path()).status().unwrap();
    assert!(status.success());
    let (outcome, recorded) = specials::run(&program, traced.path(), &Options::default());
    assert!(outcome.status.unwrap().success());
    let native = std::fs::read_to_string(native.path()).unwrap();
    let traced = std::fs::read_to_string(traced.path()).unwrap();
    assert_eq!(traced, native);
    assert_eq!(native.matches("undefined refused").count(), 3);

    let unknown: Vec<_> = recorded.unknown.values().flatten().collect();
    let mut executions = 0;
    for (name, bytes, times) in LACKING {
        let entry = unknown.iter().find(|u| u.bytes.starts_with(bytes));
        if native.contains(&format!("{name} done")) {
            let entry = entry.unwrap_or_else(|| panic!("{name} is not in {unknown:x?}"));
            assert_eq!(entry.executions, times, "{name}");
            executions += times;
        } else {
            eprintln!("SKIPPED: {name}: the processor lacks it");
            assert!(entry.is_none(), "{name}: {unknown:x?}");
        }
    }
    assert_eq!(
        unknown.iter().map(|u| u.executions).sum::<u64>(),
        executions
    );
    // They are in the count of instructions.
    let skipped: u64 = recorded
        .threads
        .values()
        .flatten()
        .map(|s| match s {
            Special::Skip { instrs } => *instrs,
            _ => 0,
        })
        .sum();
    assert_eq!(skipped, executions);
}

/// Lengths against a disassembler's, on all that is in the C library's mathematics: many vector
/// extensions.
#[test]
fn lengths_are_those_of_a_disassembler() {
    let program = specials::compile(
        "cc",
        "insn_length.c",
        "insn_length",
        &[concat!(
            "-I",
            env!("CARGO_MANIFEST_DIR"),
            "/tests/programs/insn_length"
        )],
    );
    let library = Command::new("cc")
        .arg("-print-file-name=libm.so.6")
        .output()
        .unwrap();
    let library = String::from_utf8(library.stdout).unwrap();
    let Ok(listing) = Command::new("objdump")
        .args(["-d", "-w", library.trim()])
        .output()
    else {
        eprintln!("SKIPPED: objdump is not installed");
        return;
    };
    let listing = String::from_utf8_lossy(&listing.stdout);
    let mut codes: Vec<&str> = listing
        .lines()
        .filter(|line| !line.contains("(bad)"))
        .filter_map(|line| {
            let mut columns = line.split('\t');
            let code = columns.nth(1)?;
            columns.next().map(|_| code.trim())
        })
        .collect();
    codes.sort_unstable();
    codes.dedup();
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = codes.join("\n") + "\n";
    let feeder = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let said = child.wait_with_output().unwrap();
    feeder.join().unwrap().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    let checked: u64 = said
        .strip_prefix("checked ")
        .map_or_else(|| panic!("{said}"), |n| n.trim().parse().unwrap());
    assert!(checked > 5000, "{checked}");
}
