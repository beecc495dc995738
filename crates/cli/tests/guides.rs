//! The guides work: their files load, their commands print what they show, the source files they
//! name are there. (Their Rust code is compiled by `prestore-machine`'s documentation tests.)
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use common::{prestore, root};
use prestore_machine::Machines;

/// A fenced block: what stands after the fence, and its lines.
struct Block<'a> {
    info: &'a str,
    lines: Vec<&'a str>,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        match line.strip_prefix("```") {
            Some(info) if !inside => {
                blocks.push(Block {
                    info,
                    lines: Vec::new(),
                });
                inside = true;
            }
            Some(_) => inside = false,
            None if inside => blocks.last_mut().unwrap().lines.push(line),
            None => {}
        }
    }
    assert!(!inside, "a block is not closed");
    blocks
}

/// Runs a command line of a guide in `folder`.
fn shell(line: &str, folder: &Path) -> (bool, String) {
    let program = prestore().get_program().to_owned();
    let program = Path::new(&program).canonicalize().unwrap();
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("timeout")
        .args(["-s", "KILL", "60", "sh", "-c", line])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .env("XDG_CONFIG_HOME", folder.join("no-config"))
        .env_remove("PRESTORE_MACHINE_PATH")
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

/// The command of a console block prints these, in this order; how wide columns are is not compared.
#[track_caller]
fn check(line: &str, shown: &[&str], folder: &Path) {
    let (success, printed) = shell(line, folder);
    let refused = shown
        .first()
        .is_some_and(|first| first.starts_with("prestore: "));
    assert_eq!(success, !refused, "$ {line}\n{printed}");
    let spaced = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = spaced(&printed);
    let mut rest = all.as_str();
    for part in shown {
        let Some((_, after)) = rest.split_once(&spaced(part)) else {
            panic!("$ {line}\ndoes not print (or not in this order): {part}\n{printed}");
        };
        rest = after;
    }
}

fn run(name: &str) -> String {
    let guide = fs::read_to_string(root().join("docs").join(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (mut files, mut commands) = (0, 0);
    for block in blocks(&guide) {
        let file = ["toml ", "c "]
            .iter()
            .find_map(|kind| block.info.strip_prefix(kind));
        if let Some(file) = file {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, block.lines.join("\n")).unwrap();
            files += 1;
        } else if block.info == "console" {
            let starts: Vec<usize> = (0..block.lines.len())
                .filter(|i| block.lines[*i].starts_with("$ "))
                .chain([block.lines.len()])
                .collect();
            for pair in starts.windows(2) {
                let command = block.lines[pair[0]].trim_start_matches("$ ");
                check(command, &block.lines[pair[0] + 1..pair[1]], folder.path());
                commands += 1;
            }
        } else {
            assert_eq!(block.info, "rust", "a block that no test runs");
        }
    }
    assert!(
        files >= 1 && commands >= 3,
        "{name}: {files} files, {commands} commands"
    );
    for path in guide.split('`').filter(|part| part.starts_with("crates/")) {
        assert!(root().join(path).exists(), "{name} names {path}");
    }
    guide
}

#[test]
fn checking_a_persistent_program() {
    run("crash.md");
}

#[test]
fn adding_a_machine() {
    let guide = run("adding-a-machine.md");
    let machines = Machines::shipped();
    let mut keys = BTreeSet::new();
    for listed in machines.list() {
        for entry in machines.describe(&listed.name, &[]).unwrap().entries() {
            // Devices' keys are documented in the code, and the second part of a cache's or a
            // memory's key is its name.
            let parts: Vec<&str> = entry.key.split(['.', '[']).collect();
            if parts[0] == "memories" && parts.get(2) == Some(&"device") {
                continue;
            }
            let named = ["caches", "memories"].contains(&parts[0]);
            keys.extend(
                parts
                    .iter()
                    .skip(if named { 2 } else { 1 })
                    .map(|p| p.to_string()),
            );
        }
    }
    keys.retain(|key| !key.ends_with(']') && key != "kind");
    for key in keys {
        assert!(
            guide.contains(&format!("`{key}`")),
            "the guide does not explain `{key}`"
        );
    }
}

#[test]
fn adding_a_device() {
    let guide = run("adding-a-device.md");
    let devices = fs::read_to_string(root().join("crates/machine/src/device/mod.rs")).unwrap();
    for kind in ["dram", "pcm", "optane", "cxl", "fpga"] {
        assert!(guide.contains(&format!("| `{kind}` |")), "{kind}");
    }
    assert_eq!(
        devices.matches("\nmod ").count(),
        5,
        "a kind is missing in this test and the guide"
    );
}
