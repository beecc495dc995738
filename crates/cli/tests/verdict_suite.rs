//! The applications of the paper's table 2 and section 7, in structure (`workloads/README.md`), at every level of
//! optimisation and with one, two and eight threads: the advice is the same.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use std::fmt::Write;

use common::{advice, advise, findings, level};
use serde_json::Value;

const LEVELS: [&str; 4] = ["O1", "O2", "O3", "native"];

/// A program, and what is to be said of it.
struct Case {
    program: &'static str,
    args: &'static [&'static str],
    /// Numbers of threads it can run with; one of its own choosing if empty.
    threads: &'static [u32],
    write_intensive: bool,
    /// Functions, with the verdicts that are right for what they write most.
    places: &'static [(&'static str, &'static [&'static str])],
}

const THREADS: &[u32] = &[1, 2, 8];
const SKIP: &[&str] = &["skip"];
const CLEAN: &[&str] = &["clean"];
const DEMOTE: &[&str] = &["demote"];
const ALONE: &[&str] = &["leave-alone"];

const CASES: &[Case] = &[
    // Multigrid: residual and inverse.
    Case {
        program: "stencil",
        args: &["--steps=10"],
        threads: THREADS,
        write_intensive: true,
        places: &[("resid", CLEAN), ("psinv", SKIP)],
    },
    // The same in Fortran.
    Case {
        program: "stencil_f",
        args: &["--steps=10"],
        threads: THREADS,
        write_intensive: true,
        places: &[("__sweeps_MOD_resid", CLEAN), ("__sweeps_MOD_psinv", SKIP)],
    },
    // Fourier transforms: copies and butterfly.
    Case {
        program: "fft",
        args: &["--rows=1024"],
        threads: &[],
        write_intensive: true,
        places: &[("copy_back", &["skip", "clean"]), ("fft_pass", ALONE)],
    },
    // Ranks: counted directly, and by way of buckets, many and few.
    Case {
        program: "rank",
        args: &["--keys=1M"],
        threads: &[],
        write_intensive: true,
        places: &[("rank", ALONE)],
    },
    Case {
        program: "buckets",
        args: &["--keys=1M"],
        threads: THREADS,
        write_intensive: true,
        places: &[("distribute", ALONE)],
    },
    Case {
        program: "buckets",
        args: &["--keys=1M", "--buckets=4"],
        threads: THREADS,
        write_intensive: true,
        places: &[("distribute", SKIP)],
    },
    // Tridiagonal sweeps.
    Case {
        program: "lines",
        args: &[],
        threads: THREADS,
        write_intensive: true,
        places: &[
            ("compute_rhs", SKIP),
            ("eliminate", ALONE),
            ("substitute", SKIP),
        ],
    },
    // Lower-upper solver with loops that flush.
    Case {
        program: "solver",
        args: &["--steps=2"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Embarrassingly parallel.
    Case {
        program: "pairs",
        args: &[],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Conjugate gradients.
    Case {
        program: "sparse",
        args: &[],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Hash table with values made up in place, and copied; and when it is mostly read.
    Case {
        program: "kv",
        args: &["--ops=200K"],
        threads: THREADS,
        write_intensive: true,
        places: &[("craft_value", SKIP)],
    },
    Case {
        program: "kv",
        args: &["--ops=200K", "--value=copied"],
        threads: THREADS,
        write_intensive: true,
        places: &[
            ("copy_value", SKIP),
            ("craft_value", &["leave-alone", "demote"]),
        ],
    },
    Case {
        program: "kv",
        args: &["--ops=400K", "--keys=16K", "--workload=B"],
        threads: THREADS,
        write_intensive: false,
        places: &[],
    },
    // Inboxes: shared messages, and private ones that are copied.
    Case {
        program: "ring",
        args: &["--messages=100K"],
        threads: &[],
        write_intensive: true,
        places: &[("fill_msg", DEMOTE)],
    },
    Case {
        program: "ring",
        args: &["--messages=100K", "--copy=yes", "--structures=64"],
        threads: &[],
        write_intensive: true,
        places: &[("fill_msg", DEMOTE), ("copy_to_inbox", DEMOTE)],
    },
    // A trie.
    Case {
        program: "trie",
        args: &[],
        threads: THREADS,
        write_intensive: true,
        places: &[("craft_value", SKIP)],
    },
    // Tensors of two sizes.
    Case {
        program: "tensor",
        args: &[],
        threads: &[],
        write_intensive: true,
        places: &[("TensorEvaluator<tensor::scalar_sum_op>::run", CLEAN)],
    },
];

/// Part of the program's writing from which on a place is in the table.
const MATTERS: f64 = 0.02;

/// What is wrong with the advice on `case`; and the advice, briefly.
fn run(case: &Case, level_name: &str, threads: Option<u32>) -> Option<(Vec<String>, String)> {
    let program = level(level_name, case.program)?;
    let mut args: Vec<String> = case.args.iter().map(|a| (*a).to_owned()).collect();
    args.extend(threads.map(|n| format!("--threads={n}")));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let report = advise(&program, &args);
    let mut wrong = Vec::new();
    let intensive = &report["write_intensive"];
    if *intensive != case.write_intensive {
        wrong.push(format!("write-intensive: {intensive}"));
    }
    if case.places.is_empty() {
        wrong.extend(advice(&report).iter().map(|f| said(f)));
    }
    for (function, right) in case.places {
        // Most writing comes first.
        match findings(&report).iter().find(|f| is_in(f, function)) {
            None => wrong.push(format!("{function}: nothing")),
            Some(f) if right.contains(&f["verdict"].as_str().unwrap()) => {}
            Some(f) => wrong.push(said(f)),
        }
    }
    let time = report["totals"]["write_time_share"].as_f64().unwrap();
    let mut brief = format!("writing {:.0}%", time * 100.0);
    for f in findings(&report)
        .iter()
        .filter(|f| f["write_share"].as_f64() >= Some(MATTERS))
    {
        write!(brief, ", {}", said(f)).unwrap();
    }
    Some((wrong, brief))
}

fn is_in(finding: &Value, function: &str) -> bool {
    let named = |f: &Value| f.as_str().is_some_and(|name| name.contains(function));
    let inlined = finding["inlined"].as_array().unwrap();
    named(&finding["function"]) || inlined.iter().any(|f| named(&f["function"]))
}

fn said(finding: &Value) -> String {
    let part = |key: &str| finding[key].as_str().unwrap_or("?").to_owned();
    format!("{}: {}", part("function"), part("verdict"))
}

/// Runs these cases; prints a table; fails if an answer is wrong.
fn check(chosen: impl Iterator<Item = (&'static Case, &'static str, Option<u32>)>) {
    let mut failures = 0;
    for (case, level, threads) in chosen {
        let Some((wrong, brief)) = run(case, level, threads) else {
            continue;
        };
        let right = if wrong.is_empty() { "ok" } else { "WRONG" };
        let threads = threads.map_or("-".to_owned(), |n| n.to_string());
        println!(
            "{right:5} {:9} {level:6} {threads:>2}  {}  {brief}",
            case.program,
            case.args.join(" ")
        );
        for what in &wrong {
            println!("      not expected: {what}");
        }
        failures += usize::from(!wrong.is_empty());
    }
    assert_eq!(failures, 0, "see above");
}

fn threads_of(case: &'static Case) -> Vec<Option<u32>> {
    match case.threads {
        [] => vec![None],
        some => some.iter().map(|n| Some(*n)).collect(),
    }
}

/// Each program at one level and number of threads, other ones from program to program.
#[test]
fn each_application_gets_its_advice_at_some_level() {
    check(CASES.iter().enumerate().map(|(i, case)| {
        let threads = threads_of(case);
        (case, LEVELS[i % LEVELS.len()], threads[i % threads.len()])
    }));
}

/// Every program at every level with every number of threads.
#[test]
#[ignore = "long: make soak"]
fn each_application_gets_its_advice_at_every_level() {
    check(CASES.iter().flat_map(|case| {
        let levels = LEVELS.iter().copied();
        levels.flat_map(move |level| threads_of(case).into_iter().map(move |n| (case, level, n)))
    }));
}
