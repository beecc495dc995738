//! The same programs simulated, beside what was measured.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use prestore_measure::Summary;
use serde::Serialize;

use crate::{Case, Plan, Results, Step, Variant, VariantResult};

/// A measured effect from which on its side is clear: the speedup or its reciprocal is greater by this share than 1.
const CLEAR: f64 = 0.15;

/// A measured ratio whose quartiles lie more than this share of the median apart says nothing about a prediction: the
/// error would be the noise's.
const TOO_NOISY: f64 = 0.20;
/// Rounds without which a spread cannot be seen.
const ROUNDS: usize = 3;

/// A variant's simulated figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Predicted {
    /// Simulated seconds of what is timed.
    pub seconds: f64,
    /// Base's simulated seconds over this variant's; none for base.
    pub speedup: Option<f64>,
    /// Predicted over measured speedup, less 1; none for base, and where what was measured is too noisy to compare with.
    pub error: Option<f64>,
    /// What was measured is too noisy to compare with, or measured too few times to tell.
    pub too_noisy: bool,
    /// Predicted and measured speedup lie on the same side of 1; none where the measured effect is not clear.
    pub right_side: Option<bool>,
}

/// How the predictions fared; operations that do nothing on this host are left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The machine simulated.
    pub machine: String,
    /// Ratios compared.
    pub ratios: usize,
    /// Ratios that were too noisy to be compared.
    pub too_noisy: usize,
    /// Median of the errors' magnitudes; none where more ratios were too noisy than could be compared.
    pub median_error: Option<f64>,
    /// Ratios whose measured effect is clear.
    pub clear: usize,
    /// Of those, predictions on the wrong side of 1.
    pub wrong_side: usize,
    /// What was measured between the runs of programs with several threads; none where the machine is not this
    /// host or no program has several.
    pub between_cores: Option<BetweenCores>,
}

/// The way from core to core while the programs ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BetweenCores {
    /// Nanoseconds to read a line that another core has just written: this was simulated.
    pub now: Summary,
    /// The same as the machine's file says.
    pub described: f64,
}

impl BetweenCores {
    /// Sums up what was measured, in nanoseconds; none where nothing was.
    pub fn of(measured: &[f64], described: f64) -> Option<BetweenCores> {
        let now = Summary::of(measured)?;
        Some(BetweenCores { now, described })
    }
}

/// Simulates each variant that was measured and puts its figures beside. `results` are those of `plan`; `simulate`
/// gives the seconds of what is timed on `machine`, of as many variants at once as there are CPUs.
///
/// # Errors
/// The first of `simulate`.
pub fn predict<E: Send>(
    plan: &Plan,
    results: &mut Results,
    machine: &str,
    simulate: impl Fn(&Case, Variant) -> Result<f64, E> + Sync,
    progress: impl FnMut(Step<'_>),
) -> Result<(), E> {
    let all: Vec<(&Case, Variant)> = (plan.cases.iter())
        .flat_map(|case| case.variants.iter().map(move |variant| (case, *variant)))
        .collect();
    let seconds = at_once(&all, simulate, progress)?;
    let mut seconds = all.iter().zip(seconds);
    for result in &mut results.cases {
        let mut base = None;
        for measured in &mut result.variants {
            let Some((&(_, variant), seconds)) = seconds.next() else {
                break;
            };
            if variant == Variant::Base {
                base = Some(seconds);
            }
            measured.predicted = Some(beside(measured, seconds, base));
        }
    }
    results.prediction = Some(summed_up(results, machine));
    Ok(())
}

/// Simulates `all`, on each CPU the next that nobody has begun. Answers in their order.
fn at_once<E: Send>(
    all: &[(&Case, Variant)],
    simulate: impl Fn(&Case, Variant) -> Result<f64, E> + Sync,
    mut progress: impl FnMut(Step<'_>),
) -> Result<Vec<f64>, E> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.min(all.len()) {
            let (sender, next, simulate) = (sender.clone(), &next, &simulate);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(&(case, variant)) = all.get(at) else {
                        return;
                    };
                    // Nobody listens any more once one has failed.
                    if sender.send((at, None)).is_err() {
                        return;
                    }
                    let seconds = simulate(case, variant);
                    let _ = sender.send((at, Some(seconds)));
                }
            });
        }
        drop(sender);
        let (mut seconds, mut begun) = (vec![0.0; all.len()], 0);
        for (at, simulated) in receiver {
            let (case, variant) = all[at];
            match simulated {
                None => {
                    progress(Step {
                        done: begun,
                        total: all.len(),
                        case,
                        variant,
                    });
                    begun += 1;
                }
                Some(simulated) => seconds[at] = simulated?,
            }
        }
        Ok(seconds)
    })
}

