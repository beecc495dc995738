//! `prestore crash --check`: a recovery command on the images that a power cut may leave.

mod args;
mod checker;
mod desk;
mod plan;
mod progress;
mod state;
mod workers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use prestore_crash::{Blame, Domain, Logged, Place, Replay, blame};

pub use args::ImageArgs;
use args::kept_already;

use crate::error::CliError;
use crate::interrupt;
use crate::naming::CallNames;
use checker::{Checker, Ended};
use desk::{Desk, Parts};
use plan::Plan;
use state::{Failure, Question, State, Stored};
use workers::Work;

/// Failing images of which it is found out why.
const EXPLAINED: usize = 12;

/// Of those without an answer, as to find out why takes many more checks without one.
const HANGING: usize = 3;

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
    let mut hanging = if done.hung.is_some() { 1 } else { HANGING };
    let mut blames: Vec<Blame> = Vec::new();
    let mut first = None;
    for failure in some(&state.failures) {
        if matches!(failure.ended, Ended::Timeout(_)) {
            if hanging == 0 {
                continue;
            }
            hanging -= 1;
        }
        let why = blame(&logged.log, domain, from, &failure.place, |memory| {
            let ended = desk.check(&checker, &parts, logged.image(memory))?;
            Ok::<_, CliError>(!ended.is_good())
        })?;
        if first.is_none() {
            let kept = args.keep.clone().unwrap_or_else(|| beside(dir));
            first = Some(keep(failure, &why, domain, kept, (&parts, logged))?);
        }
        let same = |b: &Blame| logged.spot(b.store) == logged.spot(why.store);
        if !blames.iter().any(same) {
            blames.push(why);
        }
    }
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

/// The first failures, and others from all over.
fn some(failures: &[Failure]) -> Vec<&Failure> {
    let half = EXPLAINED / 2;
    let rest = failures.get(half..).unwrap_or_default();
    let step = rest.len().div_ceil(half).max(1);
    failures
        .iter()
        .take(half)
        .chain(rest.iter().step_by(step))
        .collect()
}

/// Writes the image in which the least is lost to `path`.
fn keep(
    failure: &Failure,
    why: &Blame,
    domain: Domain,
    path: PathBuf,
    (parts, logged): (&Parts, &Logged),
) -> Result<First, CliError> {
    let place = Place {
        events: why.events,
        lost: why.lost.clone(),
        kept: Vec::new(),
    };
    let mut replay = Replay::new(&logged.log, domain, place.events);
    let (memory, _) = replay.without(|piece| place.lost.contains(piece));
    let image = logged.image(memory);
    if path.symlink_metadata().is_err() {
        parts.write(&path, image)?;
    } else if !std::fs::read(&path).is_ok_and(|there| there == image) {
        return Err(kept_already(&path));
    }
    Ok(First {
        number: failure.number,
        blame: why.clone(),
        ended: failure.ended.to_string(),
        said: failure.said.clone(),
        kept: path,
    })
}

/// A name beside the recording that nobody has yet.
fn beside(dir: &Path) -> PathBuf {
    let named = |number: u32| {
        let mut name = dir.components().as_path().as_os_str().to_owned();
        name.push(".failed-image");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    (1..)
        .map(named)
        .find(|p| !p.exists())
        .unwrap_or_else(|| named(1))
}
