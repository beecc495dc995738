//! Which findings are tried, and which instructions make them up.

use std::collections::HashMap;
use std::path::Path;

use prestore_dirtbuster::{Finding, Findings, LineShare, Verdict};
use prestore_report::{NamedFinding, Resolver, SiteKind};
use prestore_symbols::build_id;
use prestore_trace::SiteId;
use prestore_tracer::{Change, Operation};

use super::TryArgs;
use super::observe::Observed;
use crate::args::OpArg;
use crate::error::CliError;

/// Share of a generic function's stores from which on it counts as its main caller's.
const MOSTLY: f64 = 0.9;

/// A finding and what is made of its stores.
pub struct Candidate {
    /// The finding.
    pub finding: NamedFinding,
    /// What is made of its stores.
    pub op: Operation,
    /// Its instructions, by their number among [`Chosen::changes`].
    pub sites: Vec<usize>,
    /// Instructions that are not even tried, and why.
    pub refused: Vec<(&'static str, u64)>,
}

/// What is tried.
pub struct Chosen {
    /// The findings.
    pub candidates: Vec<Candidate>,
    /// All their instructions, each with its candidate's operation.
    pub changes: Vec<Change>,
    /// What the analysis had to say.
    pub notes: Vec<String>,
}

impl Chosen {
    /// Stores have to be kept in order somewhere.
    pub fn keeps_order(&self) -> bool {
        let mut ops = self.candidates.iter().map(|c| c.op);
        ops.any(|op| op == Operation::Skip)
    }
}

/// The findings that `args` asks for.
pub fn chosen(args: &TryArgs, observed: Observed) -> Result<Chosen, CliError> {
    let Observed {
        findings,
        report,
        ended: _,
        notes,
        mut namer,
    } = observed;
    check(args, &findings)?;
    let mut chosen = Chosen {
        candidates: Vec::new(),
        changes: Vec::new(),
        notes,
    };
    let mut stores: HashMap<SiteId, u64> = HashMap::new();
    for site in findings.findings.iter().flat_map(|f| &f.sites) {
        *stores.entry(site.site).or_default() += site.stores;
    }
    let mut owners: HashMap<(String, u64), usize> = HashMap::new();
    for (index, finding) in findings.findings.iter().enumerate() {
        let asked = args.findings.is_empty() || args.findings.contains(&(index + 1));
        let Some(op) = args.op.map(operation).or_else(|| advised(finding.verdict)) else {
            continue;
        };
        let Some(named) = report.findings.iter().find(|f| f.number == index + 1) else {
            continue;
        };
        if asked {
            let candidate = Candidate {
                finding: named.clone(),
                op,
                sites: Vec::new(),
                refused: Vec::new(),
            };
            add(
                &mut chosen,
                candidate,
                finding,
                &stores,
                &mut namer,
                &mut owners,
            )?;
        }
    }
    Ok(chosen)
}

/// Tells what is wrong with `--finding`, and that there is nothing to try.
fn check(args: &TryArgs, findings: &Findings) -> Result<(), CliError> {
    let all = &findings.findings;
    let wrong = |n: &&usize| **n == 0 || **n > all.len();
    if let Some(wrong) = args.findings.iter().find(wrong) {
        return Err(CliError::Usage(match all.len() {
            0 => format!("--finding {wrong}: the analysis found no place that writes much"),
            known => format!(
                "--finding {wrong}: the program has findings 1 to {known}; `prestore advise` shows them"
            ),
        }));
    }
    if args.op.is_some() {
        return Ok(());
    }
    let idle = |n: &&usize| advised(all[**n - 1].verdict).is_none();
    if let Some(idle) = args.findings.iter().find(idle) {
        return Err(CliError::Usage(format!(
            "--finding {idle}: the advice there is to leave it alone; choose what to try with --op"
        )));
    }
    if all.iter().all(|f| advised(f.verdict).is_none()) {
        return Err(CliError::Usage(format!(
            "there is nothing to try: {}",
            match all.len() {
                0 => "the analysis found no place that writes much",
                _ =>
                    "the advice is to leave all findings alone (`prestore advise` says why); to try one all the same, \
                     give its number and what to do, as in --finding 1 --op skip",
            }
        )));
    }
    Ok(())
}

fn advised(verdict: Verdict) -> Option<Operation> {
    match verdict {
        Verdict::Skip => Some(Operation::Skip),
        Verdict::Clean => Some(Operation::Clean),
        Verdict::Demote => Some(Operation::Demote),
        Verdict::LeaveAlone => None,
    }
}

fn operation(op: OpArg) -> Operation {
    match op {
        OpArg::Skip => Operation::Skip,
        OpArg::Clean => Operation::Clean,
        OpArg::Demote => Operation::Demote,
    }
}

fn add(
    chosen: &mut Chosen,
    mut candidate: Candidate,
    finding: &Finding,
    stores: &HashMap<SiteId, u64>,
    namer: &mut impl Resolver,
    owners: &mut HashMap<(String, u64), usize>,
) -> Result<(), CliError> {
    for site in &finding.sites {
        let place = namer.resolve(site.site, SiteKind::Instruction);
        let Some(place) = place.filter(|p| Path::new(&p.module).is_absolute()) else {
            refuse(&mut candidate, "in code that was made at run time");
            continue;
        };
        if finding.generic_writer && !mostly_for(site, stores) {
            refuse(
                &mut candidate,
                "in a function that others call as well (memcpy and the like)",
            );
            continue;
        }
        same_file(&place.module, &place.build_id)?;
        let key = (place.module.clone(), place.offset);
        let number = candidate.finding.number;
        if *owners.entry(key).or_insert(number) != number {
            refuse(&mut candidate, "changed with an earlier finding");
            continue;
        }
        candidate.sites.push(chosen.changes.len());
        chosen.changes.push(Change {
            op: Some(candidate.op),
            group: number as u32,
            module: place.module,
            offset: place.offset,
        });
    }
    chosen.candidates.push(candidate);
    Ok(())
}

/// Does generic code store here for this finding, nearly always? What it does for other callers is changed as well.
fn mostly_for(site: &LineShare, stores: &HashMap<SiteId, u64>) -> bool {
    let all = stores.get(&site.site).copied().unwrap_or(0);
    site.stores as f64 >= MOSTLY * all as f64
}

fn refuse(candidate: &mut Candidate, why: &'static str) {
    match candidate
        .refused
        .iter_mut()
        .find(|(known, _)| *known == why)
    {
        Some((_, n)) => *n += 1,
        None => candidate.refused.push((why, 1)),
    }
}

/// Is the file still the one that was recorded?
fn same_file(path: &str, recorded: &str) -> Result<(), CliError> {
    let now = build_id(Path::new(path)).ok().flatten().unwrap_or_default();
    if recorded == now {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "{path} is not the file that was recorded (its build id is another): record the program again, or leave out \
         --from"
    )))
}
