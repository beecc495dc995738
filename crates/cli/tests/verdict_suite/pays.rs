//! Is the advice worth following? The simulator says, of each place of the suite, what it would gain by the advice
//! and by each of the others.

use std::fmt::Write;
use std::path::Path;

use crate::cases::{CASES, Case};
use crate::common::{self, findings, level};
use crate::is_in;

/// Below this the advice does harm.
const NO_HARM: f64 = 0.97;
/// Another operation is better if it gains this much more.
const BETTER: f64 = 1.03;
const OPS: [&str; 3] = ["clean", "skip", "demote"];

/// What became of one place.
struct Row {
    case: &'static Case,
    function: &'static str,
    verdict: String,
    machine: &'static str,
    /// By each of [`OPS`].
    gains: [f64; 3],
}

impl Row {
    /// Following the advice does no harm, and nothing else is clearly better.
    fn holds(&self) -> bool {
        let advised = OPS.iter().position(|op| *op == self.verdict);
        let own = advised.map_or(1.0, |i| self.gains[i]);
        let others = self.gains.iter().enumerate();
        let best = others
            .filter(|(i, _)| Some(*i) != advised)
            .map(|(_, gain)| *gain)
            .fold(0.0, f64::max);
        own >= NO_HARM && best <= own * BETTER
    }

    fn text(&self) -> String {
        let args = self.case.args.join(" ");
        let mut line = format!(
            "| `{} {args}` | `{}` | {} | {} |",
            self.case.program, self.function, self.verdict, self.machine
        );
        for (op, gain) in OPS.iter().zip(self.gains) {
            let own = if *op == self.verdict { "**" } else { "" };
            write!(line, " {own}{gain:.2}{own} |").unwrap();
        }
        line + if self.holds() { " yes |" } else { " **no** |" }
    }
}

/// Gain of `op` at finding `number`, in the best way to write it.
fn gain(recording: &Path, machine: &str, number: u64, op: &str) -> f64 {
    let number = number.to_string();
    let predicted = common::run([
        "whatif",
        common::text(recording),
        "--machine",
        machine,
        "--finding",
        &number,
        "--op",
        op,
        "--simulations",
        "1",
        "--quiet",
        "--format",
        "json",
    ])
    .exits(0)
    .json();
    let ways = predicted["machines"][0]["findings"].as_array().unwrap();
    let gains = ways.iter().filter_map(|f| f["speedup"].as_f64());
    gains.fold(0.0, f64::max)
}

fn rows(case: &'static Case, folder: &Path) -> Vec<Row> {
    let Some(program) = level("O2", case.program) else {
        return Vec::new();
    };
    let recording = folder.join(format!("{}.trace", case.program));
    let _ = std::fs::remove_dir_all(&recording);
    let mut command = vec!["record", "--quiet", "-o", common::text(&recording), "--"];
    command.push(common::text(&program));
    command.extend(case.args);
    let threads = case.threads.first().map(|n| format!("--threads={n}"));
    command.extend(threads.as_deref());
    common::run(command).exits(0);
    let report = common::run([
        "advise",
        common::text(&recording),
        "--quiet",
        "--format",
        "json",
    ])
    .exits(0)
    .json();
    let place = |(function, _): &(&'static str, &[&str])| {
        let finding = findings(&report).iter().find(|f| is_in(f, function))?;
        let verdict = finding["verdict"].as_str()?.to_owned();
        // Demoting pays where a line's way to other cores is long: the paper's machine B.
        let machine = match verdict.as_str() {
            "demote" => "machine-b-slow",
            _ => "machine-a",
        };
        let number = finding["number"].as_u64()?;
        Some(Row {
            case,
            function,
            gains: OPS.map(|op| gain(&recording, machine, number, op)),
            verdict,
            machine,
        })
    };
    case.places.iter().filter_map(place).collect()
}

fn page(rows: &[Row]) -> String {
    let mut page = String::from(
        "# Is the advice worth following?\n\n\
         <!-- Written by `make soak`; do not edit. -->\n\n\
         The programs of the verdict suite at `-O2`, one thread where they can choose, recorded and simulated: what the\n\
         program gains if each operation is applied at the place, in the best way to write it; the advised one is bold.\n\
         It holds where the advice does no harm (from 0.97 on) and no other operation gains 3% more than it.\n\n\
         | program | place | verdict | machine | clean | skip | demote | holds |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        writeln!(page, "{}", row.text()).unwrap();
    }
    page
}

/// Writes the table to `PRESTORE_SOAK_VERDICTS`, if that is set.
#[test]
#[ignore = "long: make soak"]
fn following_the_advice_pays() {
    let folder = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = CASES
        .iter()
        .flat_map(|case| rows(case, folder.path()))
        .inspect(|row| println!("{}", row.text()))
        .collect();
    if let Ok(path) = std::env::var("PRESTORE_SOAK_VERDICTS") {
        std::fs::write(path, page(&rows)).unwrap();
    }
    let wrong = rows.iter().filter(|row| !row.holds()).count();
    assert_eq!(wrong, 0, "places whose advice does not pay");
}
