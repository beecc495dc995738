//! The report: findings with names and the run they come from.

use crate::apart;
use crate::beside;
use crate::finding::NamedFinding;
use crate::human::percent;
use crate::location;
use crate::pitfall::NamedPitfall;
use crate::resolve::Resolver;
use crate::run::Run;
use prestore_dirtbuster::Findings;
use serde::{Deserialize, Serialize};

/// Version of the JSON forms. It rises when a key goes away or changes its meaning, not when one
/// is added.
pub const SCHEMA_VERSION: u32 = 1;

/// The same of [`Report`]'s form. 2: being write-intensive is a matter of time, not of counts.
pub const ADVISE_SCHEMA_VERSION: u32 = 2;

/// The part of the threshold from which on a program that is below it may be above: the estimated time in stores was
/// 0.65 to 1.25 of what `perf record -e cpu-clock` shows at stores to data, for eight of nine programs of
/// NPB in C++ and LULESH; of EP, which hardly writes, 0.37.
const NEAR: f64 = 0.7;

/// Sums over the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Instructions executed by all threads.
    pub instructions: u64,
    /// Store instructions executed (stores, non-temporal stores, atomics).
    pub stores: u64,
    /// Load instructions executed.
    pub loads: u64,
    /// Fences and atomics executed.
    pub fences: u64,
    /// Stores over instructions, 0 to 1.
    pub store_fraction: f64,
    /// Estimated share of the time that writing takes, 0 to 1.
    pub write_time_share: f64,
    /// Instructions that waited for other threads.
    pub waited: u64,
    /// Lines written that left the cores' caches for memory.
    pub lines_written: u64,
    /// Lines written that had to be got from another core.
    pub lines_taken: u64,
    /// Lines that came from afar to be read, estimated from a sample.
    pub lines_read: u64,
}

/// What `prestore advise` says. Serialised, it is the JSON form; see `docs/findings.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`ADVISE_SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What was run and how it was observed; `notes` holds also what this crate found out.
    #[serde(flatten)]
    pub run: Run,
    /// Enough of the time goes to writing for pre-stores to matter.
    pub write_intensive: bool,
    /// Share of the time from which a program counts as write-intensive, 0 to 1.
    pub write_intensive_threshold: f64,
    /// Sums over the run.
    pub totals: Totals,
    /// Largest share of the writing first, or what is predicted to gain most.
    pub findings: Vec<NamedFinding>,
    /// Existing flushes, fences and non-temporal stores that cost for nothing, dearest first.
    pub pitfalls: Vec<NamedPitfall>,
}

impl Report {
    /// Names `findings` of `run`. `write_intensive_threshold` is the share of the time that the
    /// analysis used (0 to 1).
    pub fn new(
        findings: &Findings,
        run: Run,
        write_intensive_threshold: f64,
        resolver: &mut dyn Resolver,
    ) -> Self {
        let numbered = (1..).zip(&findings.findings);
        let mut named: Vec<NamedFinding> = numbered
            .map(|(number, f)| location::name(number, f, resolver))
            .collect();
        apart::tell_apart(&mut named);
        beside::warn_of_turns(&mut named);
        let mut report = Self {
            schema_version: ADVISE_SCHEMA_VERSION,
            run,
            write_intensive: findings.write_intensive,
            write_intensive_threshold,
            totals: Totals {
                instructions: findings.instructions,
                stores: findings.stores,
                loads: findings.loads,
                fences: findings.fences,
                store_fraction: findings.store_fraction,
                write_time_share: findings.time.share(),
                waited: findings.time.waited,
                lines_written: findings.time.lines_written,
                lines_taken: findings.time.lines_taken,
                lines_read: findings.time.lines_read,
            },
            pitfalls: findings
                .pitfalls
                .iter()
                .map(|p| NamedPitfall::new(p, resolver))
                .collect(),
            findings: named,
        };
        report.run.notes.extend(report.missing_lines_note());
        report
    }

    /// Findings that advise something and whose place has no source line: those SARIF cannot show.
    pub fn advice_without_line(&self) -> usize {
        let lost = |f: &&NamedFinding| f.is_advice() && f.place.line.is_none();
        self.findings.iter().filter(lost).count()
    }

    /// One sentence on the share of writing: the first of P0's questions (section 7.1).
    pub fn write_intensity(&self) -> String {
        let share = percent(self.totals.write_time_share);
        let stores = percent(self.totals.store_fraction);
        let threshold = percent(self.write_intensive_threshold);
        let figures = format!(
            "writing takes about {share} of the time (threshold {threshold}; {stores} of the \
             instructions are stores)"
        );
        if self.write_intensive {
            format!("write-intensive: {figures}")
        } else {
            let near = match self.is_near_write_intensive() {
                true => format!(
                    ". The time is an estimate, and too near the threshold to tell: what the advice would be \
                     stands below, and `--threshold min_write_time={near:.2}` gives it",
                    near = self.write_intensive_threshold * NEAR
                ),
                false => "; pre-stores would have no effect".to_owned(),
            };
            format!("not write-intensive: {figures}{near}")
        }
    }

    /// Might the program be write-intensive, and is there advice for it then?
    fn is_near_write_intensive(&self) -> bool {
        let near = self.write_intensive_threshold * NEAR;
        self.totals.write_time_share >= near && self.findings.iter().any(|f| f.dismissed.is_some())
    }

    fn missing_lines_note(&self) -> Option<String> {
        let bare: Vec<_> = (self.findings.iter())
            .filter(|f| f.place.line.is_none())
            .collect();
        if bare.is_empty() {
            return None;
        }
        let mut modules: Vec<&str> = bare.iter().map(|f| f.place.module.as_str()).collect();
        modules.sort_unstable();
        modules.dedup();
        Some(format!(
            "no source line for {} of {} findings: they are named by module and offset, and SARIF \
             leaves them out; build with -g or install the debug symbols of: {}",
            bare.len(),
            self.findings.len(),
            modules.join(", ")
        ))
    }
}
