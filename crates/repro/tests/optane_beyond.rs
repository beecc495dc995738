//! The Optane model where nothing was fitted: strides, six interleaved DIMMs, more than eight threads. What is beyond 10% is
//! listed in `data/out-of-tolerance.toml`, and may not get worse.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use optane_points::{Numbers, Points};
use prestore_repro::optane::{
    Half, Measurements, Operation, Point, Task, machine, read_measurements, simulate,
};
use serde::Deserialize;

mod common;
mod optane_points;

/// Writes what is held here.
const COMMAND: &str = "make repro-optane";

/// What was measured, and with how many DIMMs.
const FILES: [(&str, u32); 2] = [("sweep_1dimm_strided.csv", 1), ("sweep_6dimm.csv", 6)];

/// The bar, a median.
const TOLERANCE: f64 = 0.10;

/// Of the points that are not for calibration, one in so many is run.
const ONE_IN: usize = 6;

#[derive(Deserialize)]
struct Known {
    beyond: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: String,
    median: f64,
    why: String,
}

fn data() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/data"))
}

fn kind(point: &Point, dimms: u32) -> String {
    let what = match point.work.operation {
        Operation::Load => "loads",
        Operation::Store => "stores",
        Operation::StoreFlush => "stores and flushes",
        Operation::NtStore => "ntstores",
    };
    let how = match point.work.task_type {
        Task::Stride => "strided",
        _ => "random",
    };
    let many = if point.work.threads > 8 {
        ", more than 8 threads"
    } else {
        ""
    };
    format!(
        "{how} {what}, {dimms} DIMM{}{many}",
        if dimms > 1 { "s" } else { "" }
    )
}

/// The points that are run, by their kinds, and what they gave.
fn beyond(of: impl FnOnce(&Points<'_, (u32, Point)>)) {
    let mut points = Vec::new();
    for (file, dimms) in FILES {
        let read = read_measurements(&data().join("optane-beyond").join(file)).unwrap();
        for measured in read {
            let Measurements::Sweep(sweep) = measured else {
                panic!("{file} is no sweep");
            };
            let check = sweep
                .into_iter()
                .filter(|p| Half::of(&p.work) == Half::Check);
            points.extend(check.step_by(ONE_IN).map(|point| {
                let name = format!("{} on {dimms} DIMMs", point.work);
                (kind(&point, dimms), name, (dimms, point))
            }));
        }
    }
    let machines = FILES.map(|(_, dimms)| (dimms, machine(dimms, &[]).unwrap()));
    of(&Points {
        file: "optane-beyond-ours.csv",
        points,
        run: &|(dimms, point)| {
            let machine = machines.iter().find(|(of, _)| of == dimms);
            let simulated = simulate(&machine.unwrap().1, point, 1).unwrap();
            Numbers {
                ours: simulated.throughput_mb_s,
                ewr: simulated.ewr,
            }
        },
        command: COMMAND,
    });
}

/// Absolute deviations of the bandwidth, by kind.
fn deviations() -> BTreeMap<String, Vec<f64>> {
    let mut all: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    beyond(|points| {
        for ((kind, _, (_, point)), numbers) in points.points.iter().zip(points.numbers()) {
            if let Some(theirs) = point.throughput_mb_s {
                let off = (numbers.ours / theirs - 1.0).abs();
                all.entry(kind.clone()).or_default().push(off);
            }
        }
    });
    all
}

/// Part of `make soak`.
#[test]
#[ignore = "takes minutes"]
fn every_point_gives_what_it_gave() {
    beyond(|points| points.hold_every());
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of[of.len() / 2]
}

#[test]
fn what_nothing_was_fitted_to_is_met_or_listed() {
    let text = std::fs::read_to_string(data().join("out-of-tolerance.toml")).unwrap();
    let mut known = toml::from_str::<Known>(&text).unwrap().beyond;
    let mut wrong = Vec::new();
    let mut page =
        "\n| kind | points run | median deviation | bar of 10 % |\n|---|---|---|---|\n".to_owned();
    for (kind, deviations) in deviations() {
        let points = deviations.len();
        let median = median(deviations);
        let met = if median <= TOLERANCE { "met" } else { "missed" };
        writeln!(
            page,
            "| {kind} | {points} | {:.1} % | {met} |",
            100.0 * median
        )
        .unwrap();
        let listed = known
            .iter()
            .position(|k| k.kind == kind)
            .map(|at| known.swap_remove(at));
        match listed {
            Some(k) if median > k.median || k.why.is_empty() => {
                wrong.push(format!("{kind}: {median:.3} is worse than {}", k.median));
            }
            Some(_) if median <= TOLERANCE => {
                wrong.push(format!(
                    "{kind}: {median:.3}, met now, take it from the list"
                ));
            }
            None if median > TOLERANCE => {
                wrong.push(format!("{kind}: {median:.3} is not listed"));
            }
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{}\n{page}", wrong.join("\n"));
    let left: Vec<_> = known.iter().map(|k| &k.kind).collect();
    assert!(left.is_empty(), "no points of {left:?}");
    page.push('\n');
    common::hold(
        "optane.md",
        "<!-- Written by `make repro-optane`, beyond: -->\n",
        &page,
        COMMAND,
    );
}
