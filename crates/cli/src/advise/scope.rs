//! Which code to look at closely.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use prestore_dirtbuster::ProgramTotals;
use prestore_trace::container::NamedCode;
use prestore_tracer::ProgramOutput;

use super::counted::counted;
use super::takers::Counter;
use crate::args::{RunArgs, ScopeArg};
use crate::error::CliError;
use crate::naming::Namer;
use crate::{interrupt, notice};

/// Functions are taken until they make up this share of all stores.
const ENOUGH: f64 = 0.90;
/// Functions with a smaller share are not taken.
const LEAST: f64 = 0.01;

/// The code of scope `functions`, and what the program counted in all where a first run was
/// needed: what was named, or the functions that make up most stores, as a first run in scope `count` finds
/// them (P0, section 6.1, step 1). None in other scopes.
pub fn chosen_code(
    command: &[OsString],
    run: &RunArgs,
    debug_dirs: &[PathBuf],
) -> Result<(NamedCode, Option<ProgramTotals>), CliError> {
    if run.scope != Some(ScopeArg::Functions) {
        return Ok((NamedCode::default(), None));
    }
    let named = run.chosen.named();
    if !named.is_empty() {
        return Ok((named, None));
    }
    let (counter, outcome) = counted(command, run, ProgramOutput::Discarded)?;
    crate::run::tell_end(outcome.status);
    if interrupt::watch()?.count() > 0 {
        return Err(CliError::Failed(
            "stopped in the first run, which counts; name functions with --function to need only \
             one run"
                .into(),
        ));
    }
    if counter.instructions == 0 {
        return Err(crate::run::nothing(run, &outcome));
    }
    let totals = ProgramTotals {
        instructions: counter.instructions,
        stores: counter.total_stores(),
    };
    let names = most_stores(counter, debug_dirs);
    if names.is_empty() {
        return Err(CliError::Failed(
            "no function with stores was found in the first run: name one with --function".into(),
        ));
    }
    notice::tell(&format!("functions that store most: {}", names.join(", ")));
    let chosen = NamedCode {
        functions: names,
        ..NamedCode::default()
    };
    Ok((chosen, Some(totals)))
}

fn most_stores(counter: Counter, debug_dirs: &[PathBuf]) -> Vec<String> {
    let total = counter.total_stores().max(1) as f64;
    let mut namer = Namer::new(counter.sites, debug_dirs);
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for (site, stores) in counter.stores {
        if let Some(function) = namer.function(site) {
            *by_name.entry(function.name.to_string()).or_default() += stores;
        }
    }
    let mut ranked: Vec<(String, u64)> = by_name.into_iter().collect();
    ranked.sort_by_key(|(name, stores)| (std::cmp::Reverse(*stores), name.clone()));
    let mut sum = 0.0;
    ranked
        .into_iter()
        .take_while(|(_, stores)| {
            let share = *stores as f64 / total;
            let wanted = sum < ENOUGH && share >= LEAST;
            sum += share;
            wanted
        })
        .map(|(name, _)| name)
        .collect()
}
