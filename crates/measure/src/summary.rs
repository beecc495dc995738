//! A sample, summed up by rank.

use serde::Serialize;

/// Least, quartiles and greatest of a sample of finite numbers, in the sample's unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The middle one; the mean of the two middle ones of an even number.
    pub median: f64,
    /// A quarter of the sample lies below.
    pub lower_quartile: f64,
    /// A quarter of the sample lies above.
    pub upper_quartile: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// How many.
    pub count: usize,
}

impl Summary {
    /// Sums up `values`, in any order; numbers that are not finite are left out. `None` if nothing is left.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Summary {
            median: quantile(&sorted, 0.5),
            lower_quartile: quantile(&sorted, 0.25),
            upper_quartile: quantile(&sorted, 0.75),
            min,
            max,
            count: sorted.len(),
        })
    }

    /// Distance of the quartiles as a share of the median: 0.1 says that half of the sample lies within about 5% of
    /// the median. 0 for a median of 0.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 {
            return 0.0;
        }
        ((self.upper_quartile - self.lower_quartile) / self.median).abs()
    }

    /// The same in other units: every number multiplied by `factor`, which is positive.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Summary {
        Summary {
            median: self.median * factor,
            lower_quartile: self.lower_quartile * factor,
            upper_quartile: self.upper_quartile * factor,
            min: self.min * factor,
            max: self.max * factor,
            count: self.count,
        }
    }
}

/// Between two ranks, the point that divides their distance as the share divides the ranks'.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len().saturating_sub(1)) as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let below = sorted.get(low).copied().unwrap_or_default();
    let above = sorted.get(low + 1).copied().unwrap_or(below);
    below + (above - below) * part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_known_sample() {
        let summary = Summary::of(&[5.0, 1.0, 3.0, 2.0, 4.0]).unwrap();
        assert_eq!((summary.min, summary.max, summary.count), (1.0, 5.0, 5));
        assert_eq!(summary.median, 3.0);
        assert_eq!((summary.lower_quartile, summary.upper_quartile), (2.0, 4.0));
        assert_eq!(summary.spread(), 2.0 / 3.0);
        assert_eq!(summary.scaled(2.0).median, 6.0);
        assert_eq!(Summary::of(&[1.0, 2.0]).unwrap().median, 1.5);
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN, f64::INFINITY]), None);
        assert_eq!(Summary::of(&[f64::NAN, 2.0]).unwrap().count, 1);
    }

    proptest! {
        #[test]
        fn ranks_are_in_order(values in prop::collection::vec(-1e9..1e9f64, 1..50)) {
            let s = Summary::of(&values).unwrap();
            prop_assert!(s.min <= s.lower_quartile && s.lower_quartile <= s.median);
            prop_assert!(s.median <= s.upper_quartile && s.upper_quartile <= s.max);
        }
    }
}
