//! `docs/repro.md` is what one run printed: `make repro` runs it and writes both. Rows that are out of tolerance are listed in
//! `data/out-of-tolerance.toml` and nowhere else.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

mod common;

/// What `prestore repro NAME… --format json` printed.
#[derive(Deserialize)]
struct Report {
    name: String,
    source: String,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    label: String,
    metric: String,
    published: f64,
    /// Of a range.
    published_to: Option<f64>,
    ours: f64,
    deviation: f64,
    kind: String,
    tolerance: f64,
    within: bool,
}

#[derive(Deserialize)]
struct Known {
    row: Vec<OutOfTolerance>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutOfTolerance {
    experiment: String,
    label: String,
    metric: String,
    /// It may be off so far, and no farther.
    deviation: f64,
    /// In a full run it is within tolerance.
    #[serde(default)]
    shortened_only: bool,
    why: String,
}

#[derive(Deserialize)]
struct Figure {
    rows: BTreeMap<String, Published>,
}

#[derive(Deserialize)]
struct Published {
    label: String,
    metric: String,
    is: Option<f64>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    between: Option<(f64, f64)>,
    tolerance: Option<f64>,
}

fn data(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("data")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn reports() -> Vec<Report> {
    run("ours.json")
}

/// What a run printed.
fn run(file: &str) -> Vec<Report> {
    let text = data(file);
    let all = serde_json::Deserializer::from_str(&text).into_iter();
    all.collect::<Result<_, _>>().unwrap()
}

fn known() -> Vec<OutOfTolerance> {
    toml::from_str::<Known>(&data("out-of-tolerance.toml"))
        .unwrap()
        .row
}

fn number(x: f64) -> String {
    if x >= 10.0 {
        format!("{x:.1}")
    } else {
        format!("{x:.3}")
    }
}

/// Why rows moved from the run before to this one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Moved {
    why: String,
}

/// A row that moved by no more than this part of itself is what it was.
const STAYED: f64 = 0.01;

/// The rows that moved from the run before to this one, as lines of a table.
fn moved(before: &[Report], now: &[Report]) -> String {
    let mut lines = String::new();
    for report in now {
        let Some(old) = before.iter().find(|b| b.name == report.name) else {
            continue;
        };
        for row in &report.rows {
            let same = |r: &&Row| (&r.label, &r.metric) == (&row.label, &row.metric);
            let Some(was) = old.rows.iter().find(same) else {
                continue;
            };
            let by = row.ours / was.ours - 1.0;
            if by.abs() > STAYED {
                writeln!(
                    lines,
                    "| `{}`, {}: {} | {} | {} | {:+.1}% |",
                    report.name,
                    row.label,
                    row.metric,
                    number(was.ours),
                    number(row.ours),
                    100.0 * by
                )
                .unwrap();
            }
        }
    }
    lines
}

#[test]
fn rows_that_stayed_are_not_said_to_have_moved() {
    let report = |ours| {
        let text = format!(
            r#"{{"name":"n","source":"s","rows":[{{"label":"l","metric":"m","published":1.0,"ours":{ours},
               "deviation":0.0,"kind":"relative","tolerance":0.25,"within":true}}]}}"#
        );
        vec![serde_json::from_str::<Report>(&text).unwrap()]
    };
    assert_eq!(moved(&report(2.0), &report(2.01)), "");
    assert_eq!(
        moved(&report(2.0), &report(1.9)),
        "| `n`, l: m | 2.000 | 1.900 | -5.0% |\n"
    );
}

