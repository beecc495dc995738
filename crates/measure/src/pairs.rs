//! Ratios of measurements that followed each other.

/// `above[i] / below[i]` for each pair; a machine whose speed drifts hits both of a pair alike, so their ratio stays.
/// What the longer of both has more is left out.
pub fn ratios(above: &[f64], below: &[f64]) -> Vec<f64> {
    above.iter().zip(below).map(|(a, b)| a / b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;

    #[test]
    fn drift_cancels_out() {
        let base = [1.0, 2.0, 4.0, 8.0];
        let slower: Vec<f64> = base.iter().map(|b| b * 1.5).collect();
        let summary = Summary::of(&ratios(&slower, &base)).unwrap();
        assert_eq!((summary.median, summary.spread()), (1.5, 0.0));
    }
}
