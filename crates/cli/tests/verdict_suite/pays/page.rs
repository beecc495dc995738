//! docs/verdicts.md, and what of it does not hold: listed in one place, and not to get worse.

use std::fmt::Write;

use serde::Deserialize;

use super::host::{Host, Measured};
use super::row::NO_HARM;
use super::{Place, Row, WRITE, read};
use crate::common::root;

/// disagreements.toml.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Known {
    #[serde(default)]
    row: Vec<Disagreement>,
}

/// A row that does not hold, and why.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Disagreement {
    program: String,
    function: String,
    /// [`Row::worst`], at least.
    worst: f64,
    why: String,
}

impl Known {
    pub fn read() -> Self {
        toml::from_str(include_str!("../disagreements.toml")).unwrap()
    }

    fn of(&self, place: &Place) -> Option<&Disagreement> {
        let mut rows = self.row.iter();
        rows.find(|d| d.program == place.program && d.function == place.function)
    }

    /// What does not hold and is not listed, or is worse than listed; what is listed and holds.
    pub fn wrong(&self, rows: &[Row]) -> Vec<String> {
        let mut wrong = Vec::new();
        for row in rows {
            let worst = row.worst();
            match self.of(&row.place) {
                None if !row.holds() => wrong.push(format!("does not hold: {row:?}")),
                Some(d) if worst < d.worst => wrong.push(format!("worse than listed: {row:?}")),
                Some(_) if row.holds() => wrong.push(format!("listed, and holds: {row:?}")),
                _ => {}
            }
        }
        for d in &self.row {
            let is = |row: &Row| row.place.program == d.program && row.place.function == d.function;
            if !rows.iter().any(is) {
                wrong.push(format!("listed, and there is no such place: {d:?}"));
            }
        }
        wrong
    }
}

const COLUMNS: [(&str, &str); 4] = [
    ("machine-a", "clean"),
    ("machine-a", "skip"),
    ("machine-b-slow", "clean"),
    ("machine-b-slow", "demote"),
];

fn simulated(row: &Row, known: &Known) -> String {
    let place = &row.place;
    let mut line = format!(
        "| `{}` | `{}` | {} |",
        place.program, place.function, row.verdict
    );
    for (machine, op) in COLUMNS {
        let mark = if op == row.verdict { "**" } else { "" };
        match row.gains.get(machine).and_then(|g| g.get(op)) {
            Some(gain) => write!(line, " {mark}{gain:.2}{mark} |").unwrap(),
            None => line.push_str(" – |"),
        }
    }
    let holds = match (row.holds(), known.of(place)) {
        (true, _) => "yes",
        (false, Some(_)) => "no, listed",
        (false, None) => "**no**",
    };
    write!(line, " {holds} |").unwrap();
    line
}

/// What a host measured of an operation.
fn measured(m: Option<&Measured>, verdict: &str) -> String {
    let Some(m) = m else {
        return " – |".to_owned();
    };
    let [low, middle, high] = m.gain;
    let harm = high < 1.0 && middle < NO_HARM && m.op == verdict;
    let mark = if harm { "**" } else { "" };
    format!(" {mark}{middle:.2}{mark} ({low:.2} to {high:.2}) |")
}

/// A line for each operation of a place that any host measured.
fn on_hosts(row: &Row, hosts: &[Host]) -> String {
    let mut lines = String::new();
    for op in ["clean", "demote", "skip"] {
        if hosts.iter().all(|h| h.of(&row.place, op).is_none()) {
            continue;
        }
        let (place, verdict) = (&row.place, &row.verdict);
        let (program, function) = (&place.program, &place.function);
        write!(lines, "| `{program}` | `{function}` | {op} | {verdict} |").unwrap();
        for host in hosts {
            lines.push_str(&measured(host.of(place, op), verdict));
        }
        lines.push('\n');
    }
    lines
}

const INTRODUCTION: &str = "# Is the advice worth following?

<!-- Written by `make verdicts` and `make verdicts-host`; do not edit. -->

The programs of the verdict suite (`workloads/README.md`) at `-O2`, with one thread where they can choose.

## On the paper's machines

Recorded and simulated (`prestore whatif --op`): the program's time over its time with the operation at the place, in the best way
to write it; the advised one is bold. Machine A writes to larger units than a line, machine B's fences wait long for a line. The
verdict holds where, on both, following it costs at most 3% and no other operation gains 3% more. Where non-temporal stores are
plain ones (machine B), clean stands for skip, as in P0's section 7.3.1; on machine A no instruction demotes.

| program | place | verdict | A: clean | A: skip | B: clean | B: demote | holds |
|---|---|---|---|---|---|---|---|
";

const HOSTS: &str = "
## On hosts with DRAM

The programs' own `--op`, skip as a buffer that is copied. Base and operation run by turns, on larger data than is recorded; medians of their
ratios with the medians' 95% intervals, which are wide where others shared the machine. DRAM has no larger unit than a line, so what
clean gains on machine A cannot show here, what it costs can: the advice is for data in memory that is slow, coarse-grained or far, and
for data in DRAM it costs; where the advised operation does, the figure is bold. `prestore advise --machine host` heads such a finding
`leave alone on host`.

";

fn page() -> String {
    let (rows, hosts, known): (Vec<Row>, Vec<Host>, Known) =
        (read("simulated.json"), Host::all(), Known::read());
    let mut page = INTRODUCTION.to_owned();
    for row in &rows {
        writeln!(page, "{}", simulated(row, &known)).unwrap();
    }
    page.push_str("\n### What does not hold, and why\n\n");
    for d in &known.row {
        writeln!(
            page,
            "- `{}`, `{}` (at least {:.2} of what would hold, or a test fails): {}",
            d.program, d.function, d.worst, d.why
        )
        .unwrap();
    }
    if known.row.is_empty() {
        page.push_str("Everything holds.\n");
    }
    page.push_str(HOSTS);
    let (mut header, mut rule) = (String::new(), String::new());
    for host in &hosts {
        let does = |(op, instruction): (&String, &String)| format!("{op} is `{instruction}`");
        let instructions: Vec<String> = host.instructions.iter().map(does).collect();
        writeln!(page, "- {}: {}", host.cpu, instructions.join(", ")).unwrap();
        write!(header, " {} |", host.cpu).unwrap();
        rule.push_str("---|");
    }
    write!(
        page,
        "\n| program | place | operation | verdict |{header}\n|---|---|---|---|{rule}\n"
    )
    .unwrap();
    for row in &rows {
        page.push_str(&on_hosts(row, &hosts));
    }
    page
}

fn path() -> std::path::PathBuf {
    root().join("docs/verdicts.md")
}

pub(super) fn write() {
    std::fs::write(path(), page()).unwrap();
}

#[test]
fn the_page_is_what_was_found() {
    if std::env::var_os(WRITE).is_some() {
        return write();
    }
    let written = std::fs::read_to_string(path()).unwrap();
    assert_eq!(
        written,
        page(),
        "docs/verdicts.md is not of its data: make verdicts"
    );
}

#[test]
fn what_does_not_hold_is_listed() {
    let rows: Vec<Row> = read("simulated.json");
    let wrong = Known::read().wrong(&rows);
    assert!(wrong.is_empty(), "{wrong:#?}");
}
