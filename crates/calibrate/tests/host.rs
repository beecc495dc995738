//! This host, measured briefly: the figures make sense and the file loads. No test asserts a time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics fails"
)]
#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use std::sync::OnceLock;

use prestore_calibrate::{Calibration, Effort, Figure, calibrate, render, to_toml};
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

/// Whatever neighbours do to a figure while it is measured.
#[test]
fn files_of_disturbed_hosts_load() {
    let Some(host) = host() else { return };
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut disturbed = |figure: &mut Figure| {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let share = (random >> 33) as f64 / (1u64 << 31) as f64;
        *figure = figure.scaled(20f64.powf(share), figure.unit);
    };
    let mut assumed = 0;
    for _ in 0..300 {
        let mut host = host.clone();
        let latencies = host.latencies.iter_mut().map(|level| &mut level.figure);
        let cleans = host.clean.iter_mut();
        let all = [&mut host.clock, &mut host.width, &mut host.memory_latency];
        all.into_iter()
            .chain([&mut host.loads_per_cycle, &mut host.stores_per_cycle])
            .chain([&mut host.fence, &mut host.store_fence, &mut host.atomic])
            .chain(host.fill_buffers.iter_mut().chain(&mut host.store_lines))
            .chain(host.stores_ahead.iter_mut().chain(&mut host.store_buffer))
            .chain(host.reorder_buffer.iter_mut().chain(&mut host.merged))
            .chain(host.demotions.iter_mut().chain(&mut host.read_written))
            .chain(cleans.flat_map(|c| [&mut c.write_back, &mut c.load_cleaned, &mut c.line]))
            .chain(latencies)
            .for_each(&mut disturbed);
        let text = to_toml(&host);
        let machine = Machine::parse("host", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let instead = host.in_order();
        assert_eq!(instead.last(), Some(&None), "the last level is believed");
        assumed += instead.iter().flatten().count();
        for (cache, (latency, instead)) in machine
            .caches
            .iter()
            .zip(host.latencies.iter().zip(instead))
        {
            let ns = instead.unwrap_or(latency.figure.value());
            let cycles = ns * host.clock.value();
            assert!((cache.latency.0 / cycles - 1.0).abs() < 0.02, "{text}");
        }
    }
    assert!(assumed > 10 || host.caches.len() == 1, "{assumed}");
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
