//! Tiled matrix multiply: what each scheme costs, for other numbers of threads (tables 3.5 and 3.6).

use std::collections::BTreeMap;

use super::FILE;
use super::multiply::matrix_rows;
use super::schemes::{Cost, Loops};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// A column of both tables.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    about: &'static str,
    threads: u64,
}

impl Column {
    /// `p4-one-thread`.
    pub const ONE_THREAD: Column = Column {
        name: "p4-one-thread",
        about: "failure-safe tiled matrix multiply on PCM: time and writes of each scheme, 1 thread",
        threads: 1,
    };
    /// `p4-four-threads`.
    pub const FOUR_THREADS: Column = Column {
        name: "p4-four-threads",
        about: "the same with 4 threads",
        threads: 4,
    };
    /// `p4-twelve-threads`.
    pub const TWELVE_THREADS: Column = Column {
        name: "p4-twelve-threads",
        about: "the same with 12 threads",
        threads: 12,
    };
}

impl Experiment for Column {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name)?;
        let lab = Lab::new(options)?;
        let loops = Loops::new(&lab, matrix_rows(options), self.threads)?;
        let base = loops.cost("tmm_ii", "none")?;
        let mut ours = BTreeMap::new();
        for (name, scheme) in [
            ("CP", "CPall"),
            ("L", "L"),
            ("R", "R"),
            ("HRx32", "HRx32"),
            ("HRx64", "HRx64"),
        ] {
            for granularity in ["ii", "jj"] {
                let key = match (scheme, granularity) {
                    // A checkpoint knows no granularity.
                    ("CPall", "jj") => continue,
                    ("CPall", _) => name.to_owned(),
                    _ => format!("{name}_{granularity}"),
                };
                let cost = loops.cost(&format!("tmm_{granularity}"), scheme)?;
                sheet.ours(&format!("{key}-time"), cost.seconds / base.seconds)?;
                sheet.ours(&format!("{key}-writes"), cost.writes / base.writes)?;
                ours.insert(key, cost);
            }
        }
        for (metric, of) in [
            ("time", (|c| c.seconds) as fn(&Cost) -> f64),
            ("writes", |c| c.writes),
        ] {
            let ours = |key: &str| of(&ours[key]) / of(&base);
            let (schemes, hybrids) = in_order(&ours);
            sheet.ours(&format!("order-{metric}"), schemes)?;
            sheet.ours(&format!("hybrids-{metric}"), hybrids)?;
        }
        sheet.finish()
    }
}

/// What P4's tables can tell apart; some of their neighbours are equal.
const DIGIT: f64 = 0.01;

/// How many pairs of neighbours have P4's order, the same in all columns of tables 3.5 and 3.6: of R, L and CP, and of R, HR x64,
/// HR x32 and L; by either granularity.
fn in_order(ours: &dyn Fn(&str) -> f64) -> (f64, f64) {
    let mut counts = (0.0, 0.0);
    for granularity in ["ii", "jj"] {
        let of = |scheme: &str| ours(&format!("{scheme}_{granularity}"));
        let (recompute, often, seldom, logging) = (of("R"), of("HRx32"), of("HRx64"), of("L"));
        let count = |pairs: &[bool]| pairs.iter().filter(|right| **right).count() as f64;
        counts.0 += count(&[recompute < logging, logging < ours("CP")]);
        // Half a digit, as recordings differ by that.
        let in_order = |a: f64, b: f64| a < b + DIGIT / 2.0;
        counts.1 += count(&[
            in_order(recompute, seldom),
            in_order(seldom, often),
            in_order(often, logging),
        ]);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::in_order;

    #[test]
    fn pairs_out_of_order_are_not_counted() {
        let published = |key: &str| match key {
            "CP" => 3.07,
            "R_ii" => 1.05,
            "R_jj" => 1.06,
            "HRx64_ii" => 1.07,
            "HRx32_jj" | "L_jj" => 1.09,
            _ => 1.08,
        };
        assert_eq!(in_order(&published), (4.0, 6.0));
        let slow = |key: &str| if key == "R_ii" { 1.2 } else { published(key) };
        assert_eq!(in_order(&slow), (3.0, 5.0));
    }
}
