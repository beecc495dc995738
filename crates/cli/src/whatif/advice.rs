//! Which advice is tried.

use prestore_dirtbuster::Findings;
use prestore_sim::{PreStore, Way};
use prestore_whatif::Advice;

use crate::args::{OpArg, WayArg, WhatifArgs};
use crate::error::CliError;

/// The advice of `findings`; only at those that `args` numbers (from 1) if there are any; other operations than the
/// analysis advises there, and only one way to write them, where `args` says so.
pub fn chosen(findings: &Findings, args: &WhatifArgs) -> Result<Vec<Advice>, CliError> {
    let chosen = &args.findings;
    let known = findings.findings.len();
    if let Some(wrong) = chosen.iter().find(|&&n| n == 0 || n > known) {
        return Err(CliError::Usage(format!(
            "--finding {wrong}: the recording has findings 1 to {known}; `prestore advise` shows them"
        )));
    }
    let asked = |finding: usize| chosen.is_empty() || chosen.contains(&(finding + 1));
    if args.ops.is_empty() && chosen.is_empty() {
        return Ok(Advice::of_this_run(findings));
    }
    if args.ops.is_empty() {
        let mut advice = Advice::of(findings);
        advice.retain(|a| asked(a.finding));
        if let Some(idle) = chosen
            .iter()
            .find(|&&n| advice.iter().all(|a| a.finding + 1 != n))
        {
            return Err(CliError::Usage(format!(
                "--finding {idle}: the advice there is to leave it alone; choose an operation to \
                 try with --op"
            )));
        }
        return Ok(advice);
    }
    let mut advice = Vec::new();
    for (index, finding) in findings.findings.iter().enumerate() {
        if !asked(index) {
            continue;
        }
        for op in operations(&args.ops) {
            let before = advice.len();
            let ways = Advice::at(index, finding, op);
            advice.extend(ways.filter(|a| args.way.is_none_or(|w| a.way == way(w))));
            if advice.len() == before {
                return Err(CliError::Usage(format!(
                    "--way: finding {} cannot be written so with this operation: {}",
                    index + 1,
                    match (op, finding.generic_writer) {
                        (PreStore::Skip, true) =>
                            "what memcpy and the like write is skipped by copy-call",
                        (PreStore::Skip, false) => "give in-place, buffer or writer",
                        _ => "clean and demote are a call",
                    }
                )));
            }
        }
    }
    Ok(advice)
}

/// Numbers of the findings whose advice is left out as the run writes them once; none where some were asked for.
pub fn left_out(findings: &Findings, advice: &[Advice], args: &WhatifArgs) -> Vec<usize> {
    if !args.findings.is_empty() || !args.ops.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<usize> = (Advice::of(findings).iter())
        .filter(|a| advice.iter().all(|kept| kept.finding != a.finding))
        .map(|a| a.finding + 1)
        .collect();
    out.dedup();
    out
}

/// Each once, in the order asked for.
fn operations(asked: &[OpArg]) -> impl Iterator<Item = PreStore> {
    let first = |i: usize| !asked[..i].contains(&asked[i]);
    let once = (0..asked.len()).filter(move |&i| first(i));
    once.map(|i| prestore(asked[i]))
}

fn prestore(op: OpArg) -> PreStore {
    match op {
        OpArg::Clean => PreStore::Clean,
        OpArg::Demote => PreStore::Demote,
        OpArg::Skip => PreStore::Skip,
    }
}

fn way(way: WayArg) -> Way {
    match way {
        WayArg::Call => Way::Call,
        WayArg::CopyCall => Way::CopyCall,
        WayArg::InPlace => Way::InPlace,
        WayArg::Buffer => Way::Buffer,
        WayArg::Writer => Way::Writer,
    }
}
