//! Plans, runs and their figures, with programs whose times are made up.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that panics fails"
)]

use prestore_bench::{
    BenchError, BetweenCores, Case, Options, Outcome, Plan, Predicted, Program, Results, Variant,
    predict, render, run,
};

fn options() -> Options {
    Options {
        programs: Vec::new(),
        variants: Vec::new(),
        sizes: Vec::new(),
        threads: Vec::new(),
        runs: 5,
    }
}

fn outcome(seconds: f64) -> Result<Outcome, BenchError> {
    Ok(Outcome {
        operations: 1000,
        seconds,
        checksum: "same".into(),
    })
}

#[test]
fn everything_is_planned_where_nothing_is_chosen() {
    let plan = Plan::of(&options()).unwrap();
    for program in Program::ALL {
        let mut cases = plan.cases.iter().filter(|c| c.program == program);
        assert_eq!(cases.next().unwrap().variants, program.variants());
    }
}

#[test]
fn sizes_and_threads_reach_the_programs_that_have_them() {
    let plan = Plan::of(&Options {
        sizes: vec![64, 512],
        threads: vec![1, 2],
        ..options()
    })
    .unwrap();
    let of = |program| -> Vec<(u64, u64)> {
        let cases = plan.cases.iter().filter(|c| c.program == program);
        cases.map(|c| (c.size, c.threads)).collect()
    };
    assert_eq!(of(Program::Kv), [(64, 1), (64, 2), (512, 1), (512, 2)]);
    assert_eq!(of(Program::Ring), [(256, 2)]);
    let kv = plan
        .cases
        .iter()
        .find(|c| c.program == Program::Kv)
        .unwrap();
    let arguments = kv.arguments(Variant::Skip);
    assert!(
        arguments.contains(&"--value-size=64".to_owned()),
        "{arguments:?}"
    );
    assert!(arguments.contains(&"--op=skip".to_owned()), "{arguments:?}");
}

#[test]
fn base_is_run_whatever_is_chosen() {
    let plan = Plan::of(&Options {
        variants: vec![Variant::Skip],
        ..options()
    })
    .unwrap();
    let programs: Vec<Program> = plan.cases.iter().map(|c| c.program).collect();
    assert!(
        programs
            .iter()
            .all(|p| matches!(p, Program::Listing1 | Program::Kv | Program::Stencil))
    );
    assert!(
        plan.cases
            .iter()
            .all(|c| c.variants == [Variant::Base, Variant::Skip])
    );
}

#[test]
fn what_no_program_takes_is_refused() {
    let refused = |options: Options| Plan::of(&options).unwrap_err();
    assert!(matches!(
        refused(Options {
            sizes: vec![100],
            ..options()
        }),
        BenchError::Size { size: 100 }
    ));
    assert!(matches!(
        refused(Options {
            threads: vec![0],
            ..options()
        }),
        BenchError::Threads { .. }
    ));
    assert!(matches!(
        refused(Options {
            runs: 0,
            ..options()
        }),
        BenchError::Runs
    ));
    assert!(matches!(
        refused(Options {
            programs: vec![Program::Kv],
            variants: vec![Variant::Demote],
            ..options()
        }),
        BenchError::NothingToRun
    ));
}

fn listing1() -> Plan {
    Plan::of(&Options {
        programs: vec![Program::Listing1],
        sizes: vec![256],
        ..options()
    })
    .unwrap()
}

#[test]
fn every_variant_is_run_once_a_round_and_none_is_always_first() {
    let plan = listing1();
    let mut order = Vec::new();
    let mut steps = 0;
    run(
        &plan,
        |_: &Case, variant| {
            order.push(variant);
            outcome(1.0)
        },
        |step| {
            assert_eq!((step.done, step.total), (steps, plan.executions()));
            steps += 1;
        },
    )
    .unwrap();
    assert_eq!(order.len(), plan.executions());
    let rounds: Vec<_> = order[1..].chunks(4).collect();
    for round in &rounds {
        for variant in Variant::ALL {
            assert!(round.contains(&variant), "{round:?}");
        }
    }
    assert!(rounds.iter().any(|round| round[0] != Variant::Base));
}

#[test]
fn drift_of_the_machine_leaves_the_speedup_alone() {
    // Each round is 20% slower than the one before; skip takes half of base's time.
    let mut runs = 0;
    let cases = run(
        &listing1(),
        |_: &Case, variant| {
            let round = if runs == 0 { 0 } else { (runs - 1) / 4 };
            runs += 1;
            let drift = 1.2f64.powi(round);
            outcome(if variant == Variant::Skip {
                0.5 * drift
            } else {
                drift
            })
        },
        |_| {},
    )
    .unwrap();
    let results = Results::of("a CPU".into(), 2, 5, cases);
    let skip = results.cases[0]
        .variants
        .iter()
        .find(|v| v.variant == Variant::Skip);
    let skip = skip.unwrap();
    let speedup = skip.speedup.unwrap();
    assert!((speedup.median - 2.0).abs() < 1e-9 && speedup.spread() < 1e-9);
    assert!(!skip.unsteady);
    let base = &results.cases[0].variants[0];
    assert!(base.unsteady && base.speedup.is_none());
    assert!(
        results.warnings.iter().any(|w| w.contains("marked ~")),
        "{:?}",
        results.warnings
    );
    let text = render(&results);
    let row = text
        .lines()
        .find(|l| l.contains("skip") && l.contains("listing1"))
        .unwrap();
    assert!(row.ends_with("2.00 (2.00 to 2.00)"), "{text}");
}

