//! AVX512-FP16: every form does what it does natively, and is recorded.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{native, out_dir, recorder, same, str};

/// The program; nothing, and why, where it cannot be made or executed.
fn program(test: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/newer_instructions.c");
    let program = out_dir().join(format!("newer_instructions_{test}"));
    let made = Command::new("cc")
        .args(["-O1", "-no-pie", "-o"])
        .args([&program, &source])
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&made.stderr);
    if log.contains("no such instruction") || log.contains("ambiguous operand size") {
        eprintln!("SKIPPED: {test}: the assembler does not know AVX512-FP16");
        return None;
    }
    assert!(made.status.success(), "{log}");
    if native(&[str(&program), "0"]).status.code() == Some(77) {
        eprintln!("SKIPPED: {test}: the processor lacks AVX512-FP16");
        return None;
    }
    Some(program)
}

/// They ended their blocks, and were executed out of line.
#[test]
fn all_forms() {
    let Some(program) = program("all_forms") else {
        return;
    };
    let lines = native(&[str(&program)]).stdout.lines().count();
    assert!(lines > 2500, "{lines}");
    for options in [&[][..], &["count"], &["values"]] {
        let facts = same(options, &[str(&program)]);
        // None is unknown: those are skipped, and executed for the program.
        let skips = facts.threads.iter().map(|t| t.skips).sum::<u64>();
        assert_eq!(skips, 0, "{options:?}");
    }
}

/// Of the form with that text: kind, offset and size of what it accesses in the area, as the manual has it.
const ACCESSES: [(&str, &[&str]); 22] = [
    ("vmovw xmm0, WORD PTR [rsi+6]", &["Load 1030 2"]),
    ("vmovw WORD PTR [rsi+6], xmm2", &["Store 1030 2"]),
    ("vmovw WORD PTR [rip+area+34], xmm17", &["Store 34 2"]),
    ("vmovsh xmm0, WORD PTR [rsi+6]", &["Load 1030 2"]),
    ("vmovsh WORD PTR [rsi+6], xmm2", &["Store 1030 2"]),
    (
        "vaddph xmm0, xmm1, XMMWORD PTR [rsi+3*16]",
        &["Load 1072 16"],
    ),
    (
        "vaddph ymm0, ymm9, YMMWORD PTR [rip+area+192]",
        &["Load 192 32"],
    ),
    (
        "vmulph zmm0, zmm31, ZMMWORD PTR [rsi+3*64]",
        &["Load 1216 64"],
    ),
    (
        "vmulph zmm0, zmm31, ZMMWORD PTR [rsi+rcx*2+64+1]",
        &["Load 1099 64"],
    ),
    (
        "vdivph zmm0, zmm18, WORD PTR [rsi+5*2]{1to32}",
        &["Load 1034 2"],
    ),
    (
        "vfmaddcph ymm0, ymm1, DWORD PTR [rsi+5*4]{1to8}",
        &["Load 1044 4"],
    ),
    ("vcvtph2pd zmm0, XMMWORD PTR [rsi+3*16]", &["Load 1072 16"]),
    ("vcvtph2pd xmm0, DWORD PTR [rsi+3*4]", &["Load 1036 4"]),
    ("vcvtph2psx xmm0, QWORD PTR [rsi+3*8]", &["Load 1048 8"]),
    (
        "vcvtpd2ph xmm0, QWORD PTR [rsi+5*8]{1to8}",
        &["Load 1064 8"],
    ),
    (
        "vcvtsd2sh xmm0, xmm1, QWORD PTR [rsi+3*8]",
        &["Load 1048 8"],
    ),
    ("vcvtsi2sh xmm0, xmm1, QWORD PTR [rsi+24]", &["Load 1048 8"]),
    ("vcvttsh2si r9d, WORD PTR [rsi+6]", &["Load 1030 2"]),
    ("vcomish xmm1, WORD PTR [rip+area+34]", &["Load 34 2"]),
    (
        "vcmpph k3{k2}, zmm17, ZMMWORD PTR [rsi+3*64], 6",
        &["Load 1216 64"],
    ),
    (
        "vrndscaleph xmm0, XMMWORD PTR [rip+area+192], 17",
        &["Load 192 16"],
    ),
    (
        "vfnmadd231sh xmm0, xmm1, WORD PTR [rsi+3*2]",
        &["Load 1030 2"],
    ),
];

/// The area is also filled and summed up: the access is between the last store of the one and the first load of the other.
#[test]
fn accesses() {
    let Some(program) = program("accesses") else {
        return;
    };
    let all = native(&[str(&program)]).stdout;
    for (text, expected) in ACCESSES {
        let form = format!(" {text}: ");
        let line = all.lines().find(|l| l.contains(&form));
        let number = line
            .unwrap_or_else(|| panic!("no {text}"))
            .split(' ')
            .next();
        let command = [str(&program), number.unwrap()];
        let (said, facts) = recorder(&["events"], &command).run();
        let area = said.stdout.lines().next().unwrap();
        let area: u64 = area.strip_prefix("area ").unwrap().parse().unwrap();
        let there: Vec<String> = facts
            .events
            .iter()
            .filter_map(|e| {
                let words: Vec<&str> = e.split(' ').collect();
                let address = u64::from_str_radix(words[3].strip_prefix("0x")?, 16).ok()?;
                let offset = address.checked_sub(area)?;
                (offset < 8192).then(|| format!("{} {offset} {}", words[2], words[4]))
            })
            .collect();
        // Behind the last of the stores that fill it.
        let filled = there.iter().position(|e| e == "Store 8190 2").unwrap() + 1;
        let found: Vec<&str> = there[filled..]
            .iter()
            .map(String::as_str)
            .take(expected.len())
            .collect();
        assert_eq!(found, expected, "{text}");
    }
}
