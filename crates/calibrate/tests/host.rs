//! This host, measured briefly: the figures make sense and the file loads. No test asserts a time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics fails"
)]
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use std::sync::OnceLock;

use prestore_calibrate::{Calibration, Effort, calibrate, render, to_toml};
use prestore_machine::{Demote, Machine, MemoryModel};

/// Measured once for all tests; `None`, said aloud, where the system does not describe its caches.
fn host() -> Option<&'static Calibration> {
    static HOST: OnceLock<Option<Calibration>> = OnceLock::new();
    let host = HOST.get_or_init(|| {
        let host = calibrate(Effort::Quick, "a \"test\" CPU \\ 1".into(), |_| {});
        host.inspect_err(|error| eprintln!("SKIPPED: {error}")).ok()
    });
    host.as_ref()
}

#[test]
fn the_machine_file_loads_and_says_what_was_measured() {
    let Some(host) = host() else { return };
    let text = to_toml(host);
    let machine = Machine::parse("host", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(machine.core.count as usize, host.cpus);
    assert_eq!(machine.caches.len(), host.caches.len());
    for (cache, measured) in machine.caches.iter().zip(&host.caches) {
        assert!(cache.size.0 <= measured.size && cache.ways == measured.ways);
        assert_eq!(cache.name, measured.name());
    }
    assert_eq!(machine.core.demote == Demote::Nop, !host.demote_active);
    let tso = machine.core.memory_model == MemoryModel::Tso;
    assert_eq!(tso, cfg!(target_arch = "x86_64"));
}

#[test]
fn every_number_of_the_file_has_a_source_or_a_reason() {
    let Some(host) = host() else { return };
    let mut inherited = false;
    for line in to_toml(host).lines() {
        if line.starts_with('[') {
            inherited = false;
        }
        inherited |= line.starts_with("assumed = ") || line.starts_with("source = ");
        let Some((key, value)) = line.split_once(" = ") else {
            continue;
        };
        let number = value
            .trim_start_matches('"')
            .starts_with(|c: char| c.is_ascii_digit());
        assert!(inherited || !number, "{key} has no source");
    }
}

#[test]
fn unstable_figures_are_said_in_the_file_and_in_the_notes() {
    let Some(host) = host() else { return };
    for (name, figure) in host.figures() {
        let noted = host
            .warnings
            .iter()
            .any(|w| w.starts_with(&format!("{name} is not stable")));
        assert_eq!(noted, !figure.stable, "{name}");
    }
    let file = to_toml(host);
    let says = file
        .lines()
        .any(|line| line.starts_with("fence = ") && line.contains("NOT STABLE"));
    assert_eq!(says, !host.fence.stable);
}

#[test]
fn all_figures_are_in_the_text() {
    let Some(host) = host() else { return };
    let text = render(host);
    for (name, _) in host.figures() {
        assert!(
            text.lines().any(|line| line.starts_with(&name)),
            "{name}: {text}"
        );
    }
    for curve in &host.curves {
        assert!(
            text.contains(&curve.name) && !curve.points.is_empty(),
            "{}",
            curve.name
        );
    }
}
