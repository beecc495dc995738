//! The result for people: a table, and below each row what was not changed.

use std::fmt::Write as _;

use prestore_report::seconds;
use prestore_whatif::Speedup;

use super::compare::Sameness;
use super::report::{Effect, TriedFinding, TryReport};

/// Width of the column of places.
const PLACE: usize = 34;

/// `report` on lines of at most `width` characters where words allow it.
pub fn of(report: &TryReport, width: usize) -> String {
    let mut text = format!("\nTried: {}\n", report.command.join(" "));
    let _ = writeln!(
        text,
        "{} round{}, under the engine: {} unchanged ({} to {})\n",
        report.runs,
        if report.runs == 1 { "" } else { "s" },
        seconds(report.base.seconds),
        seconds(report.base.least),
        seconds(report.base.most)
    );
    let _ = writeln!(
        text,
        "     {:PLACE$}  {:7} {:>8}  speed-up (least to most)",
        "finding", "advice", "changed"
    );
    for finding in &report.findings {
        row(&mut text, finding, width);
    }
    if let Some(together) = &report.together {
        let changed: u64 = report.findings.iter().map(|f| f.changed).sum();
        let all: u64 = report.findings.iter().map(|f| f.instructions).sum();
        let _ = writeln!(
            text,
            "     {:PLACE$}  {:7} {:>8}  {}",
            "all together",
            "",
            format!("{changed}/{all}"),
            gain(&together.speedup, together.clear)
        );
        below(&mut text, together, width);
    }
    text.push('\n');
    if report.effects().any(|e| !e.clear) {
        text += "~ not in every round on one side of 1, or less than 1%: noise, or no change\n";
    }
    if varies(report, |e| e.stdout) {
        text += &wrapped(
            "What the program prints differs between its unchanged runs (a time, an address?): whether a change alters it \
             cannot be told.",
            "",
            width,
        );
    }
    if varies(report, |e| e.exit) {
        text += "How the program ends differs between its unchanged runs.\n";
    }
    for note in &report.notes {
        text += &wrapped(note, "", width);
    }
    text
}

fn varies(report: &TryReport, aspect: impl Fn(&Effect) -> Sameness) -> bool {
    report.effects().any(|e| aspect(e) == Sameness::Varies)
}

fn row(text: &mut String, f: &TriedFinding, width: usize) {
    let effect = match &f.effect {
        Some(effect) => gain(&effect.speedup, effect.clear),
        None => "nothing could be changed".into(),
    };
    let mut place = f.function.clone();
    if let (Some(file), Some(line)) = (&f.file, f.line) {
        let file = file.rsplit('/').next().unwrap_or(file);
        let _ = write!(place, " ({file}:{line})");
    }
    let _ = writeln!(
        text,
        "{:>3}  {:PLACE$}  {:7} {:>8}  {effect}",
        f.finding,
        cut(&place),
        f.op,
        format!("{}/{}", f.changed, f.instructions)
    );
    for refusal in &f.refused {
        let line = format!(
            "{} left as {}: {}",
            refusal.instructions,
            if refusal.instructions == 1 {
                "it is"
            } else {
                "they are"
            },
            refusal.reason
        );
        *text += &wrapped(&line, "       ", width);
    }
    if f.unaligned > 0 {
        let line = format!(
            "{} whose address is not always aligned: there it stores as before",
            f.unaligned
        );
        *text += &wrapped(&line, "       ", width);
    }
    if let Some(effect) = &f.effect {
        below(text, effect, width);
    }
}

/// What else a reader must know of a change.
fn below(text: &mut String, effect: &Effect, width: usize) {
    if effect.fences > 0 {
        let line = format!(
            "{} fences were needed to keep the order that other threads may see",
            prestore_report::count(effect.fences)
        );
        *text += &wrapped(&line, "       ", width);
    }
    let differs = match (effect.stdout, effect.exit) {
        (Sameness::Differs, _) => "WRONG: the program prints something else with this change",
        (_, Sameness::Differs) => "WRONG: the program ends otherwise with this change",
        _ => return,
    };
    *text += &wrapped(differs, "       ", width);
}

/// `1.23x (1.20 to 1.27)`, with a `~` before what is not clear.
fn gain(s: &Speedup, clear: bool) -> String {
    let mark = if clear { "" } else { "~" };
    format!("{mark}{:.2}x ({:.2} to {:.2})", s.speedup, s.least, s.most)
}

fn cut(place: &str) -> String {
    if place.chars().count() <= PLACE {
        return place.to_owned();
    }
    let kept: String = place.chars().take(PLACE - 1).collect();
    format!("{kept}…")
}

/// `line` in words, each line of it behind `indent`.
fn wrapped(line: &str, indent: &str, width: usize) -> String {
    let mut text = String::new();
    let mut at = 0;
    for word in line.split_whitespace() {
        let n = word.chars().count();
        if at == 0 {
            text.push_str(indent);
            at = indent.len();
        } else if at + 1 + n > width {
            text.push('\n');
            text.push_str(indent);
            text.push_str("  ");
            at = indent.len() + 2;
        } else {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += n;
    }
    text.push('\n');
    text
}
