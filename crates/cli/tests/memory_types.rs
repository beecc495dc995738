//! The command where the kernel module for memory types is loaded: a Debian kernel in an emulated machine.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod common;
#[path = "../../prestore/tests/guest/mod.rs"]
mod guest;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::assert_valid;
use guest::{kernels, no_complaints, scratch};
use serde_json::Value;

/// The command with all that it loads, in the guest's root.
fn install(root: &Path) {
    let command = Path::new(env!("CARGO_BIN_EXE_prestore"));
    guest::run(
        Command::new("strip")
            .arg("-o")
            .arg(root.join("prestore"))
            .arg(command),
    );
    let libraries = guest::run(Command::new("ldd").arg(command));
    for library in libraries.split_whitespace().filter(|w| w.starts_with('/')) {
        let copy = root.join(library.trim_start_matches('/'));
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(library, copy).unwrap();
    }
}

/// What a command printed in the guest.
fn printed<'a>(console: &'a str, title: &str) -> &'a str {
    let begin = format!("BEGIN {title}\n");
    let text = console.split_once(&begin).map(|(_, rest)| rest);
    let text = text.and_then(|rest| rest.split_once(&format!("\nEND {title}\n")));
    text.unwrap_or_else(|| panic!("no {title}: {console}")).0
}

#[test]
fn types_are_measured_where_the_module_is_loaded() {
    for kernel in kernels() {
        let scratch = scratch(&format!("memory-types-{}", kernel.version));
        let root = kernel.root(&scratch);
        install(&root);
        kernel.init(&root, "command", &[]);
        // Without the kernel's own messages among the command's.
        let console = kernel.boot(&root, "loglevel=3");
        no_complaints(&console);

        let without = printed(&console, "types without module");
        assert!(without.contains("modprobe prestore"), "{without}");
        assert!(
            console.contains("TEST types without module: exit code 2"),
            "{console}"
        );
        let text = printed(&console, "types");
        for word in ["WB", "WT", "WC", "UC", "read GB/s", "flush ns"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(console.contains("TEST types: exit code 0"), "{console}");
        let json: Value = serde_json::from_str(printed(&console, "types as json")).unwrap();
        assert_valid("bench-types.schema.json", &json);
        let types = json["types"].as_array().unwrap();
        let names: Vec<_> = types.iter().map(|t| t["memory_type"].as_str()).collect();
        assert_eq!(names, ["WB", "WT", "WC", "UC"].map(Some));
        let doctor: Value = serde_json::from_str(printed(&console, "doctor")).unwrap();
        let checks = doctor["checks"].as_array().unwrap();
        let check = checks.iter().find(|c| c["name"] == "memory-types").unwrap();
        assert_eq!(check["status"], "ok", "{check}");
        assert!(check["detail"].as_str().unwrap().contains("WB, WT, WC, UC"));
        assert!(console.contains("TEST 0 used at last"), "{console}");
    }
}
