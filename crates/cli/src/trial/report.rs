//! What came of it, as JSON has it (`schemas/try.schema.json`); the text is made of it.

use std::collections::BTreeMap;

use prestore_dirtbuster::Verdict;
use prestore_tracer::{Fate, Operation};
use prestore_whatif::Speedup;
use serde::Serialize;

use super::TryArgs;
use super::choose::{Candidate, Chosen};
use super::compare::{Sameness, compare};
use super::rounds::{TriedRuns, Variant};

/// Version of the JSON form.
const SCHEMA_VERSION: u32 = 1;

/// What `prestore try` says.
#[derive(Debug, Serialize)]
pub struct TryReport {
    /// Version of the form.
    pub schema_version: u32,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Rounds.
    pub runs: u32,
    /// The program as it is, under the engine.
    pub base: Seconds,
    /// Each finding alone.
    pub findings: Vec<TriedFinding>,
    /// All of them that could be changed; `None`: not more than one could.
    pub together: Option<Effect>,
    /// What else a reader must know: one sentence each.
    pub notes: Vec<String>,
}

/// Wall time, from the program's first instruction to its end.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    /// The median.
    pub seconds: f64,
    /// The least of all runs.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// A change and what it does.
#[derive(Debug, Serialize)]
pub struct Effect {
    /// Time without the change over time with it, in each round.
    #[serde(flatten)]
    pub speedup: Speedup,
    /// It gains or loses in every round, and enough to tell; else what is seen may be noise.
    pub clear: bool,
    /// The same of processor time.
    pub cpu: Speedup,
    /// Time with the change.
    pub time: Seconds,
    /// Fences that had to be executed in the last run to keep the program's stores in order.
    pub fences: u64,
    /// Is what is printed to stdout the same?
    pub stdout: Sameness,
    /// Does the program end in the same way?
    pub exit: Sameness,
}

/// One finding.
#[derive(Debug, Serialize)]
pub struct TriedFinding {
    /// Its number.
    pub finding: usize,
    /// Function of the place to change.
    pub function: String,
    /// What tells it apart from other findings of its function.
    pub apart: Option<String>,
    /// Source file, where known.
    pub file: Option<String>,
    /// Line, from 1, where known.
    pub line: Option<u32>,
    /// What the analysis advises.
    pub verdict: Verdict,
    /// What was tried.
    pub op: &'static str,
    /// Its store instructions.
    pub instructions: u64,
    /// Those that were changed.
    pub changed: u64,
    /// Those of them whose address was not aligned at least once, where they stored as before.
    pub unaligned: u64,
    /// The others.
    pub refused: Vec<Refusal>,
    /// What it does alone; `None`: nothing could be changed.
    pub effect: Option<Effect>,
}

/// Instructions that stayed as they are.
#[derive(Debug, Serialize)]
pub struct Refusal {
    /// How many.
    pub instructions: u64,
    /// Why.
    pub reason: &'static str,
}

impl TryReport {
    /// Of what was chosen and tried.
    pub fn new(args: &TryArgs, chosen: &Chosen, tried: &TriedRuns) -> Self {
        let words = args.command.iter();
        let base = &tried.variants[0];
        let of = |candidates: &[usize]| {
            let variants = tried.variants.iter().skip(1);
            let mut same = variants.filter(|v| v.candidates == candidates);
            same.next().map(|v| effect(base, v))
        };
        let together = tried.variants.last().filter(|v| v.candidates.len() > 1);
        let mut notes = chosen.notes.clone();
        for note in &tried.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        notes.extend(about_order(args, &tried.variants));
        Self {
            schema_version: SCHEMA_VERSION,
            command: words.map(|w| w.to_string_lossy().into_owned()).collect(),
            runs: args.runs,
            base: seconds(&base.seconds),
            findings: (chosen.candidates.iter().enumerate())
                .map(|(number, c)| named(c, tried, of(&[number])))
                .collect(),
            together: together.map(|v| effect(base, v)),
            notes,
        }
    }

    /// All changes.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        let alone = self.findings.iter().filter_map(|f| f.effect.as_ref());
        alone.chain(&self.together)
    }

    /// No change was seen to alter what the program does.
    pub fn is_the_same(&self) -> bool {
        self.effects()
            .all(|e| e.stdout != Sameness::Differs && e.exit != Sameness::Differs)
    }
}

