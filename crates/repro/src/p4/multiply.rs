//! Tiled matrix multiply: what each scheme costs (table 3.4), 8 threads.

use std::collections::BTreeMap;

use super::FILE;
use super::schemes::{Cost, Loops};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// Name in the rows, kernel, scheme.
type Variant = (&'static str, &'static str, &'static str);

const CP: Variant = ("CP", "tmm_ii", "CPall");
const L_II: Variant = ("L_ii", "tmm_ii", "L");
const L_JJ: Variant = ("L_jj", "tmm_jj", "L");
const R_II: Variant = ("R_ii", "tmm_ii", "R");
const R_JJ: Variant = ("R_jj", "tmm_jj", "R");
const HR32_II: Variant = ("HRx32_ii", "tmm_ii", "HRx32");
const HR32_JJ: Variant = ("HRx32_jj", "tmm_jj", "HRx32");
const HR64_II: Variant = ("HRx64_ii", "tmm_ii", "HRx64");
const HR64_JJ: Variant = ("HRx64_jj", "tmm_jj", "HRx64");

/// Rows of P4's matrices, and of those of a quick run: the result's 2.25 MB still do not fit into the caches.
const ROWS: u64 = 1024;
const QUICK_ROWS: u64 = 768;

/// Rows of the matrices of this run.
pub(super) fn matrix_rows(options: &Options) -> u64 {
    if options.quick { QUICK_ROWS } else { ROWS }
}

/// `p4-table-3-4`.
#[derive(Debug)]
pub struct EightThreads;

impl Experiment for EightThreads {
    fn name(&self) -> &'static str {
        "p4-table-3-4"
    }

    fn about(&self) -> &'static str {
        "failure-safe tiled matrix multiply on PCM: time and writes of each scheme, 8 threads"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name())?;
        let all = [
            CP, L_II, L_JJ, R_II, R_JJ, HR32_II, HR32_JJ, HR64_II, HR64_JJ,
        ];
        let ours = compare(&mut sheet, options, &all)?;
        let is_sorted = |of: &dyn Fn(&Cost) -> f64, order: &[&str]| {
            let values: Vec<f64> = order.iter().map(|name| of(&ours[name])).collect();
            f64::from(u8::from(values.is_sorted_by(|a, b| a < b)))
        };
        sheet.ours(
            "order-time",
            is_sorted(&|cost| cost.seconds, &["R_ii", "L_ii", "CP"]),
        )?;
        let of_ii = is_sorted(&|cost| cost.writes, &["R_ii", "L_ii", "CP"]);
        let of_jj = is_sorted(&|cost| cost.writes, &["R_jj", "L_jj", "CP"]);
        sheet.ours("order-writes", of_ii * of_jj)?;
        sheet.note("table 3.6 gives 4.03 for CP's writes, and 2.04 for L_ii's, where table 3.4 gives 4.30 and 2.11");
        sheet.finish()
    }
}

/// Fills in time and writes of `variants` by the base's.
fn compare(
    sheet: &mut Sheet,
    options: &Options,
    variants: &[Variant],
) -> Result<BTreeMap<&'static str, Cost>, ReproError> {
    let lab = Lab::new(options)?;
    let loops = Loops::new(&lab, matrix_rows(options), 8)?;
    let base = loops.cost("tmm_ii", "none")?;
    let mut costs = BTreeMap::new();
    for &(name, kernel, scheme) in variants {
        let cost = loops.cost(kernel, scheme)?;
        sheet.ours(&format!("{name}-time"), cost.seconds / base.seconds)?;
        sheet.ours(&format!("{name}-writes"), cost.writes / base.writes)?;
        costs.insert(name, cost);
    }
    Ok(costs)
}
