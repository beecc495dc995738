//! How much an analysis may slow the program down.

use prestore_tracer::Bursts;

use super::parse_count;

/// How much of a run is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Everything.
    All,
    /// The first stretches are all looked at, in the end one of `thinnest`.
    Thinned {
        /// More, up to [`DENSE`], where stretches are short; a multiple of 4.
        dense: u64,
        /// A power of four.
        thinnest: u64,
    },
}

/// Instructions of a stretch. What is still near the core at its end (1 MB: some 2 million instructions of a loop that brings
/// a line every hundred) is not seen to be read again: a tenth, by that reckoning. Not measured.
pub const STRETCH: u64 = 20_000_000;
/// Stretches at the beginning that are all looked at: a thousand million instructions, which are less than a second of the
/// program, and ten to thirty of the analysis.
const DENSE: u64 = 48;
/// The same where the program is to take hardly more time than where nothing is recorded, and instructions that they are at least. With
/// 12 of the usual length the long runs of the verdict suite (2 and 8 threads, `-O1` to `-march=native`) were judged as whole ones, for half the
/// cost and less, but for `kv` with 8 threads, which lies at a threshold and changes with 48, too. With 4 a function of
/// `buckets` is not met and one of `tensor` judged otherwise; with 24 million instructions in all, `stencil_f` with 8 threads is.
const FEW_DENSE: u64 = 12;
const LEAST_DENSE: u64 = 96_000_000;
/// What the program takes of its native time where nothing is recorded (1.2 to 1.5 times on three NAS kernels, and start-up
/// beside; a loop over a sparse matrix 2.1 times, loops of perl and Python 6 to 9 times their CPU time on a busy machine: no budget below that holds there), and how much more what is recorded and analysed takes: 28 to 60 times on such kernels with the machine's two cores
/// shared, and room above. The whole of the first stretches comes on top, so a short run takes longer than its budget.
const COUNTED: f64 = 1.5;
const ANALYSED: f64 = 90.0;
/// The budget that `auto` is.
const AUTO: f64 = 3.0;
/// Least budget that can be held.
const LEAST: f64 = 2.0;

impl Budget {
    /// What `auto` stands for.
    pub const AUTO: Self = Self::Thinned {
        dense: DENSE,
        thinnest: 64,
    };

    /// What is recorded of the run, in stretches of so many instructions; `None`: everything.
    pub fn bursts(self, stretch: u64) -> Option<Bursts> {
        match self {
            Self::All => None,
            Self::Thinned { dense, thinnest } => {
                let least = LEAST_DENSE.div_ceil(stretch).next_multiple_of(4);
                Some(Bursts {
                    burst: stretch,
                    dense: dense.max(least.min(DENSE)).saturating_mul(stretch),
                    thinnest,
                })
            }
        }
    }
}

fn times(budget: f64) -> Budget {
    let mut every = 4;
    while COUNTED + ANALYSED / every as f64 > budget {
        every *= 4;
    }
    Budget::Thinned {
        dense: if budget < AUTO { FEW_DENSE } else { DENSE },
        thinnest: every,
    }
}

/// `all`, `auto`, or by how much the program may be slower: `2x`.
pub fn parse_budget(text: &str) -> Result<Budget, String> {
    match text {
        "all" => return Ok(Budget::All),
        "auto" => return Ok(Budget::AUTO),
        _ => {}
    }
    let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
    match number {
        Ok(budget) if budget >= LEAST && budget.is_finite() => Ok(times(budget)),
        Ok(budget) if budget < LEAST => Err(format!(
            "a program that is watched takes {COUNTED} times as long, an interpreter more, even where nothing is recorded: give {LEAST}x or more, \
             or see `--scope count`"
        )),
        _ => Err("give all, auto, or how much slower the program may be, as in 3x".to_owned()),
    }
}

/// Instructions of a stretch.
pub fn parse_stretch(text: &str) -> Result<u64, String> {
    match parse_count(text)? {
        0 => Err("a stretch of 0 instructions holds nothing: give at least 1".to_owned()),
        n => Ok(n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(text: &str) -> u64 {
        let budget = parse_budget(text).unwrap();
        budget.bursts(STRETCH).unwrap().thinnest
    }

    #[test]
    fn less_is_looked_at_for_a_smaller_budget() {
        assert_eq!(
            [every("30x"), every("10x"), every("3x"), every("2")],
            [4, 16, 64, 256]
        );
        assert_eq!(
            (every("auto"), Budget::AUTO),
            (every("3x"), parse_budget("auto").unwrap())
        );
        assert_eq!(parse_budget("all"), Ok(Budget::All));
    }

    #[test]
    fn little_is_looked_at_in_full_where_little_may_be() {
        let dense = |text: &str| {
            let bursts = parse_budget(text).unwrap().bursts(STRETCH).unwrap();
            bursts.dense / bursts.burst
        };
        let short = parse_budget("2x").unwrap().bursts(2_000_000).unwrap();
        assert_eq!(short.dense, LEAST_DENSE);
        assert_eq!(
            [dense("2x"), dense("2.9x"), dense("3x"), dense("auto")],
            [12, 12, 48, 48]
        );
    }

    #[test]
    fn what_cannot_be_held_is_refused() {
        for text in ["1.9x", "0", "-3x"] {
            assert!(
                parse_budget(text).unwrap_err().contains("2x or more"),
                "{text}"
            );
        }
        for text in ["", "x", "fast", "NaN", "infx"] {
            assert!(
                parse_budget(text).unwrap_err().contains("as in 3x"),
                "{text}"
            );
        }
    }

    #[test]
    fn windows_are_thinned_where_both_sides_know() {
        for budget in [times(LEAST), times(AUTO), Budget::AUTO] {
            let b = budget.bursts(STRETCH).unwrap();
            assert!(b.dense.is_multiple_of(4 * b.burst) && b.thinnest.is_power_of_two());
        }
    }
}
