//! The result for people: a table, and below each row what was not changed.

use std::fmt::Write as _;

use prestore_report::{beside_line, seconds, shortened};
use prestore_whatif::Speedup;

use super::compare::Sameness;
use super::report::{Effect, TriedFinding, TryReport};

/// Width of the column of places.
const PLACE: usize = 34;
/// And of a finding's number before it.
const ROW: usize = PLACE + 5;

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
        "     {:PLACE$}  {:7} {:>8}  speed-up (min to max)",
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
            "  ",
            width,
        );
    }
    if varies(report, |e| e.exit) {
        text += "How the program ends differs between its unchanged runs.\n";
    }
    for note in &report.notes {
        text += &wrapped(note, "", "  ", width);
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
    let mut line = String::new();
    if let (Some(file), Some(number)) = (&f.file, f.line) {
        let file = file.rsplit('/').next().unwrap_or(file);
        line = format!(" ({file}:{number})");
    }
    let room = PLACE.saturating_sub(line.chars().count());
    let mut place = shortened(&f.function, room) + &line + &beside_line(f.apart.as_deref());
    if place.chars().count() > PLACE {
        // On lines of its own, and the figures below in their columns.
        *text += &wrapped(&place, &format!("{:>3}  ", f.finding), "       ", width);
        place = String::new();
    } else {
        place = format!("{:>3}  {place}", f.finding);
    }
    let figures = format!("{}/{}", f.changed, f.instructions);
    let _ = writeln!(text, "{place:ROW$}  {:7} {figures:>8}  {effect}", f.op);
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
        *text += &below_a_row(&line, width);
    }
    if f.unaligned > 0 {
        let line = format!(
            "{} whose address is not always aligned: there it stores as before",
            f.unaligned
        );
        *text += &below_a_row(&line, width);
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
        *text += &below_a_row(&line, width);
    }
    let differs = match (effect.stdout, effect.exit) {
        (Sameness::Differs, _) => "WRONG: the program prints something else with this change",
        (_, Sameness::Differs) => "WRONG: the program ends otherwise with this change",
        _ => return,
    };
    *text += &below_a_row(differs, width);
}

/// `1.23x (1.20 to 1.27)`, with a `~` before what is not clear.
fn gain(s: &Speedup, clear: bool) -> String {
    let mark = if clear { "" } else { "~" };
    format!("{mark}{:.2}x ({:.2} to {:.2})", s.speedup, s.least, s.most)
}

fn below_a_row(line: &str, width: usize) -> String {
    wrapped(line, "       ", "         ", width)
}

/// `line` in words, behind `first`, and each further line of it behind `indent`.
fn wrapped(line: &str, first: &str, indent: &str, width: usize) -> String {
    let mut text = first.to_owned();
    let mut at = first.len();
    for (number, word) in line.split_whitespace().enumerate() {
        let n = word.chars().count();
        if number > 0 && at + 1 + n > width {
            text.push('\n');
            text.push_str(indent);
            at = indent.len();
        } else if number > 0 {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += n;
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::report::Seconds;
    use prestore_dirtbuster::Verdict;

    fn report(function: &str) -> TryReport {
        let second = Seconds {
            seconds: 1.0,
            least: 1.0,
            most: 1.0,
        };
        let finding = TriedFinding {
            finding: 7,
            function: function.to_owned(),
            apart: None,
            file: Some("/src/tensor_of_the_suite.cpp".to_owned()),
            line: Some(1234),
            verdict: Verdict::Clean,
            op: "clean",
            instructions: 3,
            changed: 2,
            unaligned: 0,
            refused: Vec::new(),
            effect: None,
        };
        TryReport {
            schema_version: 1,
            command: vec!["tensor".to_owned()],
            runs: 1,
            base: second,
            findings: vec![finding],
            together: None,
            notes: Vec::new(),
        }
    }

    /// Where the column of operations begins, and the lines.
    fn lines(function: &str) -> (usize, Vec<String>) {
        let text = of(&report(function), 80);
        let head = text.lines().find_map(|l| l.find("advice"));
        (head.unwrap(), text.lines().map(str::to_owned).collect())
    }

    #[test]
    fn findings_of_one_line_are_told_apart() {
        let mut report = report("main");
        report.findings[0].apart = Some("at main.c:5, store at st+0x10a5".to_owned());
        let text = of(&report, 80);
        let place = "  7  main (tensor_of_the_suite.cpp:1234), store at st+0x10a5\n";
        assert!(text.contains(place), "{text}");
    }

    #[test]
    fn long_names_lose_their_arguments_and_then_take_lines_of_their_own() {
        for (function, place) in [
            (
                "f(int, unsigned long)",
                "  7  f(...) (tensor_of_the_suite.cpp:1234)",
            ),
            (
                "run<F<int>>(long)",
                "  7  run<...>(...) (tensor_of_the_suite.cpp:1234)",
            ),
            (
                "tensor::TensorEvaluator<tensor::scalar_sum_op<float>, tensor::Map>::run(long)",
                "  7  tensor::TensorEvaluator<...>::run(...) (tensor_of_the_suite.cpp:1234)",
            ),
        ] {
            let (column, lines) = lines(function);
            let at = lines
                .iter()
                .position(|l| l.trim_end().starts_with(place))
                .unwrap_or_else(|| panic!("{lines:#?}"));
            let figures = lines[at..].iter().find(|l| l.contains("2/3")).unwrap();
            assert_eq!(figures.find("clean"), Some(column), "{lines:#?}");
        }
    }
}
