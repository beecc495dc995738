//! Damaged files: any answer will do but a panic.

use crate::build::{Workbench, any_build};
use prestore_symbols::{Options, Symbols, build_id, demangle, inspect};
use proptest::prelude::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::OnceLock;

/// A real program with symbols, debug information and a build id, as small as it gets.
fn program() -> &'static [u8] {
    static PROGRAM: OnceLock<Vec<u8>> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let bench = Workbench::new();
        let text = "\
static inline int f(int *p) { return *p = 3; }
int g(int *p) { return f(p) + 1; }
int main(void) { int x; return g(&x); }
";
        bench.write("p.c", text);
        bench.run("gcc -g -O2 -o prog p.c");
        fs::read(bench.path("prog")).unwrap()
    })
}

/// Everything the crate does with a file.
fn exercise(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let _ = inspect(path);
    let _ = build_id(path);
    let options = Options {
        debug_dirs: Vec::new(),
        debuginfod_cache: None,
        ..Options::default()
    };
    let mut symbols = Symbols::new(options);
    for address in (0x1000..0x1200).step_by(7).chain([0, u64::MAX]) {
        symbols.locate(&any_build(path), address);
    }
    for note in symbols.notes() {
        let _ = note.to_string();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn random_bytes(
        elf in any::<bool>(),
        mut bytes in proptest::collection::vec(any::<u8>(), 0..400),
    ) {
        let bench = Workbench::new();
        if elf {
            bytes.splice(0..0, *b"\x7fELF\x02\x01\x01");
        }
        exercise(&bench.path("f"), &bytes);
    }

    #[test]
    fn truncated_programs(part in 0.0..1.0f64) {
        let bench = Workbench::new();
        let program = program();
        exercise(&bench.path("f"), &program[..(program.len() as f64 * part) as usize]);
    }

    #[test]
    fn programs_with_flipped_bytes(
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        tail in any::<bool>(),
    ) {
        let bench = Workbench::new();
        let mut bytes = program().to_vec();
        // The end of the file holds the debug information and the tables that lead to it.
        let from = if tail { bytes.len() * 3 / 4 } else { 0 };
        for (at, value) in flips {
            let at = from + at.index(bytes.len() - from);
            bytes[at] = value;
        }
        exercise(&bench.path("f"), &bytes);
    }

    #[test]
    fn names(tail in "[A-Za-z0-9_.$]{0,60}", head in "_Z|_R|_ZN|_RNv|") {
        let _ = demangle(&format!("{head}{tail}"));
        let _ = demangle(&format!("_ZN{tail}17h{}E", &"é".repeat(20)));
    }
}
