//! `prestore crash --check`: a recovery command on the images that a power cut may leave.

mod args;
mod checker;
mod desk;
mod failing;
mod plan;
mod progress;
mod state;
mod workers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prestore_crash::{Blame, Domain, Logged};

pub use args::ImageArgs;

use crate::error::CliError;
use crate::interrupt;
use crate::naming::CallNames;
use checker::Checker;
use desk::{Desk, Parts};
use failing::{Failing, beside};
use plan::Plan;
use state::{Question, State, Stored};
use workers::Work;

/// What became of the images.
pub struct Outcome {
    pub tried: u64,
    pub failed: u64,
    /// There are no others.
    pub complete: bool,
    /// Why images that were asked for were not checked, a sentence.
    pub stopped: Option<String>,
    pub first: Option<First>,
    /// Why they fail, each store that is to blame once, the first failure's first.
    pub blames: Vec<Blame>,
}

/// The first image that failed.
pub struct First {
    pub number: u64,
    /// The least that has to be lost.
    pub blame: Blame,
    /// How its check ended, and what it printed.
    pub ended: String,
    pub said: String,
    /// Where it is now.
    pub kept: PathBuf,
}

/// Checks images of `logged`, which is what `dir` recorded.
pub fn run(
    args: &ImageArgs,
    check: &str,
    domain: Domain,
    (dir, quiet): (&Path, bool),
    logged: &Logged,
    names: &CallNames,
) -> Result<Outcome, CliError> {
    let checker = Checker::new(check, args.timeout)?;
    let parts = Parts::of(logged);
    interrupt::end_at_once()?;
    let mut desk = Desk::new(args.scratch.as_deref())?;
    complete_passes(&checker, &parts, &mut desk, logged)?;
    let from = match &args.from {
        Some(name) => first_at(logged, name, names)?,
        None => 0,
    };
    let plan = Plan::new(&logged.log, domain, from, args.most, args.seed);
    let question = Question {
        recording: logged.log.id(),
        check: check.to_owned(),
        timeout: args.timeout.to_string(),
        domain: format!("{domain:?}"),
        images: args.most,
        seed: args.seed,
        from,
    };
    let (stored, before) = match &args.resume {
        Some(path) => {
            let (stored, before) = Stored::open(path, &question)?;
            (Some(stored), before)
        }
        None => (None, None),
    };
    let begin = before.unwrap_or(State {
        question,
        done: 0,
        failed: BTreeSet::new(),
        failures: Vec::new(),
    });
    let processors = || std::thread::available_parallelism().map_or(1, |n| n.get());
    let work = Work {
        logged,
        plan: &plan,
        checker: &checker,
        parts: &parts,
        scratch: args.scratch.as_deref(),
        jobs: args.jobs.map_or_else(processors, usize::from),
        quiet,
        stored: stored.as_ref(),
        hangs: args.hangs,
    };
    let done = work.all(begin)?;
    let state = done.state;
    let failing = Failing {
        checker: &checker,
        parts: &parts,
        logged,
        domain,
        from,
    };
    let few = done.hung.is_some();
    let keep = args.keep.clone().unwrap_or_else(|| beside(dir));
    let (first, blames) = failing.explained(&state.failures, few, &mut desk, keep)?;
    Ok(Outcome {
        tried: done.tried,
        failed: state.failed.len() as u64,
        complete: plan.complete && done.hung.is_none(),
        stopped: done.hung.map(|hangs| hung(hangs, args, &plan)),
        first,
        blames,
    })
}

/// What is said where it has stopped, as `hangs` checks in a row had no answer.
fn hung(hangs: u32, args: &ImageArgs, plan: &Plan) -> String {
    format!(
        "stopped before all of {} images were tried: {hangs} checks in a row had no answer in {} s; let recovery end by itself, give \
         it more time (--timeout), or go on all the same (--hangs 0)",
        plan.total, args.timeout
    )
}

/// A checker that refuses what nobody has cut would refuse everything.
fn complete_passes(
    checker: &Checker,
    parts: &Parts,
    desk: &mut Desk,
    logged: &Logged,
) -> Result<(), CliError> {
    let complete = logged.log.complete();
    let ended = desk.check(checker, parts, logged.image(&complete))?;
    if ended.is_good() {
        return Ok(());
    }
    let said = desk.said();
    let said = if said.is_empty() {
        said
    } else {
        format!("\nIt said: {said}")
    };
    Err(CliError::Usage(format!(
        "--check refuses the complete image already, as it was at the program's end without any power cut \
         ({ended}): see whether the command is right{said}"
    )))
}

/// The number of the first event that `name`, or what it calls, does.
fn first_at(logged: &Logged, name: &str, names: &CallNames) -> Result<usize, CliError> {
    let is = |site| names.of(site).iter().any(|frame| frame.is(name));
    let fits: Vec<bool> = (logged.spots.iter())
        .map(|spot| is(spot.site) || spot.calls.iter().any(|call| is(*call)))
        .collect();
    let of = |event: usize| {
        let tag = logged.log.events()[event].tag as usize;
        logged.origins.get(tag).and_then(|o| fits.get(o.0 as usize))
    };
    (0..logged.log.events().len())
        .find(|&event| of(event) == Some(&true))
        .ok_or_else(|| {
            CliError::Usage(format!(
                "--from {name}: nothing of this name stores to, flushes or fences this memory"
            ))
        })
}
