//! Running a plan.

use prestore_measure::{Summary, ratios};

use crate::execute::Outcome;
use crate::results::{CaseResult, VariantResult};
use crate::{BenchError, Case, Plan, Variant};

/// Where a run is; told before each execution.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Executions before this one.
    pub done: usize,
    /// Executions in all.
    pub total: usize,
    /// What is executed.
    pub case: &'a Case,
    /// In which variant.
    pub variant: Variant,
}

/// Runs a plan. In every round each variant of a case is run once, and the order moves on by one from round to round,
/// so that neither drift nor a neighbour's work favours one. A first run of base warms up and is not counted.
///
/// # Errors
/// Those of `execute`, and [`BenchError::Result`] where a variant computes something else than base.
pub fn run(
    plan: &Plan,
    mut execute: impl FnMut(&Case, Variant) -> Result<Outcome, BenchError>,
    mut progress: impl FnMut(Step<'_>),
) -> Result<Vec<CaseResult>, BenchError> {
    let mut done = 0;
    let total = plan.executions();
    let mut results = Vec::new();
    for case in &plan.cases {
        let mut execute = |variant| {
            progress(Step {
                done,
                total,
                case,
                variant,
            });
            done += 1;
            execute(case, variant)
        };
        let expected = execute(Variant::Base)?;
        let mut seconds: Vec<Vec<f64>> = vec![Vec::new(); case.variants.len()];
        for round in 0..plan.runs {
            for turn in 0..case.variants.len() {
                let at = (turn + round) % case.variants.len();
                let variant = case.variants[at];
                let outcome = execute(variant)?;
                if outcome.checksum != expected.checksum && checksum_is_fixed(case) {
                    return Err(BenchError::Result {
                        program: case.program.name(),
                        variant: variant.name(),
                    });
                }
                seconds[at].push(outcome.seconds);
            }
        }
        results.push(summed_up(case, expected.operations, &seconds));
    }
    Ok(results)
}

/// Several threads of kv may read each other's values in any order.
fn checksum_is_fixed(case: &Case) -> bool {
    case.program != crate::Program::Kv || case.threads == 1
}

fn summed_up(case: &Case, operations: u64, seconds: &[Vec<f64>]) -> CaseResult {
    let base = case
        .variants
        .iter()
        .position(|v| *v == Variant::Base)
        .and_then(|at| seconds.get(at));
    let variants = case.variants.iter().zip(seconds);
    CaseResult {
        program: case.program,
        size: case.size,
        threads: case.threads,
        arguments: case.program.arguments(case.size, case.threads),
        operations,
        variants: variants
            .filter_map(|(&variant, seconds)| {
                let speedup = match variant {
                    Variant::Base => None,
                    _ => Summary::of(&ratios(base?, seconds)),
                };
                Some(VariantResult::of(variant, Summary::of(seconds)?, speedup))
            })
            .collect(),
    }
}
