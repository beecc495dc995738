//! Instructions that the engine's decoder does not know are executed, counted and named.

mod specials;

use std::process::Command;

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
