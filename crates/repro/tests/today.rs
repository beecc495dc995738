//! The table of `docs/caching-modes.md` is what `prestore repro p1-today --quick` printed: `make repro-today` runs it and writes both.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde::Deserialize;

mod common;

/// The columns: ways to write the programs.
const WAYS: [&str; 8] = [
    "clwb",
    "clflushopt",
    "clflush",
    "demote",
    "NT",
    "WT",
    "WC",
    "UC",
];

/// What is said of each machine and program: time by that of `clwb`.
#[derive(Deserialize)]
struct Row {
    machine: String,
    program: String,
    by_clwb: BTreeMap<String, f64>,
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/today.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut report: serde_json::Value = serde_json::from_str(&text).unwrap();
    serde_json::from_value(report["today"].take()).unwrap()
}

fn table(rows: &[Row]) -> String {
    let mut out = String::from("\n| program | machine |");
    for way in WAYS {
        write!(out, " {way} |").unwrap();
    }
    out.push_str("\n|---|---|");
    out.push_str(&"---|".repeat(WAYS.len()));
    out.push('\n');
    for row in rows {
        write!(out, "| `{}` | {} |", row.program, row.machine).unwrap();
        let least = row.by_clwb.values().copied().fold(f64::INFINITY, f64::min);
        for way in WAYS {
            match row.by_clwb.get(way) {
                Some(by) if *by == least => write!(out, " **{by:.2}** |").unwrap(),
                Some(by) => write!(out, " {by:.2} |").unwrap(),
                None => out.push_str(" – |"),
            }
        }
        out.push('\n');
    }
    out.push('\n');
    out
}

#[test]
fn the_page_is_what_the_run_printed() {
    common::hold(
        "caching-modes.md",
        "<!-- Written by `make repro-today`: -->\n",
        &table(&rows()),
        "make repro-today",
    );
}

#[test]
fn every_way_is_a_column_and_every_program_is_on_every_machine() {
    let rows = rows();
    assert_eq!(rows.len(), 20);
    for row in &rows {
        let unknown = row.by_clwb.keys().find(|way| !WAYS.contains(&way.as_str()));
        assert_eq!(unknown, None, "{}, {}", row.machine, row.program);
        assert_eq!(row.by_clwb["clwb"], 1.0);
    }
}

#[test]
fn the_least_is_bold_and_what_a_machine_lacks_is_a_dash() {
    let by_clwb = [("clwb", 1.0), ("WT", 0.5)];
    let row = Row {
        machine: "m".into(),
        program: "p".into(),
        by_clwb: by_clwb.map(|(way, by)| (way.to_owned(), by)).into(),
    };
    let table = table(&[row]);
    let line = table.lines().nth(3).unwrap();
    assert_eq!(
        line,
        "| `p` | m | 1.00 | – | – | – | – | **0.50** | – | – |"
    );
}
