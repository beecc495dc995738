//! Advice for the machine at hand: one with DRAM, as calibration described it, where the advice costs
//! (`docs/verdicts.md`).
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Ran, run, text, workload};

fn advised(options: &str, program: &str, args: &[&str]) -> Ran {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/machines");
    let machine = format!("{folder}/calibrated.toml");
    let fixed = ["advise", "-q", "--simulations", "1", "--machine", &machine];
    let program = workload(program).unwrap();
    let words = options.split_whitespace().chain(["--", text(&program)]);
    run(fixed.into_iter().chain(words).chain(args.iter().copied())).exits(0)
}

#[test]
fn what_costs_there_is_not_advised_there() {
    let kv = ["--keys=8K", "--ops=4K"];
    let ran = advised("", "kv", &kv);
    for part in [
        "craft_value: leave alone on calibrated\n",
        "Pre-store choice: leave alone on calibrated, where nothing that was tried gains",
        "a loss",
        "nothing for these machines",
    ] {
        assert!(ran.stdout.contains(part), "'{part}' is missing: {ran:#?}");
    }
    assert!(!ran.stdout.contains("craft_value: skip"), "{ran:#?}");
    let sarif = advised("--format sarif", "kv", &kv).stdout;
    assert!(!sarif.contains("\"level\": \"warning\""), "{sarif}");
}
