//! Which advice is tried.

use prestore_dirtbuster::Findings;
use prestore_sim::PreStore;
use prestore_whatif::Advice;

use crate::args::OpArg;
use crate::error::CliError;

/// The advice of `findings`; only at those numbered in `chosen` (from 1) if there are any; `op` in
/// place of what the analysis advises there.
pub fn chosen(
    findings: &Findings,
    chosen: &[usize],
    op: Option<OpArg>,
) -> Result<Vec<Advice>, CliError> {
    let known = findings.findings.len();
    if let Some(wrong) = chosen.iter().find(|&&n| n == 0 || n > known) {
        return Err(CliError::Usage(format!(
            "--finding {wrong}: the recording has findings 1 to {known}; `prestore advise` shows them"
        )));
    }
    let asked = |finding: usize| chosen.is_empty() || chosen.contains(&(finding + 1));
    let Some(op) = op else {
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
    };
    let op = match op {
        OpArg::Clean => PreStore::Clean,
        OpArg::Demote => PreStore::Demote,
        OpArg::Skip => PreStore::Skip,
    };
    let all = findings.findings.iter().enumerate();
    Ok(all
        .filter(|(index, _)| asked(*index))
        .map(|(index, finding)| Advice::at(index, finding, op))
        .collect())
}
