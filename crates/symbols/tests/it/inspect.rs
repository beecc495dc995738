//! What a file is, before it is run.

use crate::build::Workbench;
use prestore_symbols::{Class, ElfProgram, Executable, InspectError, Machine, build_id, inspect};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn executable(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn elf(path: &Path) -> ElfProgram {
    match inspect(path) {
        Ok(Executable::Elf(program)) => program,
        other => panic!("{other:?}"),
    }
}

#[test]
fn programs_of_each_linkage() {
    let bench = Workbench::new();
    bench.write("p.c", "int main(void) { return 0; }");
    for (flags, is_pie, is_static) in [
        ("-pie -fPIE", true, false),
        ("-no-pie", false, false),
        ("-static", false, true),
        ("-static-pie -fPIE", true, true),
    ] {
        bench.run(&format!("gcc {flags} -Wl,--build-id=0x00ff17 -o prog p.c"));
        let program = elf(&bench.path("prog"));
        assert_eq!(
            (program.is_pie, program.is_static),
            (is_pie, is_static),
            "{flags}"
        );
        assert_eq!(program.interpreter.is_some(), !is_static, "{flags}");
        assert_eq!(
            (program.class, program.machine),
            (Class::Elf64, Machine::X86_64)
        );
        assert_eq!(program.build_id.as_deref(), Some("00ff17"));
        assert_eq!(
            build_id(&bench.path("prog")).unwrap().as_deref(),
            Some("00ff17")
        );
        program.require_x86_64().unwrap();
    }
    bench.run("gcc -Wl,--build-id=none -o prog p.c");
    assert_eq!(build_id(&bench.path("prog")).unwrap(), None);
}

#[test]
fn other_classes_and_machines_are_named() {
    let bench = Workbench::new();
    bench.write("p.c", "int main(void) { return 0; }");
    bench.run("gcc -static -o prog p.c");
    let program = fs::read(bench.path("prog")).unwrap();
    let path = bench.path("foreign");
    let mut arm = program;
    arm[18..20].copy_from_slice(&183u16.to_le_bytes());
    fs::write(&path, &arm).unwrap();
    executable(&path);
    let error = elf(&path).require_x86_64().unwrap_err();
    assert!(matches!(error, InspectError::OtherMachine { .. }));
    assert!(error.to_string().contains("AArch64"), "{error}");

    // A 32-bit program header by hand: e_ident, ET_EXEC, EM_386, version, no segments.
    let mut small = vec![0u8; 52];
    small[..7].copy_from_slice(b"\x7fELF\x01\x01\x01");
    small[16] = 2;
    small[18] = 3;
    small[20] = 1;
    small[40] = 52;
    fs::write(&path, &small).unwrap();
    let program = elf(&path);
    assert_eq!(program.class, Class::Elf32);
    let error = program.require_x86_64().unwrap_err();
    assert!(matches!(error, InspectError::ThirtyTwoBit { .. }));
    assert!(error.to_string().contains("32-bit"), "{error}");
}

#[test]
fn scripts_name_their_interpreter() {
    let bench = Workbench::new();
    for (text, interpreter, argument) in [
        ("#!/bin/sh\nexit\n", "/bin/sh", None),
        (
            "#! /usr/bin/env python3 -u\nprint()\n",
            "/usr/bin/env",
            Some("python3 -u"),
        ),
        ("#!/bin/bash", "/bin/bash", None),
    ] {
        let path = bench.write("script", text);
        executable(&path);
        let Ok(Executable::Script(script)) = inspect(&path) else {
            panic!("{text} is a script");
        };
        assert_eq!(script.interpreter, PathBuf::from(interpreter));
        assert_eq!(script.argument.as_deref(), argument);
    }
}

#[test]
fn what_cannot_be_run_says_why() {
    let bench = Workbench::new();
    let text = bench.write("readme", "hello");
    assert!(matches!(
        inspect(&text),
        Err(InspectError::NotExecutable { .. })
    ));
    executable(&text);
    assert!(matches!(
        inspect(&text),
        Err(InspectError::UnknownFormat { .. })
    ));
    let empty = bench.write("empty", "");
    executable(&empty);
    assert!(matches!(
        inspect(&empty),
        Err(InspectError::UnknownFormat { .. })
    ));
    assert!(matches!(
        inspect(&bench.path("none")),
        Err(InspectError::NotFound { .. })
    ));
    assert!(matches!(
        inspect(&text.join("x")),
        Err(InspectError::NotFound { .. })
    ));
    assert!(matches!(
        inspect(&bench.path("")),
        Err(InspectError::NotAFile { .. })
    ));

    bench.write("lib.c", "int f(void) { return 0; }");
    bench.run("gcc -shared -fPIC -nostdlib -o lib.so lib.c");
    bench.run("gcc -c -o lib.o lib.c");
    executable(&bench.path("lib.o"));
    for (file, kind) in [("lib.so", "a shared library"), ("lib.o", "an object file")] {
        let error = inspect(&bench.path(file)).unwrap_err();
        assert!(error.to_string().contains(kind), "{error}");
    }

    let cut = bench.path("cut");
    fs::write(&cut, b"\x7fELF\x02\x01\x01").unwrap();
    executable(&cut);
    assert!(matches!(inspect(&cut), Err(InspectError::Malformed { .. })));
}
