//! The library as C, C++ and Fortran programs meet it, and the guide: installed, compiled against, run.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[path = "common/installed.rs"]
mod installed;

use std::path::{Path, PathBuf};
use std::process::Command;

use installed::{prefix, root, run};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

#[test]
fn c_and_cpp() {
    let folder = tempfile::tempdir().unwrap();
    let languages: [(&str, &[&str]); 3] = [
        ("gcc", &["-std=c99", "-x", "c"]),
        ("g++", &["-std=c++11", "-x", "c++"]),
        ("clang", &["-std=c99", "-x", "c"]),
    ];
    for (compiler, language) in languages {
        let program = folder.path().join(compiler);
        run(Command::new(compiler)
            .args(language)
            .args(["-O2", "-Wall", "-Wextra", "-pedantic", "-Werror", "-I"])
            .arg(prefix().join("include"))
            .arg(source("c/contract.c"))
            // Only the source is of that language.
            .args(["-x", "none"])
            .arg(prefix().join("lib/libprestore_recompute.a"))
            .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-o"])
            .arg(&program));
        run(Command::new(&program).arg(folder.path().join(format!("{compiler}.loop"))));
    }
}

#[test]
fn fortran() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sums");
    run(Command::new("gfortran")
        .args(["-O2", "-Wall", "-J"])
        .arg(folder.path())
        .arg(prefix().join("share/prestore/prestore_recompute.f90"))
        .arg(source("fortran/sums.f90"))
        .arg("-L")
        .arg(prefix().join("lib"))
        .arg("-lprestore_recompute")
        .arg(format!("-Wl,-rpath,{}", prefix().join("lib").display()))
        .arg("-o")
        .arg(&program));
    let said = run(Command::new(program).arg(folder.path().join("loop")));
    assert!(
        said.contains("it was begun by sums (3 iterations of 4 regions, scheme R, workers: 2)"),
        "{said}"
    );
    assert!(said.contains("write a reset"), "{said}");
}

#[test]
fn pkg_config_says_what_a_static_program_needs() {
    let flags = run(Command::new("pkg-config")
        .args(["--static", "--cflags", "--libs", "prestore-recompute"])
        .env("PKG_CONFIG_PATH", prefix().join("lib/pkgconfig")));
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("static");
    run(Command::new("gcc")
        .args(["-O2", "-static"])
        .arg(source("c/contract.c"))
        .args(flags.split_whitespace())
        .arg("-o")
        .arg(&program));
    run(Command::new(&program).arg(folder.path().join("static.loop")));
}

/// What stands between fences: the word behind the opening one, and the lines.
fn blocks(guide: &str) -> Vec<(&str, Vec<&str>)> {
    let mut blocks: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                blocks.push((info, Vec::new()));
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => blocks.last_mut().unwrap().1.push(line),
            None => {}
        }
    }
    blocks
}

/// The guide's program is compiled and run by the guide's commands, which print what it shows.
#[test]
fn the_guide() {
    let guide = std::fs::read_to_string(root().join("docs/recompute.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut commands = 0;
    for (info, lines) in blocks(&guide) {
        if let Some(name) = info.strip_prefix("c ") {
            std::fs::write(folder.path().join(name), lines.join("\n")).unwrap();
            continue;
        }
        assert_eq!(info, "console", "a block that no test runs");
        let starts: Vec<_> = (0..lines.len())
            .filter(|at| lines[*at].starts_with("$ "))
            .collect();
        for (number, start) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(lines.len());
            let output = Command::new("timeout")
                .args(["60", "sh", "-c", lines[*start].trim_start_matches("$ ")])
                .current_dir(folder.path())
                .env("C_INCLUDE_PATH", prefix().join("include"))
                .env("LIBRARY_PATH", prefix().join("lib"))
                .env("LD_LIBRARY_PATH", prefix().join("lib"))
                .output()
                .unwrap();
            let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let shown = spaced(&lines[start + 1..end].join(" "));
            assert!(
                spaced(&printed).contains(&shown),
                "{}\n{printed}",
                lines[*start]
            );
            commands += 1;
        }
    }
    assert!(commands >= 5);
}

/// The guide's program, with a smaller plate and fewer rounds, that dies in any block and prints all of its result.
fn smaller(guide: &str) -> String {
    let (_, lines) = blocks(guide)
        .into_iter()
        .find(|(info, _)| *info == "c heat.c")
        .unwrap();
    let mut program = lines.join("\n");
    for (shown, here) in [
        (
            "N = 256, BLOCK = 32, ROUNDS = 100",
            "N = 32, BLOCK = 4, ROUNDS = 12",
        ),
        ("block == 3", "block == (size_t)atoi(getenv(\"DIES_IN\"))"),
        (
            "    prestore_loop_close(loop);",
            "    fwrite(plate, row, N, stdout);\n    prestore_loop_close(loop);",
        ),
    ] {
        assert_eq!(program.matches(shown).count(), 1, "{shown}");
        program = program.replace(shown, here);
    }
    program
}

/// Under every scheme, killed at every step and started again, or finished and started again, it has the same result.
#[test]
fn the_guides_loop_killed_at_every_step() {
    let guide = std::fs::read_to_string(root().join("docs/recompute.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("heat.c"), smaller(&guide)).unwrap();
    run(Command::new("gcc")
        .args(["-O2", "heat.c", "-o", "heat", "-I"])
        .arg(prefix().join("include"))
        .arg("-L")
        .arg(prefix().join("lib"))
        .arg("-lprestore_recompute")
        .current_dir(folder.path()));
    let start = |arguments: &[&str], dies_in: usize| {
        let output = Command::new(folder.path().join("heat"))
            .args(arguments)
            .current_dir(folder.path())
            .env("LD_LIBRARY_PATH", prefix().join("lib"))
            .env("DIES_IN", dies_in.to_string())
            .output()
            .unwrap();
        (output.status, output.stdout)
    };
    // Behind what is said: all numbers.
    let plate = |arguments: &[&str]| {
        let (status, mut printed) = start(arguments, 0);
        assert!(status.success(), "{arguments:?}: {status}");
        printed.split_off(printed.len() - 32 * 32 * 8)
    };
    let file = folder.path().join("heat.loop");
    let expected = plate(&["none"]);
    assert!(expected.iter().any(|byte| *byte != 0));
    for scheme in ["none", "CP", "CP8", "CPall8", "CP64", "L", "R"] {
        let _ = std::fs::remove_file(&file);
        for _ in 0..3 {
            assert!(plate(&[scheme]) == expected, "{scheme}, not killed");
        }
        for round in 0..12 {
            for block in 0..8 {
                std::fs::remove_file(&file).unwrap();
                let (status, _) = start(&[scheme, &round.to_string()], block);
                assert!(!status.success(), "{scheme}: not killed");
                assert!(
                    plate(&[scheme]) == expected,
                    "{scheme}, killed in round {round}, block {block}"
                );
            }
        }
    }
}
