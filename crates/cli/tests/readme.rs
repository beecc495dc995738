//! What the README shows of the demo is what the demo prints. `make readme` writes it anew.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs;

use common::{Running, prestore, root, workload};

const BEGIN: &str = "<!-- Written by `make readme`: -->\n";
const END: &str = "<!-- up to here. -->\n";

/// Figures that differ between two runs, or by compiler, lie this near.
const NEAR: f64 = 0.05;

/// How write-intensive the demo is, and its first finding, without what the C library calls before `main` and what is said of
/// the machine that the test runs on.
fn demo() -> String {
    workload("kv").unwrap();
    let mut command = prestore();
    command.args(["advise", "-q", "--", "build/workloads/kv", "--workload=A"]);
    command.current_dir(root());
    let ran = Running::start(command).finish().exits(0);
    let all: Vec<&str> = ran.stdout.lines().collect();
    let blank = |from: usize| from + all[from..].iter().position(|l| l.is_empty()).unwrap();
    let begin = all
        .iter()
        .position(|l| l.starts_with("Write-intensive"))
        .unwrap();
    let end = blank(blank(begin) + 1);
    let own = all[begin..end]
        .iter()
        .take_while(|l| !l.contains("__libc_start"))
        .scan(false, |of_machine, l| {
            // With the lines that it is wrapped to.
            if !l.starts_with("    ") {
                *of_machine = l.starts_with("   This machine: ");
            }
            Some((*of_machine, l))
        })
        .filter_map(|(of_machine, l)| (!of_machine).then_some(l));
    let shown = own.map(|l| match l.is_empty() {
        true => "\n".to_owned(),
        false => format!("    {l}\n"),
    });
    format!("\n{}\n", shown.collect::<String>())
}

/// Words, with what can differ between two runs as a number.
fn words(text: &str) -> Vec<(String, Option<f64>)> {
    // `inf` is a word: no other number is near it.
    let number = |word: &str| {
        let parsed: Option<f64> = word.trim_matches(|c: char| "(),%".contains(c)).parse().ok();
        parsed.filter(|n| n.is_finite())
    };
    text.split_whitespace()
        .map(|word| (word.to_owned(), number(word)))
        .collect()
}

fn alike(a: &(String, Option<f64>), b: &(String, Option<f64>)) -> bool {
    match (a.1, b.1) {
        (Some(x), Some(y)) => (x - y).abs() <= NEAR * x.abs().max(y.abs()),
        _ => a.0 == b.0,
    }
}

#[test]
fn the_demo_prints_what_the_readme_shows() {
    let file = root().join("README.md");
    let readme = fs::read_to_string(&file).unwrap();
    let (before, rest) = readme.split_once(BEGIN).expect("where the demo begins");
    let (shown, after) = rest.split_once(END).expect("where the demo ends");
    let printed = demo();
    if std::env::var_os("PRESTORE_WRITE_README").is_some() {
        fs::write(&file, [before, BEGIN, &printed, END, after].concat()).unwrap();
        return;
    }
    let (shown, printed_words) = (words(shown), words(&printed));
    let same = shown.len() == printed_words.len()
        && shown.iter().zip(&printed_words).all(|(a, b)| alike(a, b));
    assert!(
        same,
        "README.md shows something else: `make readme` writes it anew\n{printed}"
    );
}

/// A file and line that the demo names is a line that stores: it moves with the source.
#[test]
fn numbers_are_compared_and_words_are_the_same() {
    let all = |a: &str, b: &str| {
        let (a, b) = (words(a), words(b));
        a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| alike(a, b))
    };
    assert!(all(
        "median 181 instructions (72.7%)",
        "median 185 instructions (72.9%)"
    ));
    assert!(!all("median 181 instructions", "median 281 instructions"));
    assert!(all("re-write inf", "re-write inf"));
    assert!(!all("re-write inf", "re-write 181"));
    assert!(!all("1. craft_value: skip", "1. craft_value: clean"));
    assert!(!all(
        "main (workloads/kv/main.c:49)",
        "main (workloads/kv/main.c:50)"
    ));
}
