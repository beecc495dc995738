//! How much faster, and how sure that is.

use prestore_sim::Estimate;
use serde::Serialize;

/// Less than this is no change: simulations of one program differ by as much through a pre-store that hits nothing.
const NO_CHANGE: f64 = 0.01;

/// Intervals of few units may reach below what is possible.
const SLOWEST: f64 = 1e-3;

/// Time without a change over time with it, over several simulations: other random choices, and pages in other
/// places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Speedup {
    /// The median.
    pub speedup: f64,
    /// The least of all simulations.
    pub least: f64,
    /// The most.
    pub most: f64,
}

impl Speedup {
    /// Of the ratios of single simulations; 1 where there are none.
    pub fn of(ratios: &[f64]) -> Self {
        let mut sorted = ratios.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |i: usize| sorted.get(i).copied().unwrap_or(1.0);
        let middle = sorted.len() / 2;
        let median = match sorted.len() % 2 {
            0 if middle > 0 => (at(middle - 1) + at(middle)) / 2.0,
            _ => at(middle),
        };
        Self {
            speedup: median,
            least: at(0),
            most: at(sorted.len().saturating_sub(1)),
        }
    }

    /// Of estimates from samples: the median, and the intervals' outermost ends.
    pub fn estimated(estimates: &[Estimate]) -> Self {
        let values: Vec<f64> = estimates.iter().map(|e| e.value).collect();
        let ends = |end: fn(&Estimate) -> f64| estimates.iter().map(end);
        let all = Self::of(&values);
        Self {
            least: ends(|e| e.least).fold(all.least, f64::min).max(SLOWEST),
            most: ends(|e| e.most).fold(all.most, f64::max),
            ..all
        }
    }

    /// It gains in every simulation, and enough to tell.
    pub fn gains(&self) -> bool {
        self.speedup >= 1.0 + NO_CHANGE && self.least > 1.0
    }

    /// It loses in every simulation, and enough to tell.
    pub fn loses(&self) -> bool {
        self.speedup <= 1.0 - NO_CHANGE && self.most < 1.0
    }
}

#[cfg(test)]
mod tests {
    use prestore_sim::Estimate;

    use super::Speedup;

    #[test]
    fn an_estimate_gains_where_its_interval_does() {
        let e = |value, least, most| Estimate { value, least, most };
        let sure = Speedup::estimated(&[e(1.2, 1.1, 1.3), e(1.3, 1.25, 1.35)]);
        assert_eq!((sure.speedup, sure.least, sure.most), (1.25, 1.1, 1.35));
        assert!(sure.gains());
        assert!(!Speedup::estimated(&[e(1.2, 0.9, 1.5)]).gains());
        assert!(!Speedup::estimated(&[e(0.8, 0.5, 1.1)]).loses());
    }

    #[test]
    fn the_middle_and_the_ends() {
        let s = Speedup::of(&[1.3, 0.9, 1.1]);
        assert_eq!((s.speedup, s.least, s.most), (1.1, 0.9, 1.3));
        let s = Speedup::of(&[1.0, 2.0]);
        assert_eq!(s.speedup, 1.5);
        assert_eq!(Speedup::of(&[]).speedup, 1.0);
    }

    #[test]
    fn what_lies_on_both_sides_of_one_neither_gains_nor_loses() {
        assert!(Speedup::of(&[1.2, 1.1, 1.3]).gains());
        assert!(!Speedup::of(&[1.2, 0.99, 1.3]).gains());
        assert!(!Speedup::of(&[1.005]).gains());
        assert!(Speedup::of(&[0.9, 0.8]).loses());
        assert!(!Speedup::of(&[0.9, 1.01, 0.8]).loses());
    }
}
