//! The report: findings with names and the run they come from.

use crate::apart;
use crate::finding::NamedFinding;
use crate::human::percent;
use crate::location;
use crate::resolve::Resolver;
use crate::run::Run;
use prestore_dirtbuster::Findings;
use serde::{Deserialize, Serialize};

/// Version of the JSON forms. It rises when a key goes away or changes its meaning, not when one
/// is added.
pub const SCHEMA_VERSION: u32 = 1;

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
}

/// What `prestore advise` says. Serialised, it is the JSON form; see `docs/findings.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// What was run and how it was observed; `notes` holds also what this crate found out.
    #[serde(flatten)]
    pub run: Run,
    /// Enough of the instructions were stores for pre-stores to matter.
    pub write_intensive: bool,
    /// Store fraction from which a program counts as write-intensive, 0 to 1.
    pub write_intensive_threshold: f64,
    /// Sums over the run.
    pub totals: Totals,
    /// Largest share of stores first, or what is predicted to gain most.
    pub findings: Vec<NamedFinding>,
}

impl Report {
    /// Names `findings` of `run`. `write_intensive_threshold` is the store fraction that the
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
        let mut report = Self {
            schema_version: SCHEMA_VERSION,
            run,
            write_intensive: findings.write_intensive,
            write_intensive_threshold,
            totals: Totals {
                instructions: findings.instructions,
                stores: findings.stores,
                loads: findings.loads,
                fences: findings.fences,
                store_fraction: findings.store_fraction,
            },
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

    /// One sentence on the share of stores: the first of P0's questions (section 7.1).
    pub fn write_intensity(&self) -> String {
        let fraction = percent(self.totals.store_fraction);
        let threshold = percent(self.write_intensive_threshold);
        if self.write_intensive {
            format!(
                "write-intensive: {fraction} of the instructions are stores (threshold {threshold})"
            )
        } else {
            format!(
                "not write-intensive: {fraction} of the instructions are stores \
                 (threshold {threshold}); the analysis stops here"
            )
        }
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