/// The page's table.
fn table() -> String {
    let mut page = String::new();
    let known = known();
    for report in reports() {
        writeln!(page, "### `{}`\n\n{}.\n", report.name, report.source).unwrap();
        page.push_str("| what | published | ours | deviation | within |\n|---|---|---|---|---|\n");
        for row in &report.rows {
            let bound = match row.kind.as_str() {
                "at-least" => "≥ ",
                "at-most" => "≤ ",
                _ => "",
            };
            let to = row.published_to.map(|to| format!(" to {}", number(to)));
            let listed = known.iter().filter(|k| !k.shortened_only).any(|k| {
                (&k.experiment, &k.label, &k.metric) == (&report.name, &row.label, &row.metric)
            });
            let within = match (row.within, listed) {
                (true, _) => "yes",
                (false, true) => "no, listed",
                (false, false) => "no",
            };
            writeln!(
                page,
                "| {}: {} | {bound}{}{} | {} | {:+.1}% | {within} |",
                row.label,
                row.metric,
                number(row.published),
                to.unwrap_or_default(),
                number(row.ours),
                100.0 * row.deviation
            )
            .unwrap();
        }
        page.push('\n');
    }
    let rows = moved(&run("before.json"), &reports());
    if !rows.is_empty() {
        let Moved { why } = toml::from_str(&data("moved.toml")).unwrap();
        writeln!(
            page,
            "### What moved since the run before, and why\n\n{why}\n"
        )
        .unwrap();
        page.push_str("| what | before | now | by |\n|---|---|---|---|\n");
        page.push_str(&rows);
        page.push('\n');
    }
    page.push_str("### Out of tolerance, and why\n\n");
    for k in &known {
        writeln!(
            page,
            "- `{}`, {}, {} ({}at most {:.0}% off, or a test fails): {}",
            k.experiment,
            k.label,
            k.metric,
            if k.shortened_only {
                "within tolerance in full; shortened "
            } else {
                ""
            },
            100.0 * k.deviation,
            k.why
        )
        .unwrap();
    }
    page.push('\n');
    page
}

#[test]
fn the_page_is_what_the_run_printed() {
    common::hold(
        "repro.md",
        "<!-- Written by `make repro`: -->\n",
        &format!("\n{}", table()),
        "make repro",
    );
}

#[test]
fn the_run_has_every_published_number_as_it_is_published() {
    let published = |file| toml::from_str::<BTreeMap<String, Figure>>(&data(file)).unwrap();
    let reports = reports();
    let files = ["p0.toml", "p1.toml", "p4.toml"];
    for (name, figure) in files.into_iter().flat_map(published) {
        let report = reports.iter().find(|r| r.name == name);
        let report = report.unwrap_or_else(|| panic!("the run lacks {name}"));
        assert_eq!(report.rows.len(), figure.rows.len(), "{name}");
        for p in figure.rows.values() {
            let row = (report.rows.iter()).find(|r| r.label == p.label && r.metric == p.metric);
            let row = row.unwrap_or_else(|| panic!("{name} lacks {}, {}", p.label, p.metric));
            let is = (p.is.or(p.at_least).or(p.at_most)).or(p.between.map(|range| range.0));
            assert_eq!(Some(row.published), is, "{name}, {}", p.label);
            let to = p.between.map(|range| range.1);
            assert_eq!(row.published_to, to, "{name}, {}", p.label);
            let bound = p.is.is_none();
            let tolerance = if bound {
                0.0
            } else {
                p.tolerance.unwrap_or(0.25)
            };
            assert_eq!(row.tolerance, tolerance, "{name}, {}", p.label);
            assert_eq!(
                row.within,
                row.deviation.abs() <= tolerance,
                "{name}, {}",
                p.label
            );
        }
    }
}

#[test]
fn what_is_out_of_tolerance_is_listed_and_nothing_else_is() {
    let mut known = known();
    known.retain(|k| !k.shortened_only);
    for report in reports() {
        for row in report.rows.iter().filter(|row| !row.within) {
            let at = known.iter().position(|k| {
                (&k.experiment, &k.label, &k.metric) == (&report.name, &row.label, &row.metric)
            });
            let at = at.unwrap_or_else(|| {
                panic!(
                    "{}, {}, {} is not listed",
                    report.name, row.label, row.metric
                )
            });
            let listed = known.swap_remove(at);
            assert!(
                row.deviation.abs() <= listed.deviation,
                "{}, {}: {:+.3} is worse than {}",
                report.name,
                row.label,
                row.deviation,
                listed.deviation
            );
            assert!(!listed.why.is_empty());
        }
    }
    let left: Vec<_> = known.iter().map(|k| (&k.experiment, &k.label)).collect();
    assert!(left.is_empty(), "within tolerance by now: {left:?}");
}
