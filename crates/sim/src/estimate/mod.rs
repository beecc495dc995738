//! What a sample tells of the whole, and how surely.

mod spread;
mod student;

use serde::Serialize;

use spread::Rest;

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

/// What one unit tells of the part of the run that it stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Operations of the part.
    pub stands_for: f64,
    /// Of each operation.
    pub x: f64,
    /// Of each operation.
    pub y: f64,
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

    /// Sum of all `y` over sum of all `x`, of parts in the order of the run (the separate ratio estimator's sums, and their
    /// ratio: Cochran, Sampling Techniques, 3rd edition, sections 5.4 and 6.4); `spread` says how surely.
    ///
    /// Infinite bounds where there are fewer than two parts.
    pub fn ratio(parts: &[Part]) -> Self {
        let sum = |of: fn(&Part) -> f64| parts.iter().map(|p| p.stands_for * of(p)).sum::<f64>();
        let (x, y) = (sum(|p| p.x), sum(|p| p.y));
        let value = match x == 0.0 {
            true => 0.0,
            false => y / x,
        };
        if parts.len() < 2 {
            return Self {
                value,
                least: f64::NEG_INFINITY,
                most: f64::INFINITY,
            };
        }
        let rests = parts.iter().map(|p| Rest {
            stands_for: p.stands_for,
            rest: p.y - value * p.x,
        });
        let half = match x == 0.0 {
            true => 0.0,
            false => spread::half(&rests.collect::<Vec<_>>()) / x,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Parts of one size.
    fn ratio(pairs: &[(f64, f64)]) -> Estimate {
        let part = |&(x, y): &(f64, f64)| Part {
            stands_for: 1.0,
            x,
            y,
        };
        Estimate::ratio(&pairs.iter().map(part).collect::<Vec<_>>())
    }

    #[test]
    fn equal_units_leave_no_doubt() {
        let e = ratio(&[(2.0, 6.0), (1.0, 3.0), (5.0, 15.0)]);
        assert_eq!((e.value, e.least, e.most), (3.0, 3.0, 3.0));
        assert_eq!(e.percent(), 0.0);
        assert_eq!(e.more_units(3, 5.0), None);
    }

    #[test]
    fn by_hand() {
        // Ratio 3; rests -1, 1, 0; squares of steps 4 and 1; variance 5 / 4; t of 2 degrees is 4.3027.
        let e = ratio(&[(1.0, 2.0), (1.0, 4.0), (1.0, 3.0)]);
        let half = 4.302_653 * (1.25_f64 / 3.0).sqrt();
        assert_eq!(e.value, 3.0);
        assert!((e.most - e.value - half).abs() < 1e-4, "{e:?}");
        assert!((e.value - e.least - half).abs() < 1e-4, "{e:?}");
    }

    #[test]
    fn parts_count_by_what_they_stand_for() {
        let part = |stands_for, y| Part {
            stands_for,
            x: 1.0,
            y,
        };
        let e = Estimate::ratio(&[part(1.0, 9.0), part(3.0, 1.0), part(2.0, 0.0)]);
        assert_eq!(e.value, 2.0);
    }

    #[test]
    fn one_unit_tells_nothing_of_its_error() {
        let e = ratio(&[(2.0, 1.0)]);
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
        let (paired, alone) = (ratio(&pairs), ratio(&alone));
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
                let e = ratio(&pairs);
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
            let e = ratio(&pairs);
            (e.least..=e.most).contains(&100.0)
        });
        let held = held.count() as u64;
        assert!(held * 100 >= 93 * TRIALS, "{held} of {TRIALS}");
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
