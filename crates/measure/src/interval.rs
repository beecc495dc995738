//! How far the median of a sample can be trusted.

/// Bounds of the median that hold in at least 95% of samples, whatever values are distributed like: two values of the
/// sample, by rank (the number of values below the median is binomial, of a half). `None` where the sample is too small
/// (fewer than six) to say so. Numbers that are not finite are left out.
pub fn median_interval(values: &[f64]) -> Option<[f64; 2]> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // P(fewer than `rank` values lie below the median), twice, must stay at or under 5%.
    let (mut chance, mut below, mut rank) = (0.5_f64.powi(i32::try_from(n).ok()?), 0.0, 0);
    while below + chance <= 0.025 {
        below += chance;
        chance *= (n - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    let lowest = rank.checked_sub(1)?;
    Some([*sorted.get(lowest)?, *sorted.get(n - rank)?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(n: usize) -> Option<[f64; 2]> {
        let values: Vec<f64> = (1..=n).rev().map(|v| v as f64).collect();
        median_interval(&values)
    }

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Conover, Practical Nonparametric Statistics, 3.2: binomial quantiles of a half.
        assert_eq!(ranks(5), None);
        assert_eq!(ranks(6), Some([1.0, 6.0]));
        assert_eq!(ranks(9), Some([2.0, 8.0]));
        assert_eq!(ranks(15), Some([4.0, 12.0]));
        assert_eq!(ranks(25), Some([8.0, 18.0]));
    }

    #[test]
    fn what_is_not_finite_does_not_count() {
        let values = [1.0, f64::NAN, 2.0, 3.0, 4.0, 5.0, f64::INFINITY];
        assert_eq!(median_interval(&values), None);
    }
}
