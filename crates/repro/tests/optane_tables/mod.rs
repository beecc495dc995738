//! The tables of `docs/optane.md`.

use std::collections::BTreeMap;
use std::fmt::Write;

use prestore_repro::{Deviation, Row};

/// Threads that the sweep has.
const THREADS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// Deviations of the check half: the sweep's curves by threads, then the figures, then the median.
pub fn check_half(rows: &[Row]) -> String {
    let mut page = String::new();
    for (metric, what) in [
        ("MB/s", "Throughput of the sweep, by threads:"),
        ("EWR", "Effective write ratio of the sweep, by threads:"),
    ] {
        writeln!(page, "\n{what}\n").unwrap();
        sweep(rows, metric, &mut page);
    }
    page.push_str("\nThe figures:\n\n| figure | deviation |\n|---|---|\n");
    let figures = rows.iter().filter(|row| {
        row.kind == Deviation::Mean && !["MB/s", "EWR"].contains(&row.metric.as_str())
    });
    for row in figures {
        let cell = cell(row);
        writeln!(page, "| {} ({}) | {cell} |", curve(row), row.metric).unwrap();
    }
    let medians = rows.iter().filter(|row| row.kind == Deviation::Median);
    for row in medians {
        writeln!(page, "\nMedian over all points: {} %.\n", cell(row)).unwrap();
    }
    page
}

/// A line a curve, a column a number of threads.
fn sweep(rows: &[Row], metric: &str, page: &mut String) {
    let mut curves: BTreeMap<&str, BTreeMap<u32, String>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.metric == metric) {
        let Some((name, threads)) = curve(row)
            .strip_suffix(" threads")
            .and_then(|c| c.rsplit_once(", "))
        else {
            continue;
        };
        let threads = threads.parse().unwrap();
        assert!(THREADS.contains(&threads), "{threads} threads");
        curves.entry(name).or_default().insert(threads, cell(row));
    }
    page.push_str("| curve |");
    for threads in THREADS {
        write!(page, " {threads} |").unwrap();
    }
    page.push_str("\n|---|---|---|---|---|---|---|\n");
    for (name, cells) in curves {
        write!(page, "| {name} |").unwrap();
        for threads in THREADS {
            write!(page, " {} |", cells.get(&threads).map_or("", |c| c)).unwrap();
        }
        page.push('\n');
    }
}

fn curve(row: &Row) -> &str {
    row.label.strip_suffix(" (check)").unwrap_or(&row.label)
}

/// In percent; bold where it is beyond its tolerance.
fn cell(row: &Row) -> String {
    let percent = format!("{:.1}", 100.0 * row.deviation);
    if row.within {
        percent
    } else {
        format!("**{percent}**")
    }
}
