//! What a sample tells of the whole, and how surely.

mod student;

use serde::Serialize;

use student::two_sided_95;

/// A value, and the interval that it lies in with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The interval's lower end.
    pub least: f64,
    /// The interval's upper end.
    pub most: f64,
}

impl Estimate {
    /// Half of the interval over the value, in percent; infinite where nothing is known.
    pub fn percent(&self) -> f64 {
        let half = (self.most - self.least) / 2.0;
        match half == 0.0 {
            true => 0.0,
            false => 100.0 * half / self.value.abs(),
        }
    }

    /// The same, of `by` times as much.
    pub fn times(&self, by: f64) -> Self {
        Self {
            value: self.value * by,
            least: self.least * by,
            most: self.most * by,
        }
    }

    /// Sum of all `y` over sum of all `x`, of pairs (`x`, `y`) in the order of the units (the ratio estimator: Cochran,
    /// Sampling Techniques, 3rd edition, section 6.4). Units come one from each of equal parts of the run, so
    /// that how much neighbours differ, and not how much all do, tells how much chance there is (section 5A.12, strata
    /// with one unit each, collapsed with their neighbours).
    ///
    /// Infinite bounds where there are fewer than two pairs.
    pub fn ratio(pairs: &[(f64, f64)]) -> Self {
        let n = pairs.len() as f64;
        let x: f64 = pairs.iter().map(|p| p.0).sum();
        let y: f64 = pairs.iter().map(|p| p.1).sum();
        let value = match x == 0.0 {
            true => 0.0,
            false => y / x,
        };
        if pairs.len() < 2 {
            return Self {
                value,
                least: f64::NEG_INFINITY,
                most: f64::INFINITY,
            };
        }
        let rest = |p: &(f64, f64)| p.1 - value * p.0;
        let steps = pairs.windows(2).map(|w| rest(&w[1]) - rest(&w[0]));
        let squares: Vec<f64> = steps.map(|step| step.powi(2)).collect();
        let variance = squares.iter().sum::<f64>() / (2.0 * (n - 1.0));
        let mean = x / n;
        let half = match mean == 0.0 {
            true => 0.0,
            false => two_sided_95(degrees(&squares)) * (variance / n).sqrt() / mean,
        };
        Self {
            value,
            least: value - half,
            most: value + half,
        }
    }

    /// How many units more than the `units` it is made of would make the interval as narrow as `percent` on either
    /// side; `None`: it is, or that cannot be told. Its width falls with the square root of their number.
    pub fn more_units(&self, units: u64, percent: f64) -> Option<u64> {
        let now = self.percent();
        if now <= percent || !now.is_finite() {
            return None;
        }
        let needed = units as f64 * (now / percent).powi(2);
        Some((needed.ceil() as u64).saturating_sub(units).max(1))
    }
}

/// How many degrees of freedom a variance has that is made of these squares of differences between neighbours: fewer where a
/// few of them make up most of it, as where a program's start is unlike the rest of it (Cochran, section 5.4). Of a normal
/// number the fourth power is three times the square of its variance in the mean, and each unit takes part in two
/// differences: hence one and a half.
fn degrees(squares: &[f64]) -> u64 {
    let sum: f64 = squares.iter().sum();
    let fourth: f64 = squares.iter().map(|square| square.powi(2)).sum();
    let most = squares.len() as u64;
    match fourth > 0.0 {
        true => ((1.5 * sum.powi(2) / fourth) as u64).clamp(1, most),
        false => most,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn equal_units_leave_no_doubt() {
        let e = Estimate::ratio(&[(2.0, 6.0), (1.0, 3.0), (5.0, 15.0)]);
        assert_eq!((e.value, e.least, e.most), (3.0, 3.0, 3.0));
        assert_eq!(e.percent(), 0.0);
        assert_eq!(e.more_units(3, 5.0), None);
    }

    #[test]
    fn by_hand() {
        // Ratio 3; rests -1, 1, 0; squares of steps 4 and 1; variance 5 / 4; t of 2 degrees is 4.3027.
        let e = Estimate::ratio(&[(1.0, 2.0), (1.0, 4.0), (1.0, 3.0)]);
        let half = 4.302_653 * (1.25_f64 / 3.0).sqrt();
        assert_eq!(e.value, 3.0);
        assert!((e.most - e.value - half).abs() < 1e-4, "{e:?}");
        assert!((e.value - e.least - half).abs() < 1e-4, "{e:?}");
    }

    #[test]
    fn one_unit_tells_nothing_of_its_error() {
        let e = Estimate::ratio(&[(2.0, 1.0)]);
        assert_eq!(e.value, 0.5);
        assert!(e.percent().is_infinite());
    }

    #[test]
    fn pairs_that_go_up_and_down_together_have_a_narrow_ratio() {
        let mut random = Random::new(7);
        let pairs: Vec<(f64, f64)> = (0..50)
            .map(|_| {
                let x = 1.0 + random.below(1000) as f64;
                (x, 2.0 * x + random.below(10) as f64)
            })
            .collect();
        let alone: Vec<(f64, f64)> = pairs.iter().map(|p| (1.0, p.1)).collect();
        let (paired, alone) = (Estimate::ratio(&pairs), Estimate::ratio(&alone));
        assert!(
            paired.percent() * 20.0 < alone.percent(),
            "{paired:?} {alone:?}"
        );
    }

    /// The interval holds what it says: of means of random numbers, and of a run with a trend, of which one comes from
    /// each part.
    #[test]
    fn nineteen_of_twenty_intervals_hold_the_truth() {
        const TRIALS: u64 = 2000;
        for trend in [0, 40] {
            let held = (0..TRIALS).filter(|&seed| {
                let mut random = Random::new(seed);
                let pairs: Vec<(f64, f64)> = (0..30)
                    .map(|part| {
                        let noise = random.below(1_000_001) as f64 / 1e4;
                        (1.0, f64::from(part * trend) + noise)
                    })
                    .collect();
                let truth = 14.5 * f64::from(trend) + 50.0;
                let e = Estimate::ratio(&pairs);
                (e.least..=e.most).contains(&truth)
            });
            let held = held.count() as u64;
            assert!(
                held * 100 >= 93 * TRIALS,
                "{held} of {TRIALS}, trend {trend}"
            );
        }
    }

    /// Thirty units, of which the first four vary a hundred times as much as the others.
    #[test]
    fn few_units_that_vary_are_few_degrees_of_freedom() {
        const TRIALS: u64 = 2000;
        let held = (0..TRIALS).filter(|&seed| {
            let mut random = Random::new(seed);
            let pairs: Vec<(f64, f64)> = (0..30)
                .map(|part| {
                    let noise = random.below(1_000_001) as f64 / 1e6 - 0.5;
                    (1.0, 100.0 + if part < 4 { 100.0 * noise } else { noise })
                })
                .collect();
            let e = Estimate::ratio(&pairs);
            (e.least..=e.most).contains(&100.0)
        });
        let held = held.count() as u64;
        assert!(held * 100 >= 93 * TRIALS, "{held} of {TRIALS}");
        assert_eq!(degrees(&[1.0, 1.0, 0.0, 0.0, 0.0]), 3);
        assert_eq!(degrees(&[0.0; 5]), 5);
    }

    #[test]
    fn half_the_width_takes_four_times_the_units() {
        let e = Estimate {
            value: 100.0,
            least: 90.0,
            most: 110.0,
        };
        assert_eq!(e.percent(), 10.0);
        assert_eq!(e.more_units(20, 5.0), Some(60));
        assert_eq!(e.more_units(20, 10.0), None);
        assert_eq!(e.times(2.0).most, 220.0);
    }
}
