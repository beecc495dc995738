//! The library as a C, C++, CMake or Fortran program meets it: installed, found, compiled against, run.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn scratch() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Runs to success and gives what was printed.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Whether the tool is there; if not the test says that it skips.
fn have(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        // Past the test's captured output, so that a skip is seen.
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("SKIPPED: {tool} is not installed\n").as_bytes(),
        );
    }
    there
}

/// Where `make install-lib` put everything: once for all tests.
fn prefix() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = scratch().join("prefix");
        run(Command::new("make")
            .arg("-C")
            .arg(root())
            .arg("install-lib")
            .arg(format!("PREFIX={}", prefix.display()))
            .env("CARGO_TARGET_DIR", scratch().join("library")));
        prefix
    })
}

const STRICT: [&str; 5] = ["-O2", "-Wall", "-Wextra", "-pedantic", "-Werror"];

fn compile(compiler: &str, args: &[&str], source: &str, program: &str) -> PathBuf {
    let program = scratch().join(program);
    run(Command::new(compiler)
        .args(args)
        .args(STRICT)
        .arg("-I")
        .arg(prefix().join("include"))
        .arg(tests().join("c").join(source))
        // The library after what needs it; unused by inline programs.
        .arg(prefix().join("lib/libprestore.a"))
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"])
        .arg(&program));
    program
}

/// The languages and compilers: name, compiler, arguments.
fn compilers() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let all = [
        ("gcc-c99", "gcc", vec!["-std=c99"]),
        ("gcc-c++11", "g++", vec!["-x", "c++", "-std=c++11"]),
        ("gcc-c++17", "g++", vec!["-x", "c++", "-std=c++17"]),
        ("clang-c99", "clang", vec!["-std=c99"]),
        ("clang-c++17", "clang++", vec!["-x", "c++", "-std=c++17"]),
    ];
    all.into_iter()
        .filter(|(_, compiler, _)| have(compiler))
        .collect()
}

/// `-x c++` must not reach the library that follows on the command line.
fn compile_language(args: &[&str], compiler: &str, source: &str, program: &str) -> PathBuf {
    if args.first() != Some(&"-x") {
        return compile(compiler, args, source, program);
    }
    let copy = scratch().join(format!("{program}.cc"));
    std::fs::copy(tests().join("c").join(source), &copy).unwrap();
    compile(compiler, &args[2..], copy.to_str().unwrap(), program)
}

#[test]
fn the_library_keeps_its_contract_in_every_language() {
    for (name, compiler, args) in compilers() {
        let program = compile_language(&args, compiler, "contract.c", &format!("library-{name}"));
        let said = run(&mut Command::new(program));
        assert_eq!(said.lines().count(), 3, "{name}: {said}");
    }
}

#[test]
fn the_header_alone_keeps_the_contract_for_each_march() {
    let has = |flag: &str| {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
        let has = info.split_whitespace().any(|f| f == flag);
        if !has {
            eprintln!("SKIPPED: this CPU has no {flag}");
        }
        has
    };
    let invalidate = "-DPRESTORE_CLEAN_FALLBACK_INVALIDATE";
    let marches = [
        (vec![], "none|", "sse2"),
        (vec!["-mclwb", "-mcldemote"], "clwb|", "clwb"),
        (
            vec!["-mclflushopt", invalidate],
            "clflushopt|",
            "clflushopt",
        ),
        (vec![invalidate], "clflush|", "clflush"),
        (vec!["-mavx"], "none|", "avx"),
        (vec!["-mavx512f"], "none|", "avx512f"),
    ];
    for (name, compiler, args) in compilers() {
        for (number, (march, clean, flag)) in marches.iter().enumerate() {
            if !has(flag) {
                continue;
            }
            let args = [&args[..], march, &["-DPRESTORE_INLINE"]].concat();
            let program =
                compile_language(&args, compiler, "contract.c", &format!("{name}-{number}"));
            let said = run(&mut Command::new(program));
            let line = said.lines().nth(1).unwrap();
            assert!(line.starts_with(clean), "{name} {march:?}: {line}");
        }
    }
}

#[test]
fn the_header_alone_touches_exactly_the_lines() {
    for size in ["-DPRESTORE_LINE_SIZE=64", "-DPRESTORE_LINE_SIZE=128"] {
        run(&mut Command::new(compile(
            "gcc",
            &["-std=c99", size],
            "lines.c",
            &format!("lines{size}"),
        )));
    }
}

#[test]
fn switches_reach_the_c_library() {
    let program = compile("gcc", &["-std=c99"], "contract.c", "switched");
    for (name, value, line, wanted) in [
        ("PRESTORE_FORCE_CLEAN", "none", 1, "none|forced"),
        ("PRESTORE_FORCE_CLEAN", "clflush", 1, "clflush|forced"),
        ("PRESTORE_FORCE_DEMOTE", "cldemote", 0, "cldemote|forced"),
        ("PRESTORE_FORCE_SKIP", "movnt_sse2", 2, "movnt sse2|forced"),
        ("PRESTORE_FORCE_SKIP", "plain_stores", 2, "plain stores|"),
    ] {
        let said = run(Command::new(&program).env(name, value));
        let line = said.lines().nth(line).unwrap();
        assert!(line.starts_with(wanted), "{name}={value}: {line}");
    }
}

