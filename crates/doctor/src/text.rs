use crate::check::{Diagnosis, Status};

/// The diagnosis as text of at most `columns` columns: a check in aligned columns, and cause and cure below each lack.
/// Commands stay in one line, to be copied.
pub fn render(diagnosis: &Diagnosis, columns: usize) -> String {
    let width = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0);
    let names = width(&mut diagnosis.checks.iter().map(|check| check.name.len()));
    let states = width(
        &mut diagnosis
            .checks
            .iter()
            .map(|check| word(check.status).len()),
    );
    let wrap = |first: String, rest: &str| {
        let hang = " ".repeat(first.len());
        let options = textwrap::Options::new(columns)
            .initial_indent(&first)
            .subsequent_indent(&hang)
            .break_words(false)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::fill(rest, options) + "\n"
    };
    let mut text = String::new();
    for check in &diagnosis.checks {
        let state = word(check.status);
        let first = format!("{:<names$}  {state:<states$}  ", check.name);
        let below = |label: &str| format!("{:names$}  {:states$}  {label}", "", "");
        text += &wrap(first, &check.detail);
        if let Some(cause) = &check.cause {
            text += &wrap(below("cause: "), cause);
        }
        if let Some(fix) = &check.fix {
            text += &format!("{}{fix}\n", below("fix:   "));
        }
        if let Some(instead) = &check.no_fix {
            text += &wrap(below("fix:   "), &format!("no command; {instead}"));
        }
    }
    text
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Degraded => "degraded",
        Status::Missing => "missing",
    }
}
