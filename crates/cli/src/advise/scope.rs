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

/// Code is taken until it makes up this share of all stores.
const ENOUGH: f64 = 0.90;
/// Code with a smaller share is not taken.
const LEAST: f64 = 0.01;

/// What stores are counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Code {
    /// A function, by its name.
    Function(String),
    /// All of a stripped file that no symbol names, by the file's path.
    Module(String),
}

/// The code of scope `functions`, and what the program counted in all where a first run was
/// needed: what was named, or the functions that make up most stores, as a first run in scope `count` finds
/// them (P0, section 6.1, step 1); of stripped programs the files. None in other scopes.
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
    let chosen = most_stores(counter, debug_dirs);
    if chosen.is_empty() {
        return Err(CliError::Failed(
            "no file or function with stores was found in the first run: name one with --function, \
             --module or --place"
                .into(),
        ));
    }
    tell(&chosen);
    Ok((chosen, Some(totals)))
}

fn tell(chosen: &NamedCode) {
    let NamedCode {
        functions, modules, ..
    } = chosen;
    if !functions.is_empty() {
        notice::tell(&format!(
            "functions that store most: {}",
            functions.join(", ")
        ));
    }
    if !modules.is_empty() {
        notice::tell(&format!(
            "no symbols tell the functions of these apart, so all of each is looked at: {}",
            modules.join(", ")
        ));
    }
}

fn most_stores(counter: Counter, debug_dirs: &[PathBuf]) -> NamedCode {
    let total = counter.total_stores().max(1) as f64;
    let mut namer = Namer::new(counter.sites, debug_dirs);
    let mut by_code: BTreeMap<Code, u64> = BTreeMap::new();
    for (site, stores) in counter.stores {
        let function = namer.function(site).map(|f| f.name.to_string());
        let code = match function {
            Some(name) => Some(Code::Function(name)),
            None => namer.file(site).map(Code::Module),
        };
        if let Some(code) = code {
            *by_code.entry(code).or_default() += stores;
        }
    }
    let mut ranked: Vec<(Code, u64)> = by_code.into_iter().collect();
    ranked.sort_by(|(a, n), (b, m)| m.cmp(n).then_with(|| a.cmp(b)));
    let mut sum = 0.0;
    let taken = ranked.into_iter().take_while(|(_, stores)| {
        let share = *stores as f64 / total;
        let wanted = sum < ENOUGH && share >= LEAST;
        sum += share;
        wanted
    });
    let mut chosen = NamedCode::default();
    for (code, _) in taken {
        match code {
            Code::Function(name) => chosen.functions.push(name),
            Code::Module(path) => chosen.modules.push(path),
        }
    }
    chosen
}
