//! GEMM in Goto's six ways: rows written and speed, relative to three plain loops (chapter 4, figure 4.3).

use std::collections::BTreeMap;

use prestore_sim::Results;

use super::FILE;
use super::schemes::Loops;
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

const VARIANTS: [&str; 6] = ["gepp1", "gepp2", "gepm1", "gepm2", "gemp1", "gemp2"];

/// Rows of the matrices, of which P4 says nothing: of 8-byte numbers 2 MiB, which do not fit into the L2. A quick run's 1.1 MiB do
/// not either.
const ROWS: u64 = 512;
const QUICK_ROWS: u64 = 384;
/// Blocks in a row: GEPP brings up the result so often, and about so many times the rows of naive it writes with P4.
const BLOCKS: u64 = 16;

/// `p4-fig-4-3`.
#[derive(Debug)]
pub struct GemmRows;

impl Experiment for GemmRows {
    fn name(&self) -> &'static str {
        "p4-fig-4-3"
    }

    fn about(&self) -> &'static str {
        "GEMM in Goto's six ways on PCM: rows written and speed, packed or not, with and without Recompute, 4 threads"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name())?;
        let lab = Lab::new(options)?;
        let rows = if options.quick { QUICK_ROWS } else { ROWS };
        let loops = Loops::new(&lab, rows, 4)?;
        let measure = |kernel: &str, scheme: &str, packing: &str, persistence: &str| {
            let block = rows / BLOCKS;
            let arguments =
                format!("--block={block} --packing={packing} --persistence={persistence}");
            loops.measure(kernel, scheme, &arguments).map(Run::of)
        };
        let naive = measure("naive", "none", "no", "eager")?;
        let mut plain = BTreeMap::new();
        let mut packed = BTreeMap::new();
        for variant in VARIANTS {
            plain.insert(variant, measure(variant, "none", "no", "eager")?);
            packed.insert(variant, measure(variant, "none", "yes", "eager")?);
            let lowered = packed[variant].rows / plain[variant].rows;
            sheet.ours(&format!("{variant}-packing"), lowered)?;
        }
        for variant in ["gepp1", "gemp1", "gepm2", "gemp2"] {
            sheet.ours(&format!("{variant}-rows"), plain[variant].rows / naive.rows)?;
        }
        let columns = plain["gemp1"].rows.min(plain["gepp2"].rows);
        let by_rows = plain["gepp1"].rows.max(plain["gepm1"].rows);
        sheet.ours("columns", columns / by_rows)?;
        for (name, runs) in [("plain", &plain), ("packed", &packed)] {
            let others = VARIANTS[1..].iter().map(|v| runs[v].seconds);
            let next = others.fold(naive.seconds, f64::min);
            sheet.ours(&format!("{name}-fastest"), next / runs["gepp1"].seconds)?;
        }
        for (name, packing, without) in [
            ("plain", "no", plain["gepp1"]),
            ("packed", "yes", packed["gepp1"]),
        ] {
            let eager = measure("gepp1", "R", packing, "eager")?;
            let lazy = measure("gepp1", "R", packing, "lazy")?;
            sheet.ours(&format!("{name}-eager-rows"), eager.rows / without.rows)?;
            sheet.ours(&format!("{name}-lazy-rows"), lazy.rows / without.rows)?;
            sheet.ours(&format!("{name}-fences"), lazy.fences / eager.fences)?;
        }
        let of = |runs: &BTreeMap<&str, Run>, what: fn(&Run) -> f64, naive: f64| {
            let all = VARIANTS.map(|v| format!("{v} {:.2}", what(&runs[v]) / naive));
            all.join(", ")
        };
        for (name, runs) in [("not packed", &plain), ("packed", &packed)] {
            let rows = of(runs, |run| run.rows, naive.rows);
            let time = of(runs, |run| run.seconds, naive.seconds);
            sheet.note(format!(
                "{name}, by naive: rows written {rows}; time {time}"
            ));
        }
        sheet.note("P4 gives no size and no block; here the result is twice the L2, and a 16th of it in a row a block");
        sheet.finish()
    }
}

#[derive(Clone, Copy)]
struct Run {
    seconds: f64,
    /// Rows that were written to the PCM.
    rows: f64,
    fences: f64,
}

impl Run {
    fn of(results: Results) -> Run {
        Run {
            seconds: results.seconds,
            rows: results.row_writes as f64,
            fences: results.threads.iter().map(|t| t.ops.fences).sum::<u64>() as f64,
        }
    }
}
