//! What a bench found: the JSON output.

use prestore_measure::Summary;
use serde::Serialize;

use crate::{Operation, Predicted, Prediction, Program, Variant};

/// Version of the JSON output; changes when a key changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// A spread from which on a figure is called unsteady: the quartiles lie this share of the median apart.
const UNSTEADY: f64 = 0.10;

/// All of a bench.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Results {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The CPU's name.
    pub cpu: String,
    /// Logical CPUs that this process may use.
    pub cpus: usize,
    /// Rounds of each case.
    pub runs: usize,
    /// What stands behind the operations here.
    pub operations: Vec<Operation>,
    /// The cases.
    pub cases: Vec<CaseResult>,
    /// How predictions fared; none where none were asked for.
    pub prediction: Option<Prediction>,
    /// What to mind when reading the figures.
    pub warnings: Vec<String>,
}

/// A case's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseResult {
    /// The program.
    pub program: Program,
    /// Bytes of one write.
    pub size: u64,
    /// Threads.
    pub threads: u64,
    /// The program's arguments, but for the operation.
    pub arguments: Vec<String>,
    /// Operations of one run: elements, messages, requests.
    pub operations: u64,
    /// Its variants, base first.
    pub variants: Vec<VariantResult>,
}

/// A variant's figures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariantResult {
    /// The variant.
    pub variant: Variant,
    /// Seconds of a run.
    pub seconds: Summary,
    /// Base's seconds over this variant's in the same round; above 1 the variant is faster. None for base.
    pub speedup: Option<Summary>,
    /// The figure that counts (speedup, or seconds for base) is spread widely.
    pub unsteady: bool,
    /// What a simulation says; none where none was asked for.
    pub predicted: Option<Predicted>,
}

impl VariantResult {
    pub(crate) fn of(
        variant: Variant,
        seconds: Summary,
        speedup: Option<Summary>,
    ) -> VariantResult {
        VariantResult {
            variant,
            seconds,
            speedup,
            unsteady: speedup.unwrap_or(seconds).spread() > UNSTEADY,
            predicted: None,
        }
    }
}

impl Results {
    /// Puts figures, host and operations together, and says what to mind.
    pub fn of(cpu: String, cpus: usize, runs: usize, cases: Vec<CaseResult>) -> Results {
        let used = |v: &Variant| {
            let mut variants = cases.iter().flat_map(|case| &case.variants);
            variants.any(|result| result.variant == *v)
        };
        let operations: Vec<Operation> = Variant::ALL
            .into_iter()
            .filter(used)
            .filter_map(Operation::of)
            .collect();
        let warnings = warnings(cpus, &operations, &cases);
        Results {
            schema_version: SCHEMA_VERSION,
            cpu,
            cpus,
            runs,
            operations,
            cases,
            prediction: None,
            warnings,
        }
    }
}

fn warnings(cpus: usize, operations: &[Operation], cases: &[CaseResult]) -> Vec<String> {
    let mut warnings = Vec::new();
    for operation in operations {
        if !operation.active {
            warnings.push(format!(
                "{} does nothing on this host ({}: {}): its figures show what the call costs",
                operation.variant, operation.instruction, operation.reason
            ));
        }
        warnings.extend(operation.warning.clone());
    }
    if let Some(most) = cases.iter().map(|case| case.threads).max()
        && most > cpus as u64
    {
        warnings.push(format!(
            "{most} threads share {cpus} CPUs: such figures show the scheduler's work, too"
        ));
    }
    let unsteady = cases
        .iter()
        .flat_map(|case| &case.variants)
        .filter(|variant| variant.unsteady)
        .count();
    if unsteady > 0 {
        warnings.push(format!(
            "{unsteady} figures (marked ~) are spread over more than {:.0}% between their quartiles: \
             is the machine busy? --runs takes more of them",
            UNSTEADY * 100.0
        ));
    }
    warnings
}
