//! How much chance there is in what units tell of the parts that they stand for.

use super::student::two_sided_95;

/// What one unit tells.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    /// Operations of its part.
    pub stands_for: f64,
    /// What the estimate does not explain of an operation.
    pub rest: f64,
}

/// Neighbours differ by a level where those on either side differ from them by less than one in so many of it.
const LEVEL: f64 = 8.0;

/// Half of the interval that holds the sum over all parts with 95 % confidence, of units in the order of the run.
///
/// Each part has one unit, so how much units within it differ is told by how much neighbours do (strata with one unit each, collapsed
/// with their neighbours: Cochran, Sampling Techniques, 3rd edition, section 5A.12). Where units of two parts differ and those on
/// either side are like them, the run has gone over from one level to another, as from filling its arrays to computing with
/// them. That tells nothing of chance, but that one of the two parts has some of both: of what lies between the levels it
/// is off by no more than a part.
pub(super) fn half(units: &[Rest]) -> f64 {
    let steps: Vec<f64> = units.windows(2).map(|w| w[1].rest - w[0].rest).collect();
    let (mut squares, mut levels) = (Vec::new(), 0.0);
    let last = units.len().saturating_sub(2);
    let mut at = 0;
    while at < steps.len() {
        if let Some(taken) = goes_over(&steps, at) {
            let parts = units[at..=at + taken].iter().map(|unit| unit.stands_for);
            let step: f64 = steps[at..at + taken].iter().sum();
            levels += step.abs() * parts.fold(0.0, f64::max);
            at += taken;
            continue;
        }
        // A part has two neighbours, but the first and the last one.
        let share = |of: &Rest, is_end| of.stands_for.powi(2) * if is_end { 1.0 } else { 0.5 };
        let parts = share(&units[at], at == 0) + share(&units[at + 1], at == last);
        squares.push(steps[at].powi(2) / 2.0 * parts);
        at += 1;
    }
    let variance: f64 = squares.iter().sum();
    levels
        + match variance > 0.0 {
            true => two_sided_95(degrees(&squares)) * variance.sqrt(),
            false => 0.0,
        }
}

/// In how many steps from number `at` on the run goes over to another level: in one, or in two where a unit has met both.
fn goes_over(steps: &[f64], at: usize) -> Option<usize> {
    (1..=2).find(|&taken| {
        let Some(over) = steps.get(at..at + taken) else {
            return false;
        };
        let all: f64 = over.iter().sum();
        let before = at.checked_sub(1).and_then(|side| steps.get(side));
        let mut sides = before.into_iter().chain(steps.get(at + taken));
        all != 0.0
            && steps.len() > taken + 1
            && over.iter().all(|step| step * all > 0.0)
            && sides.all(|side| side.abs() * LEVEL < all.abs())
    })
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

    fn half_of(units: &[(f64, f64)]) -> f64 {
        let rests = units
            .iter()
            .map(|&(stands_for, rest)| Rest { stands_for, rest });
        half(&rests.collect::<Vec<_>>())
    }

    #[test]
    fn few_squares_are_few_degrees_of_freedom() {
        assert_eq!(degrees(&[1.0, 1.0, 0.0, 0.0, 0.0]), 3);
        assert_eq!(degrees(&[0.0; 5]), 5);
    }

    /// A step from 9 to 0 between parts of 2 and 3: one of them has some of both.
    #[test]
    fn a_step_to_another_level_is_off_by_a_part_at_most() {
        let steps = [(1.0, 9.0), (2.0, 9.0), (3.0, 0.0), (4.0, 0.0), (5.0, 0.0)];
        assert_eq!(half_of(&steps), 27.0);
        assert_eq!(half_of(&steps.map(|(of, _)| (of, 1.0))), 0.0);
        let met_both = [(1.0, 9.0), (2.0, 9.0), (3.0, 4.0), (4.0, 0.0), (5.0, 0.0)];
        assert_eq!(half_of(&met_both), 36.0);
        // One unit that is unlike all others is no level: there may be as many of its kind.
        let one = [(1.0, 0.0), (1.0, 0.0), (1.0, 9.0), (1.0, 0.0), (1.0, 0.0)];
        assert!(half_of(&one) > 2.0 * 9.0);
    }

    /// Parts count by the square of their size: a part of 100 beside small ones, with steps of 1, 2 and 1.
    #[test]
    fn large_parts_count_more() {
        let units = [(1.0, 0.0), (1.0, 1.0), (100.0, -1.0), (1.0, 0.0)];
        let squares = [0.5 * 1.5, 2.0 * (0.5 + 5000.0), 0.5 * (5000.0 + 1.0)];
        let wanted = two_sided_95(degrees(&squares)) * squares.iter().sum::<f64>().sqrt();
        assert!((half_of(&units) - wanted).abs() < 1e-9);
    }
}