/// Fences in a run that may be most of what is measured.
const MANY_FENCES: u64 = 10_000;

/// What is to be known about the order of stores in these runs.
fn about_order(args: &TryArgs, variants: &[Variant]) -> Option<String> {
    let note = if args.relaxed_order {
        "the order of stores was kept at atomics, fences and system calls only, as asked: where a plain store tells another \
         thread that changed ones are done, the advice must not be followed"
    } else if variants.iter().any(|v| v.fences >= MANY_FENCES) {
        "many fences were needed because other stores lie between the changed ones; a patch would not have them: \
         `--relaxed-order` tries without, for programs whose threads tell each other by atomics or locks"
    } else {
        return None;
    };
    Some(note.to_owned())
}

fn named(c: &Candidate, tried: &TriedRuns, effect: Option<Effect>) -> TriedFinding {
    let f = &c.finding;
    let mut refused: BTreeMap<&'static str, u64> = c.refused.iter().copied().collect();
    let (mut changed, mut unaligned) = (0, 0);
    for found in c.sites.iter().map(|&s| tried.found[s]) {
        match why(found.fate) {
            None => {
                changed += 1;
                unaligned += u64::from(found.unaligned);
            }
            Some(reason) => *refused.entry(reason).or_default() += 1,
        }
    }
    let untried: u64 = c.refused.iter().map(|(_, n)| n).sum();
    TriedFinding {
        finding: f.number,
        function: f.place.function.clone(),
        apart: f.apart.clone(),
        file: f.place.file.clone(),
        line: f.place.line,
        verdict: f.verdict,
        op: match c.op {
            Operation::Skip => "skip",
            Operation::Clean => "clean",
            Operation::Demote => "demote",
        },
        instructions: c.sites.len() as u64 + untried,
        changed,
        unaligned,
        refused: (refused.into_iter())
            .map(|(reason, instructions)| Refusal {
                instructions,
                reason,
            })
            .collect(),
        effect,
    }
}

fn effect(base: &Variant, variant: &Variant) -> Effect {
    let speedup = Speedup::of(&ratios(&base.seconds, &variant.seconds));
    let of = |v: &Variant| -> (Vec<_>, Vec<_>) {
        v.behaviour.iter().map(|b| (b.stdout, b.status)).unzip()
    };
    let ((stdout, exit), (new_stdout, new_exit)) = (of(base), of(variant));
    Effect {
        speedup,
        clear: speedup.gains() || speedup.loses(),
        cpu: Speedup::of(&ratios(&base.cpu, &variant.cpu)),
        time: seconds(&variant.seconds),
        fences: variant.fences,
        stdout: compare(&stdout, &new_stdout),
        exit: compare(&exit, &new_exit),
    }
}

/// Round by round: what slows the machine down for a while slows down both.
fn ratios(base: &[f64], changed: &[f64]) -> Vec<f64> {
    let pairs = base.iter().zip(changed);
    pairs
        .filter(|(_, c)| **c > 0.0)
        .map(|(b, c)| b / c)
        .collect()
}

fn seconds(of: &[f64]) -> Seconds {
    let s = Speedup::of(of);
    Seconds {
        seconds: s.speedup,
        least: s.least,
        most: s.most,
    }
}

/// Why a store stayed as it is; `None`: it did not.
fn why(fate: Fate) -> Option<&'static str> {
    Some(match fate {
        Fate::Changed => return None,
        Fate::NotMet => "not executed in these runs",
        Fate::NoStore => "not a store",
        Fate::Small => "stores of less than 4 bytes, which have no non-temporal form",
        Fate::Masked => "stores through a mask, of parts of a line",
        Fate::Atomic => "atomics, which others synchronise by",
        Fate::String => "string instructions (rep movs, rep stos)",
        Fate::Stack => "on the stack",
        Fate::Reads => "reads what it writes (a change in place)",
        Fate::ThreadLocal => "data of the thread, behind a segment register",
        Fate::NoForm => "no non-temporal instruction stores the same",
        Fate::NonTemporal => "non-temporal already",
        Fate::NoInstruction => "this processor has no instruction for it",
    })
}
