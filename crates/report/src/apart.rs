//! What tells findings of one function apart.

use std::collections::HashMap;

use crate::finding::NamedFinding;
use crate::function_names::shortened;
use crate::place::NamedPlace;

/// What findings of one function may differ in, the plainest first.
const ASPECTS: [fn(&NamedFinding) -> String; 4] = [line, data, caller, instruction];

/// A caller's name has no more characters: it is one of several words in a title.
const LONGEST_NAME: usize = 40;

/// Gives findings of one function what tells each from the others: the line; where that is the same the data, then
/// the caller, then the instruction.
pub fn tell_apart(findings: &mut [NamedFinding]) {
    let mut by_function: HashMap<&str, Vec<usize>> = HashMap::new();
    for (i, f) in findings.iter().enumerate() {
        by_function.entry(&f.place.function).or_default().push(i);
    }
    let mut apart: Vec<Vec<String>> = vec![Vec::new(); findings.len()];
    for members in by_function.into_values() {
        for aspect in ASPECTS {
            add(aspect, findings, &members, &mut apart);
        }
    }
    for (f, words) in findings.iter_mut().zip(apart) {
        f.apart = (!words.is_empty()).then(|| words.join(", "));
    }
}

/// Adds `aspect` to those of `members` that nothing tells apart yet, where it does.
fn add(
    aspect: fn(&NamedFinding) -> String,
    findings: &[NamedFinding],
    members: &[usize],
    apart: &mut [Vec<String>],
) {
    let mut alike: HashMap<Vec<String>, Vec<usize>> = HashMap::new();
    for &i in members {
        alike.entry(apart[i].clone()).or_default().push(i);
    }
    for same in alike.into_values() {
        let words: Vec<String> = same.iter().map(|&i| aspect(&findings[i])).collect();
        if words.iter().any(|w| *w != words[0]) {
            for (&i, word) in same.iter().zip(words) {
                apart[i].push(word);
            }
        }
    }
}

/// What tells a finding apart besides its line, for where that stands already: `, called from put (kv.c:214)`.
pub fn beside_line(apart: Option<&str>) -> String {
    let words = apart.into_iter().flat_map(|a| a.split(", "));
    words
        .filter(|word| !word.starts_with("at "))
        .map(|word| format!(", {word}"))
        .collect()
}

fn line(f: &NamedFinding) -> String {
    match short(&f.place) {
        Some(at) => format!("at {at}"),
        None => "no line known".into(),
    }
}

fn data(f: &NamedFinding) -> String {
    match f.allocations.first() {
        Some(a) => format!("data of {}", named(&a.place)),
        None => "data of no known allocation".into(),
    }
}

/// The nearest call that the program makes: of what a library calls (a parallel loop, a comparison), the library's own says little.
fn caller(f: &NamedFinding) -> String {
    let callers = f.callers();
    let own = callers.iter().find(|c| c.is_user_code());
    match own.or(callers.first()) {
        Some(c) => format!("called from {}", named(c)),
        None => "no caller known".into(),
    }
}

fn instruction(f: &NamedFinding) -> String {
    format!("store at {}", f.place.module_offset())
}

/// `put (kv.c:214)`.
fn named(place: &NamedPlace) -> String {
    let function = shortened(&place.function, LONGEST_NAME);
    match short(place) {
        Some(at) => format!("{function} ({at})"),
        None => function,
    }
}

/// `kv.c:214`; the whole path stands below the title.
fn short(place: &NamedPlace) -> Option<String> {
    let (file, line) = (place.file.as_ref()?, place.line?);
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(format!("{name}:{line}"))
}
