//! Runs the program: unchanged and with each change in turn, in an order that rotates.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::ExitStatus;

use prestore_tracer::{Change, Fate, Found, Interrupts, Operation, Trial, Tried, trial};

use super::TryArgs;
use super::choose::Chosen;
use super::compare::{Behaviour, content};
use crate::error::CliError;
use crate::progress::Progress;
use crate::{interrupt, notice};

/// The last of what a run printed to stderr that is shown when it ended otherwise than the others.
const TAIL: u64 = 2000;

/// What is changed in some of the runs.
pub struct Variant {
    /// The candidates whose stores are changed, by their number in [`Chosen::candidates`]. None: the program as it is.
    pub candidates: Vec<usize>,
    /// Seconds of each run, in the order of the rounds.
    pub seconds: Vec<f64>,
    /// Processor seconds of each run.
    pub cpu: Vec<f64>,
    /// What each did; here, the first run of all, which is not timed, counts too.
    pub behaviour: Vec<Behaviour>,
    /// Fences of ours executed in the last run.
    pub fences: u64,
}

impl Variant {
    fn of(candidates: Vec<usize>) -> Self {
        Self {
            candidates,
            seconds: Vec::new(),
            cpu: Vec::new(),
            behaviour: Vec::new(),
            fences: 0,
        }
    }
}

/// What the runs showed.
pub struct TriedRuns {
    /// The unchanged program, then one candidate each, then all together if there are several.
    pub variants: Vec<Variant>,
    /// What became of each of [`Chosen::changes`].
    pub found: Vec<Found>,
    /// How the unchanged program ended.
    pub status: ExitStatus,
    /// What was not run as asked.
    pub notes: Vec<String>,
}

/// All rounds.
pub fn run(args: &TryArgs, chosen: &Chosen) -> Result<TriedRuns, CliError> {
    let interrupts = &*interrupt::watch()?;
    let mut runner = Runner {
        args,
        chosen,
        interrupts,
        progress: Progress::new(args.quiet, "runs"),
        left: (args.runs as usize).saturating_mul(chosen.candidates.len() + 1) + 1,
    };
    let everything = Variant::of((0..chosen.candidates.len()).collect());
    // Not timed: it shows what can be changed, and brings files into memory.
    let (first, behaviour) = runner.once(&everything)?;
    let changed = |c: usize| {
        let sites = &chosen.candidates[c].sites;
        sites.iter().any(|&s| first.found[s].fate == Fate::Changed)
    };
    let real: Vec<usize> = (everything.candidates.iter().copied())
        .filter(|&c| changed(c))
        .collect();
    let mut variants = vec![Variant::of(Vec::new())];
    variants.extend(real.iter().map(|&c| Variant::of(vec![c])));
    if real.len() > 1 {
        variants.push(Variant::of(real.clone()));
    }
    if let Some(last) = variants.last_mut().filter(|_| !real.is_empty()) {
        last.behaviour.push(behaviour);
    }
    let mut found = first.found;
    // Without a change there is nothing to compare: once, for how it ends.
    let rounds = if real.is_empty() {
        1
    } else {
        args.runs as usize
    };
    runner.left = rounds.saturating_mul(variants.len());
    for round in 0..rounds {
        for turn in 0..variants.len() {
            let at = (round + turn) % variants.len();
            let (tried, behaviour) = runner.once(&variants[at])?;
            let variant = &mut variants[at];
            variant.seconds.push(tried.time.as_secs_f64());
            variant.cpu.push(tried.cpu.as_secs_f64());
            variant.behaviour.push(behaviour);
            variant.fences = tried.fences;
            for (all, now) in found.iter_mut().zip(&tried.found) {
                all.unaligned |= now.unaligned;
            }
        }
    }
    // One run cannot tell whether the program does the same each time.
    let usual = variants[0].behaviour[0];
    let mut all = variants.iter().flat_map(|v| &v.behaviour);
    if args.runs == 1 && all.any(|b| *b != usual) {
        let (_, behaviour) = runner.once(&Variant::of(Vec::new()))?;
        variants[0].behaviour.push(behaviour);
    }
    Ok(TriedRuns {
        status: variants[0].behaviour[0].status,
        variants,
        found,
        notes: first.notes.iter().map(ToString::to_string).collect(),
    })
}

struct Runner<'a> {
    args: &'a TryArgs,
    chosen: &'a Chosen,
    interrupts: &'a Interrupts,
    progress: Progress,
    /// Runs that are still to come, as far as is known.
    left: usize,
}

impl Runner<'_> {
    fn once(&mut self, variant: &Variant) -> Result<(Tried, Behaviour), CliError> {
        let lost = |e: std::io::Error| {
            CliError::Failed(format!("what the program prints cannot be kept: {e}"))
        };
        let mut stdout = tempfile::tempfile().map_err(lost)?;
        let mut stderr = tempfile::tempfile().map_err(lost)?;
        let changes = self.changes(variant);
        let tried = trial(
            &self.args.command,
            &Trial {
                changes: &changes,
                keeps_order: self.chosen.keeps_order() && !self.args.relaxed_order,
                stdin: self.args.input.as_deref(),
                stdout: &stdout,
                stderr: &stderr,
            },
            self.interrupts,
        );
        self.left = self.left.saturating_sub(1);
        self.progress.one_with(self.left);
        // A request to stop is the program's, too: how it ended then says nothing of the change.
        let stopped = || CliError::Failed("the trial was stopped".into());
        if self.interrupts.count() > 0 {
            return Err(stopped());
        }
        let tried = tried.inspect_err(|_| tell(&mut stderr))?;
        let status = tried.status.filter(|_| !tried.interrupted);
        let status = status.ok_or_else(stopped)?;
        if !status.success() {
            tell(&mut stderr);
        }
        let behaviour = Behaviour {
            status,
            stdout: content(&mut stdout).map_err(lost)?,
        };
        Ok((tried, behaviour))
    }

    /// All are looked for in every run, so that this costs the same in each.
    fn changes(&self, variant: &Variant) -> Vec<Change> {
        let mut changes = self.chosen.changes.clone();
        for (number, candidate) in self.chosen.candidates.iter().enumerate() {
            let op: Option<Operation> =
                (variant.candidates.contains(&number)).then_some(candidate.op);
            for &site in &candidate.sites {
                changes[site].op = op;
            }
        }
        changes
    }
}

/// Shows the end of what a run that failed printed to stderr.
fn tell(stderr: &mut File) {
    let end = stderr.seek(SeekFrom::End(0)).unwrap_or(0);
    let mut tail = Vec::new();
    let read = stderr
        .seek(SeekFrom::Start(end.saturating_sub(TAIL)))
        .and_then(|_| stderr.read_to_end(&mut tail));
    if read.is_ok_and(|n| n > 0) {
        notice::tell(String::from_utf8_lossy(&tail).trim_end());
    }
}
