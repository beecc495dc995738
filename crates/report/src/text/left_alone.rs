//! Places to be left alone.

use std::borrow::Cow;
use std::collections::HashSet;

use super::page::{Page, verdict_name};
use crate::apart::beside_line;
use crate::finding::NamedFinding;
use crate::human::{percent, some};

/// A line and its reason each; `few_writes`: the program is not write-intensive, which stands above them. What explains several of them
/// stands at the first; those that have nothing else to say for themselves stand in one line.
pub fn write(page: &mut Page, findings: &[&NamedFinding], few_writes: bool) {
    let mut told = HashSet::new();
    page.heading("Left alone");
    for (i, f) in findings.iter().enumerate() {
        if findings[..i].iter().any(|other| is_alike(other, f)) {
            continue;
        }
        let alike: Vec<&NamedFinding> = findings[i..]
            .iter()
            .filter(|other| is_alike(f, other))
            .copied()
            .collect();
        match alike.len() {
            0 | 1 => one(page, f),
            _ => together(page, &alike),
        }
        if f.dismissed.is_none() || !few_writes {
            page.wrapped(
                &format!("      {}: ", verdict_name(f.verdict)),
                &brief(&mut told, &f.reason),
            );
        }
        if let Some(d) = &f.dismissed {
            let when = if few_writes {
                "if the program wrote more,"
            } else {
                "else"
            };
            page.wrapped(
                &format!("      {when} {}: ", verdict_name(d.verdict)),
                &brief(&mut told, &d.reason),
            );
        }
    }
}

/// Have both the same reason, to the letter, and no other advice?
fn is_alike(f: &NamedFinding, other: &NamedFinding) -> bool {
    let alone = f.dismissed.is_none() && other.dismissed.is_none();
    alone && f.verdict == other.verdict && f.reason == other.reason
}

fn one(page: &mut Page, f: &NamedFinding) {
    let line = format!(
        "{}{} - {} of the writing - {} sequential",
        page.place(&f.place),
        beside_line(f.apart.as_deref()),
        percent(f.write_share),
        percent(f.sequential_share)
    );
    page.wrapped(&format!("   {}. ", f.number), &line);
}

fn together(page: &mut Page, alike: &[&NamedFinding]) {
    let numbers: Vec<String> = alike.iter().map(|f| f.number.to_string()).collect();
    let share: f64 = alike.iter().map(|f| f.write_share).sum();
    let others = some(alike.len() as u64 - 1, "other place", "other places");
    let line = format!(
        "{} and {others} - {} of the writing together",
        page.place(&alike[0].place),
        percent(share)
    );
    page.wrapped(&format!("   {}. ", numbers.join(", ")), &line);
}

/// The reason without what explains it, its first sentence behind the colon, where that has been told word for word and has no
/// figures but P0's: the place's own are told in any case.
fn brief<'a>(told: &mut HashSet<&'a str>, reason: &'a str) -> Cow<'a, str> {
    let Some((why, behind)) = reason.split_once(": ") else {
        return reason.into();
    };
    let end = behind
        .find(". ")
        .unwrap_or(behind.trim_end_matches('.').len());
    let (explanation, rest) = behind.split_at(end);
    let own = explanation.split(" (P0 ").next().unwrap_or_default();
    let has_figures = own.contains(|c: char| c.is_ascii_digit());
    match has_figures || told.insert(explanation) {
        true => reason.into(),
        false => format!("{why}{rest}").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_not_told_again() {
        let mut told = HashSet::new();
        let mut said = |reason: &'static str| brief(&mut told, reason).into_owned();
        assert_eq!(
            said("9% are: they stay. None is."),
            "9% are: they stay. None is."
        );
        assert_eq!(said("8% are: they stay. One is."), "8% are. One is.");
        assert_eq!(said("7% are: they stay."), "7% are.");
        assert_eq!(said("7% are: they go."), "7% are: they go.");
        assert_eq!(said("All are."), "All are.");
        for _ in 0..2 {
            assert_eq!(said("6% are: they stay for 5."), "6% are: they stay for 5.");
        }
        assert_eq!(said("Some: slow (P0 has 3x)."), "Some: slow (P0 has 3x).");
        assert_eq!(said("More: slow (P0 has 3x)."), "More.");
    }
}