#[test]
fn a_variant_that_computes_something_else_is_an_error() {
    let ran = run(
        &listing1(),
        |_: &Case, variant| {
            let mut outcome = outcome(1.0)?;
            if variant == Variant::Clean {
                outcome.checksum = "other".into();
            }
            Ok(outcome)
        },
        |_| {},
    );
    assert!(matches!(
        ran,
        Err(BenchError::Result {
            variant: "clean",
            ..
        })
    ));
}

#[test]
fn more_threads_than_cpus_is_said() {
    let plan = Plan::of(&Options {
        programs: vec![Program::Kv],
        threads: vec![8],
        ..options()
    })
    .unwrap();
    let cases = run(&plan, |_: &Case, _| outcome(1.0), |_| {}).unwrap();
    let results = Results::of("a CPU".into(), 2, 5, cases);
    assert!(
        results
            .warnings
            .iter()
            .any(|w| w.starts_with("8 threads share 2 CPUs"))
    );
}

/// Listing 1 where each variant takes these seconds in every round, predicted with others.
fn predicted(
    measured: impl Fn(Variant) -> f64,
    simulated: impl Fn(Variant) -> f64 + Sync,
) -> (Results, String) {
    let plan = listing1();
    let cases = run(&plan, |_: &Case, v| outcome(measured(v)), |_| {}).unwrap();
    let mut results = Results::of("a CPU".into(), 2, 5, cases);
    let simulate = |_: &Case, v| Ok::<f64, BenchError>(simulated(v));
    let mut steps = 0;
    predict(&plan, &mut results, "a machine", simulate, |step| {
        assert_eq!((step.done, step.total), (steps, 4));
        steps += 1;
    })
    .unwrap();
    let text = render(&results);
    (results, text)
}

fn of(results: &Results, variant: Variant) -> Predicted {
    let mut variants = results.cases[0].variants.iter();
    variants
        .find(|v| v.variant == variant)
        .and_then(|v| v.predicted)
        .unwrap()
}

#[test]
fn predicted_ratios_stand_beside_the_measured() {
    let measured = |v| match v {
        Variant::Clean => 2.0,
        Variant::Skip => 0.5,
        _ => 1.0,
    };
    let simulated = |v| match v {
        Variant::Clean => 1.6,
        Variant::Skip => 1.1,
        _ => 1.0,
    };
    let (results, text) = predicted(measured, simulated);
    let clean = of(&results, Variant::Clean);
    assert!((clean.speedup.unwrap() - 0.625).abs() < 1e-9);
    assert!((clean.error.unwrap() - 0.25).abs() < 1e-9);
    assert_eq!(clean.right_side, Some(true));
    assert_eq!(of(&results, Variant::Skip).right_side, Some(false));
    assert_eq!(of(&results, Variant::Base).speedup, None);
    // An effect that was not measured has no side.
    assert_eq!(of(&results, Variant::Demote).right_side, None);
    assert_eq!(text.matches("WRONG SIDE").count(), 1, "{text}");
    let prediction = results.prediction.unwrap();
    assert_eq!(prediction.wrong_side, 1);
    assert_eq!(prediction.machine, "a machine");
}

#[test]
fn operations_that_do_nothing_do_not_count() {
    let (mut results, _) = predicted(|_| 1.0, |_| 1.0);
    let active = results.operations.iter().filter(|o| o.active).count();
    assert_eq!(results.prediction.take().unwrap().ratios, active);
}

#[test]
fn effects_within_their_spread_have_no_side() {
    let plan = listing1();
    let mut runs = 0;
    let noisy = |_: &Case, variant| {
        // Base warms up first.
        let round = if runs == 0 { 0 } else { (runs - 1) / 4 };
        runs += 1;
        outcome(match variant {
            Variant::Clean if round % 2 == 0 => 4.0,
            Variant::Clean => 0.9,
            _ => 1.0,
        })
    };
    let cases = run(&plan, noisy, |_| {}).unwrap();
    let mut results = Results::of("a CPU".into(), 2, 5, cases);
    let spread = results.cases[0].variants[1].speedup.unwrap();
    assert!(
        spread.lower_quartile < 1.0 && spread.upper_quartile > 1.0,
        "{spread:?}"
    );
    predict(
        &plan,
        &mut results,
        "",
        |_, _| Ok::<f64, BenchError>(1.0),
        |_| {},
    )
    .unwrap();
    assert_eq!(of(&results, Variant::Clean).right_side, None);
}

#[test]
fn the_way_between_cores_is_said_where_it_was_measured() {
    let (mut results, text) = predicted(|_| 1.0, |_| 1.0);
    assert!(!text.contains("another core"), "{text}");
    let prediction = results.prediction.as_mut().unwrap();
    assert_eq!(BetweenCores::of(&[], 20.0), None);
    prediction.between_cores = BetweenCores::of(&[100.0, 25.0, 30.0], 20.0);
    let text = render(&results);
    let says =
        "read in 30.0 ns while the programs ran (25.0 to 100.0): simulated instead of the 20.0 ns";
    assert!(text.contains(says), "{text}");
}
