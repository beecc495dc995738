//! Every instruction forced in turn through the environment, in a process each, as the choice is made once.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a helper that fails fails its test"
)]
#![cfg(target_arch = "x86_64")]

use std::process::Command;

use prestore::{Op, query};

/// Run in the child: uses every operation and prints what stands behind each.
#[test]
#[ignore = "run by the other tests, in a process with switches"]
fn child() {
    let source: Vec<u8> = (0..4000u32).map(|i| i as u8).collect();
    let mut target = vec![0; 4000];
    for size in [0, 1, 63, 64, 65, 1000, 3900] {
        prestore::copy_skip(&mut target[7..7 + size], &source[..size]);
        prestore::clean(&target);
        prestore::demote(&target);
        assert_eq!(target[7..7 + size], source[..size]);
        prestore::fill_skip(&mut target[3..3 + size], 9);
        assert!(target[3..3 + size].iter().all(|&b| b == 9));
    }
    for op in [Op::Demote, Op::Clean, Op::Skip] {
        let info = query(op);
        let warned = info.warning.is_some();
        println!(
            "@{op:?} {}|{}|{:?}|{warned}",
            info.instruction, info.active, info.retains
        );
        assert!(!info.reason.is_empty() && !info.line_source.is_empty());
        assert!(info.line_size.is_power_of_two());
    }
}

/// What the child says about `op` under the switches.
fn with(switches: &[(&str, &str)], op: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PRESTORE_")) {
        command.env_remove(name);
    }
    let output = command.envs(switches.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{switches:?}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let start = format!("@{op} ");
    let after = text.split_once(&start).unwrap().1;
    after.lines().next().unwrap().to_owned()
}

fn cpu_has(flag: &str) -> bool {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = info.lines().find(|line| line.starts_with("flags")).unwrap();
    let has = flags.split_whitespace().any(|f| f == flag);
    if !has {
        eprintln!("this CPU has no {flag}: expecting a refusal instead");
    }
    has
}

#[test]
fn every_cleaning_instruction() {
    for (name, retains) in [
        ("clwb", "CpuDecides"),
        ("clflushopt", "No"),
        ("clflush", "No"),
    ] {
        let said = with(&[("PRESTORE_FORCE_CLEAN", name)], "Clean");
        if cpu_has(name) {
            assert_eq!(said, format!("{name}|true|{retains}|false"));
        } else {
            assert!(said.ends_with("|true"), "{name} is refused aloud: {said}");
        }
    }
    let none = with(&[("PRESTORE_FORCE_CLEAN", "none")], "Clean");
    assert_eq!(none, "none|false|Yes|false");
}

#[test]
fn every_kind_of_skipping_store() {
    for (name, value, flag) in [
        ("movnt sse2", "movnt_sse2", "sse2"),
        ("movnt avx", "movnt_avx", "avx"),
        ("movnt avx512", "movnt_avx512", "avx512f"),
    ] {
        let said = with(&[("PRESTORE_FORCE_SKIP", value)], "Skip");
        if cpu_has(flag) {
            assert_eq!(said, format!("{name}|true|No|false"));
        } else {
            assert!(said.ends_with("|true"), "{name} is refused aloud: {said}");
        }
    }
    let plain = with(&[("PRESTORE_FORCE_SKIP", "plain_stores")], "Skip");
    assert_eq!(plain, "plain stores|false|Yes|false");
}

#[test]
fn cldemote_runs_on_every_cpu_and_is_said_to_do_nothing_without_the_feature() {
    let said = with(&[("PRESTORE_FORCE_DEMOTE", "cldemote")], "Demote");
    let active = cpu_has("cldemote");
    assert_eq!(said, format!("cldemote|{active}|Yes|false"));
    let none = with(&[("PRESTORE_NO_CLDEMOTE", "1")], "Demote");
    assert_eq!(none, "none|false|Yes|false");
}

#[test]
fn a_cpu_without_clwb_cleans_nothing_unless_invalidating_is_allowed() {
    let without = ("PRESTORE_NO_CLWB", "1");
    assert_eq!(with(&[without], "Clean"), "none|false|Yes|false");
    if cpu_has("clflushopt") {
        let allowed = with(
            &[without, ("PRESTORE_CLEAN_FALLBACK", "invalidate")],
            "Clean",
        );
        assert_eq!(allowed, "clflushopt|true|No|false");
    }
    let oldest = with(
        &[
            without,
            ("PRESTORE_NO_CLFLUSHOPT", "1"),
            ("PRESTORE_CLEAN_FALLBACK", "invalidate"),
        ],
        "Clean",
    );
    assert_eq!(oldest, "clflush|true|No|false");
}

#[test]
fn switches_that_mean_nothing_are_not_silent() {
    for switch in [
        ("PRESTORE_FORCE_CLEAN", "clwbb"),
        ("PRESTORE_FORCE_CLEAN", "dc_cvac"),
        ("PRESTORE_CLEAN_FALLBACK", "1"),
    ] {
        assert!(with(&[switch], "Clean").ends_with("|true"), "{switch:?}");
    }
}
