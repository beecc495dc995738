//! Real programs do the same recorded as natively: what they print, the files they leave, how they end.
//!
//! A program that is not installed is skipped with a message; the setup script installs those of the
//! suite.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

// In a folder beside this file.
#[path = "transparency/list.rs"]
mod list;
#[path = "transparency/page.rs"]
mod page;
#[path = "transparency/run.rs"]
mod run;

use std::time::Instant;

use list::{Program, programs};
use run::{Verdict, verdict};

/// Every other program of the suite, so that two tests share the work.
fn suite(part: usize) {
    let of_suite = programs().into_iter().filter(|p| p.suite);
    let mut differ = String::new();
    for program in of_suite.skip(part).step_by(2) {
        if program.installed().is_none() {
            eprintln!("SKIPPED: {} is not installed", program.package);
            continue;
        }
        match verdict(&program, false, &["allocations"]) {
            Verdict::Same => {}
            Verdict::Differs(how) | Verdict::Unfit(how) => {
                differ.push_str(&format!("{}: {how}\n", program.name));
            }
        }
    }
    assert!(differ.is_empty(), "{differ}");
}

#[test]
fn one_half_of_the_suite() {
    suite(0);
}

#[test]
fn other_half_of_the_suite() {
    suite(1);
}

/// `make soak`: all programs, or those whose names hold `PRESTORE_SOAK_PROGRAM`, or as many as begin
/// within `PRESTORE_SOAK_SECONDS`; writes the page to `PRESTORE_SOAK_PAGE`.
#[test]
#[ignore = "takes long, and wants many packages"]
fn soak() {
    let only = std::env::var("PRESTORE_SOAK_PROGRAM").unwrap_or_default();
    let seconds = std::env::var("PRESTORE_SOAK_SECONDS").ok();
    let seconds = seconds.map_or(u64::MAX, |n| n.parse().unwrap());
    let began = Instant::now();
    let mut rows: Vec<(Program, Option<String>, Verdict)> = vec![];
    for program in programs().into_iter().filter(|p| p.name.contains(&only)) {
        let version = program.installed();
        let found = match version {
            None => Verdict::Unfit("not installed".into()),
            Some(_) if began.elapsed().as_secs() >= seconds => {
                Verdict::Unfit("no time was left for it".into())
            }
            Some(_) => verdict(&program, true, &["allocations"]),
        };
        eprintln!("{}: {found:?}", program.name);
        rows.push((program, version, found));
    }
    if let Ok(path) = std::env::var("PRESTORE_SOAK_PAGE") {
        std::fs::write(path, page::page(&rows)).unwrap();
    }
    let differ: Vec<&str> = rows
        .iter()
        .filter(|r| matches!(r.2, Verdict::Differs(_)))
        .map(|r| r.0.name.as_str())
        .collect();
    assert!(differ.is_empty(), "these differ: {differ:?}");
}