fn beside(measured: &VariantResult, seconds: f64, base: Option<f64>) -> Predicted {
    let speedup = measured.speedup.and(base).map(|base| base / seconds);
    let too_noisy = measured
        .speedup
        .is_some_and(|measured| is_too_noisy(&measured));
    let both = speedup.zip(measured.speedup).filter(|_| !too_noisy);
    Predicted {
        seconds,
        speedup,
        too_noisy,
        error: both.map(|(predicted, measured)| predicted / measured.median - 1.0),
        right_side: both.and_then(|(predicted, measured)| same_side(predicted, &measured)),
    }
}

fn is_too_noisy(measured: &Summary) -> bool {
    measured.count < ROUNDS || measured.spread() > TOO_NOISY
}

/// None where the measured speedup is not clearly off 1: too near, or its quartiles on both sides.
fn same_side(predicted: f64, measured: &Summary) -> Option<bool> {
    let faster = measured.median > 1.0 + CLEAR && measured.lower_quartile > 1.0;
    let slower = measured.median < 1.0 / (1.0 + CLEAR) && measured.upper_quartile < 1.0;
    match (faster, slower) {
        (true, _) => Some(predicted > 1.0),
        (_, true) => Some(predicted < 1.0),
        _ => None,
    }
}

fn summed_up(results: &Results, machine: &str) -> Prediction {
    let active = |variant: Variant| {
        let mut operations = results.operations.iter();
        operations.any(|operation| operation.variant == variant && operation.active)
    };
    let all = results.cases.iter().flat_map(|case| &case.variants);
    let counted: Vec<Predicted> = all
        .filter(|variant| active(variant.variant))
        .filter_map(|variant| variant.predicted)
        .collect();
    let errors: Vec<f64> = counted
        .iter()
        .filter_map(|p| Some(p.error?.abs()))
        .collect();
    let too_noisy = counted.iter().filter(|p| p.too_noisy).count();
    let enough = errors.len() >= too_noisy;
    let sides: Vec<bool> = counted.iter().filter_map(|p| p.right_side).collect();
    Prediction {
        machine: machine.to_owned(),
        ratios: errors.len(),
        too_noisy,
        median_error: Summary::of(&errors)
            .filter(|_| enough)
            .map(|errors| errors.median),
        clear: sides.len(),
        wrong_side: sides.iter().filter(|right| !**right).count(),
        between_cores: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(ratios: &[f64]) -> VariantResult {
        let seconds = Summary::of(&[1.0]).unwrap();
        VariantResult::of(Variant::Skip, seconds, Summary::of(ratios))
    }

    #[test]
    fn a_steady_ratio_is_compared() {
        let p = beside(&variant(&[1.24, 1.25, 1.26]), 0.5, Some(0.6));
        assert!(!p.too_noisy);
        assert!((p.error.unwrap() - (1.2 / 1.25 - 1.0)).abs() < 1e-12);
        assert_eq!(p.right_side, Some(true));
    }

    #[test]
    fn a_noisy_one_is_not_and_neither_is_one_of_few_rounds() {
        for ratios in [&[0.8, 1.25, 1.7][..], &[1.25, 1.25]] {
            let p = beside(&variant(ratios), 0.5, Some(0.4));
            assert!(p.too_noisy, "{ratios:?}");
            assert_eq!((p.error, p.right_side), (None, None));
            assert_eq!(p.speedup, Some(0.8));
        }
    }
}
