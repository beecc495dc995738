//! From how many iterations between two checkpoints on these are cheaper than Hybrid Recompute (section 3.4.2).

use prestore_recompute::{checkpoint_cost, crossing};

use super::FILE;
use super::multiply::matrix_rows;
use super::schemes::{Cost, Loops};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// Iterations measured, with one checkpoint at their end. P4 does not say which it measured before it extrapolated.
const DISTANCES: [u64; 3] = [1, 2, 3];

/// `p4-crossing`.
#[derive(Debug)]
pub struct Crossing;

impl Experiment for Crossing {
    fn name(&self) -> &'static str {
        "p4-crossing"
    }

    fn about(&self) -> &'static str {
        "failure-safe tiled matrix multiply on PCM: how seldom checkpoints must be taken to cost what HR_ii_x64 does, 8 threads"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name())?;
        let lab = Lab::new(options)?;
        let loops = Loops::new(&lab, matrix_rows(options), 8)?;
        let base = loops.cost("tmm_ii", "none")?;
        let hybrid = loops.cost("tmm_ii", "HRx64")?;
        let mut spread = Vec::new();
        for distance in DISTANCES {
            // One iteration more in front, which warms up.
            let (end, all) = (distance + 1, distance + 2);
            let measured = format!("--iterations={all} --region=1..{end}");
            let results = loops.measure("tmm_ii", &format!("CPall{end}"), &measured)?;
            spread.push((distance as f64, loops.cost_of(&results)));
        }
        let mut often = Vec::new();
        for (metric, of) in [
            ("time", (|c| c.seconds) as fn(&Cost) -> f64),
            ("writes", |c| c.writes),
        ] {
            let points: Vec<_> = (spread.iter())
                .map(|(distance, cost)| (*distance, of(cost) / (distance * of(&base))))
                .collect();
            let overhead = of(&hybrid) / of(&base) - 1.0;
            // Checkpoints an iteration, as there may be none that are so seldom.
            let checkpoints = 1.0 / crossing(checkpoint_cost(&points), 1.0, overhead);
            sheet.ours(metric, checkpoints)?;
            often.push(checkpoints);
        }
        sheet.ours("order", f64::from(u8::from(often[1] < often[0])))?;
        sheet.note(
            "negative: Hybrid Recompute costs less than the base, which checkpoints never do",
        );
        sheet.finish()
    }
}
