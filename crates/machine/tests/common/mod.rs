//! A machine to change one thing of, and reading what is said about it.
#![allow(dead_code, clippy::panic)]

use prestore_machine::{MachineError, Machines, Problem};

/// Right in all.
pub const BASE: &str = include_str!("base.toml");

/// The base with `from`, which stands in it once, replaced.
#[track_caller]
pub fn with(from: &str, to: &str) -> String {
    assert_eq!(BASE.matches(from).count(), 1, "{from}");
    BASE.replacen(from, to, 1)
}

/// A machine that inherits all from the shipped `tiny`.
pub fn child() -> String {
    "description = \"a child\"\ninherits = \"tiny\"\n".into()
}

/// What is wrong with `text`.
#[track_caller]
pub fn problems(text: &str) -> Vec<Problem> {
    match Machines::shipped().parse("test.toml", text) {
        Ok(_) => Vec::new(),
        Err(MachineError::Wrong(problems)) => problems,
        Err(other) => panic!("{other}"),
    }
}

/// The line that has `what` in it.
#[track_caller]
pub fn line_of(text: &str, what: &str) -> u32 {
    let mut lines = text
        .lines()
        .zip(1..)
        .filter(|(line, _)| line.contains(what));
    lines
        .next()
        .unwrap_or_else(|| panic!("no '{what}' in {text}"))
        .1
}

/// The base with `from` replaced by `to` has one problem, on the line of `at`, saying all of `says`.
#[track_caller]
pub fn one(from: &str, to: &str, at: &str, key: &str, says: &[&str]) {
    let text = with(from, to);
    let found = problems(&text);
    assert_eq!(found.len(), 1, "{found:#?}");
    let said = found[0].to_string();
    let line = line_of(&text, at);
    let place = if key.is_empty() {
        String::new()
    } else {
        format!("{key}: ")
    };
    let begin = format!("test.toml:{line}: {place}");
    assert!(said.starts_with(&begin), "not {begin}: {said}");
    for part in says {
        assert!(said.contains(part), "'{part}' is missing: {said}");
    }
}
