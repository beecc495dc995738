//! `docs/caching-modes.md` has the table of one run: `make modes` runs it and writes both.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

const BEGIN: &str = "<!-- Written by `make modes`: -->\n";
const END: &str = "<!-- up to here. -->\n";
const WAYS: [&str; 8] = [
    "clflush",
    "clflushopt",
    "clwb",
    "demote",
    "NT",
    "WT",
    "WC",
    "UC",
];

/// Where a way's time by clwb's is; `None`: the machine cannot have it.
fn time(row: &Value, way: &str) -> Option<f64> {
    row["by_clwb"].get(way)?.as_f64()
}

fn table(report: &Value) -> String {
    let mut page = String::from("\n| machine | program |");
    for way in WAYS {
        write!(page, " {way} |").unwrap();
    }
    page.push_str("\n|---|---|");
    page.push_str(&"---|".repeat(WAYS.len()));
    page.push('\n');
    for row in report["today"].as_array().unwrap() {
        let (machine, program) = (row["machine"].as_str(), row["program"].as_str());
        write!(page, "| {} | `{}` |", machine.unwrap(), program.unwrap()).unwrap();
        let times = WAYS.map(|way| time(row, way));
        let least = times.iter().flatten().copied().fold(f64::MAX, f64::min);
        for time in times {
            match time {
                None => page.push_str(" – |"),
                Some(t) if t <= least => write!(page, " **{t:.2}** |").unwrap(),
                Some(t) => write!(page, " {t:.2} |").unwrap(),
            }
        }
        page.push('\n');
    }
    page.push('\n');
    page
}

#[test]
fn the_page_has_what_the_run_printed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = std::fs::read_to_string(here.join("data/modes.json")).unwrap();
    let wanted = table(&serde_json::from_str(&data).unwrap());
    let path = here.join("../../docs/caching-modes.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let begin = page
        .find(BEGIN)
        .expect("the page has a place for the table")
        + BEGIN.len();
    let end = begin + page[begin..].find(END).expect("and its end");
    if std::env::var_os("PRESTORE_WRITE_REPRO").is_some() {
        let written = format!("{}{wanted}{}", &page[..begin], &page[end..]);
        std::fs::write(&path, written).unwrap();
        return;
    }
    assert_eq!(
        &page[begin..end],
        wanted,
        "docs/caching-modes.md is not of data/modes.json: make modes"
    );
}
