//! P1's programs ask the kernel module for memory of a type, and say so where there is none.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]
#![cfg(target_arch = "x86_64")]

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::workload;

const PROGRAMS: [(&str, &str); 4] = [
    ("modes_array", "--elements=1000"),
    ("modes_queue", "--elements=100"),
    ("modes_hash", "--elements=100"),
    ("modes_cowlist", "--mutations=10"),
];

fn run(program: &str, arguments: &[&str]) -> Output {
    let program = workload(program).unwrap();
    Command::new(program).args(arguments).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_type_is_asked_of_the_kernel_module() {
    let loaded = Path::new("/dev/prestore").exists();
    for (program, size) in PROGRAMS {
        for memory in ["wb", "wt", "wc", "uc"] {
            let of = format!("--type={memory}");
            let output = run(program, &[size, "--form=clflush", &of]);
            let said = said(&output);
            if output.status.success() {
                assert!(loaded, "{program} {of} ran on something else");
                continue;
            }
            assert_eq!(output.status.code(), Some(1), "{program} {of}: {said}");
            assert!(said.contains(&format!("no memory for {of}: ")), "{said}");
            assert!(said.contains("/dev/prestore"), "{said}");
            assert!(loaded || said.contains("modprobe prestore"), "{said}");
        }
    }
}

#[test]
fn a_file_has_the_type_that_its_file_system_gives_it() {
    for check in ["--check=no", "--check=yes"] {
        let output = run("modes_queue", &["--type=wt", "--file=pool", check]);
        assert_eq!(output.status.code(), Some(2));
        assert!(said(&output).contains("give --file or --type, not both"));
    }
    let output = run("modes_queue", &["--type=xx"]);
    assert_eq!(output.status.code(), Some(2));
}
