//! The advice is what runs with failures would have chosen.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use fastrand::Rng;
use prestore_recompute::{Advice, Level, Measured, Scheme, checkpoint_cost, crossing};

/// As tmm of 1024 by 1024 with blocks of 16 in P4: 64 iterations of `kk`, of 64 of `ii`, of 64 of `jj`.
fn tmm(mttf_seconds: f64) -> Measured {
    let level = |name: &str, seconds: f64, persist_part: f64| Level {
        name: name.to_string(),
        seconds,
        persist_seconds: seconds * persist_part,
    };
    Measured {
        outer: 64,
        outer_seconds: 1.0,
        copy_seconds: 2.07,
        workers: 1,
        fresh: false,
        mttf_seconds,
        levels: vec![
            level("kk", 1.0, 0.049),
            level("ii", 1.0 / 64.0, 0.05),
            level("jj", 1.0 / 4096.0, 0.06),
        ],
    }
}

/// Seconds that a run takes in which failures come at random, step by step.
fn simulate(of: &Measured, advice: &Advice, random: &mut Rng) -> f64 {
    let mut until = || {
        let uniform = random.f64();
        -of.mttf_seconds * (1.0 - uniform).ln()
    };
    let (mut now, mut failure) = (0.0, until());
    let work = of.outer as f64 * of.outer_seconds * (1.0 + advice.overhead);
    // What is lost together, and how long a recovery takes at this point of the run.
    let (unit, recovery): (f64, Box<dyn Fn(f64) -> f64>) = match (advice.scheme, advice.level) {
        (Scheme::Checkpoint { every, .. }, _) => (
            every as f64 * of.outer_seconds,
            Box::new(|_| of.copy_seconds),
        ),
        (Scheme::Hybrid { period }, Some(level)) => {
            let seconds = of.levels[level].seconds;
            (
                seconds,
                Box::new(move |done| (done * of.outer as f64) % period as f64 * seconds),
            )
        }
        (_, Some(level)) => {
            let seconds = of.levels[level].seconds;
            (
                seconds,
                Box::new(move |done| done * of.outer as f64 * seconds),
            )
        }
        _ => panic!("no level"),
    };
    let unit = unit * (1.0 + advice.overhead);
    let mut done = 0.0;
    while done < work {
        let step = unit.min(work - done);
        if now + step <= failure {
            now += step;
            done += step;
            continue;
        }
        loop {
            now = failure;
            failure = now + until();
            let back = recovery(done / work);
            if now + back <= failure {
                now += back;
                break;
            }
        }
    }
    now
}

fn mean(of: &Measured, advice: &Advice) -> f64 {
    let mut random = Rng::with_seed(9);
    let runs = 100;
    (0..runs)
        .map(|_| simulate(of, advice, &mut random))
        .sum::<f64>()
        / f64::from(runs)
}

#[test]
fn simulated_runs_confirm_it() {
    for mttf in [10.0, 40.0, 200.0, 1000.0, 1e5, 1e7] {
        let of = tmm(mttf);
        let best = of.advise().unwrap();
        let took = mean(&of, &best);
        let expected = 64.0 * (1.0 + best.expected);
        assert!(
            (took / expected - 1.0).abs() < 0.05,
            "{mttf}: {took} instead of {expected}, {best:?}"
        );
        let mut others: Vec<_> = (0..3).map(|level| of.recompute(level, None)).collect();
        others.extend([1, 8, 32].map(|period| of.recompute(1, Some(period))));
        others.push(of.checkpoint());
        for other in others.into_iter().flatten() {
            let other_took = mean(&of, &other);
            assert!(
                took <= other_took * 1.02,
                "{mttf}: {best:?} {took}, {other:?} {other_took}"
            );
        }
    }
}

#[test]
fn the_rarer_failures_are_the_more_is_lost_at_once() {
    let seconds = |mttf| {
        let of = tmm(mttf);
        of.levels[of.advise().unwrap().level.unwrap()].seconds
    };
    assert_eq!(seconds(0.5), 1.0 / 4096.0);
    assert_eq!(seconds(1000.0), 1.0 / 64.0);
    let rare = tmm(1e7).advise().unwrap();
    assert_eq!(
        (rare.level, rare.scheme.to_string()),
        (None, "CP64".to_string())
    );
}

#[test]
fn a_hybrid_is_for_recoveries_that_would_take_too_long() {
    // From the beginning it takes 64 iterations of ii, a second in all.
    let mut of = tmm(0.9);
    of.levels.truncate(2);
    assert_eq!(of.recompute(1, None), None);
    assert!(matches!(
        of.advise().unwrap().scheme,
        Scheme::Hybrid { period: 2..=32 }
    ));
    of.fresh = true;
    assert_eq!(of.advise().unwrap().scheme, Scheme::Recompute);
    of.fresh = false;
    of.mttf_seconds = 1.0 / 64.0;
    assert_eq!(of.advise(), None);
}

#[test]
fn where_checkpoints_become_cheaper() {
    // P4, table 3.4, for one checkpoint an iteration: CP 3.07 and 4.30 (time and writes), HR_ii_x64 1.07 and 1.08.
    assert!((crossing(2.07, 1.0, 0.07) - 29.6).abs() < 0.1);
    assert!((crossing(3.30, 1.0, 0.08) - 41.3).abs() < 0.1);
    let points: Vec<_> = [1.0, 2.0, 3.0, 8.0]
        .map(|distance| (distance, 1.0 + 2.94 / distance))
        .to_vec();
    // P4 extrapolates to 42 iterations.
    assert!((crossing(checkpoint_cost(&points), 1.0, 0.07) - 42.0).abs() < 0.1);
    let of = tmm(1e4);
    let best = of.advise().unwrap();
    let at = best.crossing.unwrap();
    assert!((of.copy_seconds / at - best.overhead).abs() < 1e-9 || best.level.is_none());
}