/// Whether Rust's standard library for AArch64 is there; if not the test says that it skips.
fn have_aarch64_rust() -> bool {
    let installed = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .output();
    let there = installed.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).contains(AARCH64));
    if !there {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            format!("SKIPPED: rustup target add {AARCH64}\n").as_bytes(),
        );
    }
    there
}

const AARCH64: &str = "aarch64-unknown-linux-gnu";

#[test]
fn the_library_on_aarch64_under_emulation() {
    if !have("aarch64-linux-gnu-gcc") || !have("qemu-aarch64") || !have_aarch64_rust() {
        return;
    }
    let target = scratch().join("library-aarch64");
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["rustc", "--release", "--locked", "-p", "prestore", "--lib"])
        .args([
            "--features",
            "capi",
            "--crate-type",
            "staticlib",
            "--target",
            AARCH64,
        ])
        .env("CARGO_TARGET_DIR", &target));
    let program = scratch().join("aarch64-library");
    run(Command::new("aarch64-linux-gnu-gcc")
        .args(["-std=c99", "-static"])
        .args(STRICT)
        .arg("-I")
        .arg(root().join("include"))
        .arg(tests().join("c/contract.c"))
        .arg(target.join(AARCH64).join("release/libprestore.a"))
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program));
    let said = run(Command::new("qemu-aarch64").arg(&program));
    let names: Vec<_> = said.lines().filter_map(|l| l.split('|').next()).collect();
    assert_eq!(names, ["dc cvau", "dc cvac", "stnp"]);
}

#[test]
fn aarch64_under_emulation() {
    if !have("aarch64-linux-gnu-gcc") || !have("qemu-aarch64") {
        return;
    }
    for (program, source, args) in [
        ("contract", "contract.c", &["-DPRESTORE_INLINE"][..]),
        ("lines-64", "lines.c", &["-DPRESTORE_LINE_SIZE=64"]),
        ("lines-128", "lines.c", &["-DPRESTORE_LINE_SIZE=128"]),
    ] {
        let program = scratch().join(format!("aarch64-{program}"));
        run(Command::new("aarch64-linux-gnu-gcc")
            .args(["-std=c99", "-static"])
            .args(STRICT)
            .args(args)
            .arg("-I")
            .arg(root().join("include"))
            .arg(tests().join("c").join(source))
            .arg("-o")
            .arg(&program));
        for cpu in ["cortex-a57", "neoverse-n1", "max"] {
            let said = run(Command::new("qemu-aarch64")
                .args(["-cpu", cpu])
                .arg(&program));
            if source == "contract.c" {
                let names: Vec<_> = said.lines().filter_map(|l| l.split('|').next()).collect();
                assert_eq!(names, ["dc cvau", "dc cvac", "stnp"], "{cpu}");
            }
        }
    }
}

#[test]
fn fortran_stencil() {
    if !have("gfortran") {
        return;
    }
    let program = scratch().join("stencil");
    run(Command::new("gfortran")
        .args(["-O2", "-Wall", "-J"])
        .arg(scratch())
        .arg(prefix().join("share/prestore/prestore.f90"))
        .arg(tests().join("fortran/stencil.f90"))
        .arg("-L")
        .arg(prefix().join("lib"))
        .arg("-lprestore")
        .arg(format!("-Wl,-rpath,{}", prefix().join("lib").display()))
        .arg("-o")
        .arg(&program));
    let said = run(&mut Command::new(program));
    assert_eq!(said.split('|').count(), 4, "{said}");
}

/// The contract's program, linked as `link` says to what pkg-config answers.
fn by_pkg_config(program: &str, asked: &[&str], link: &[&str]) -> PathBuf {
    let flags = run(Command::new("pkg-config")
        .args(asked)
        .args(["--cflags", "--libs", "prestore"])
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")));
    let program = scratch().join(program);
    run(Command::new("gcc")
        .args(link)
        .arg(tests().join("c/contract.c"))
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program));
    program
}

#[test]
fn pkg_config_finds_the_shared_library() {
    if have("pkg-config") {
        let program = by_pkg_config("by-pkg-config", &[], &[]);
        run(Command::new(program).env("LD_LIBRARY_PATH", prefix().join("lib")));
    }
}

#[test]
fn pkg_config_says_what_a_static_program_needs() {
    if have("pkg-config") {
        let program = by_pkg_config("static-by-pkg-config", &["--static"], &["-static"]);
        run(&mut Command::new(program));
    }
}

#[test]
fn cmake_finds_all_three_targets() {
    if !have("cmake") {
        return;
    }
    let build = scratch().join("cmake-build");
    run(Command::new("cmake")
        .arg("-S")
        .arg(tests().join("cmake"))
        .arg("-B")
        .arg(&build)
        .arg(format!("-DCMAKE_PREFIX_PATH={}", prefix().display())));
    run(Command::new("cmake").arg("--build").arg(&build));
    for program in ["shared", "static", "inline"] {
        run(&mut Command::new(build.join(program)));
    }
}

#[test]
fn the_core_needs_no_standard_library() {
    run(Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["rustc", "--locked", "-p", "prestore", "--lib"])
        .args(["--no-default-features", "--crate-type", "lib"])
        .env("CARGO_TARGET_DIR", scratch().join("no-std")));
}
