//! The other four kernels (figure 3.6, of which P4's text states ranges and means).

use super::FILE;
use super::schemes::{Cost, Loops};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// A kernel and the part of it that is measured: as many iterations as come closest to the 300 million instructions that P4 simulates
/// (section 3.3.2), behind one that warms up, with one checkpoint (table 3.2) at their end.
struct Part {
    name: &'static str,
    kernel: &'static str,
    rows: u64,
    quick_rows: u64,
    /// Behind how many outermost iterations the checkpoint is taken.
    checkpoint: u64,
    /// What the program is told.
    iterations: &'static str,
}

const PARTS: [Part; 4] = [
    // A diagonal block is three iterations of the outermost loop.
    Part {
        name: "LU",
        kernel: "lu",
        rows: 1024,
        quick_rows: 512,
        checkpoint: 12,
        iterations: "--iterations=5 --region=3..12",
    },
    Part {
        name: "FFT",
        kernel: "fft",
        rows: 1024,
        quick_rows: 512,
        checkpoint: 2,
        iterations: "--region=1..2",
    },
    Part {
        name: "Gauss",
        kernel: "gauss",
        rows: 4096,
        quick_rows: 1024,
        checkpoint: 6,
        iterations: "--iterations=7 --region=1..6",
    },
    Part {
        name: "2D-conv",
        kernel: "convolution",
        rows: 1024,
        quick_rows: 512,
        checkpoint: 7,
        iterations: "--iterations=8 --region=1..7",
    },
];

/// `p4-fig-3-6`.
#[derive(Debug)]
pub struct OtherKernels;

impl Experiment for OtherKernels {
    fn name(&self) -> &'static str {
        "p4-fig-3-6"
    }

    fn about(&self) -> &'static str {
        "LU, FFT, Gauss and 2-D convolution on PCM: what Recompute and a checkpoint cost, 8 threads"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name())?;
        let lab = Lab::new(options)?;
        let mut ratios: Vec<[Cost; 2]> = Vec::new();
        for part in &PARTS {
            let rows = if options.quick {
                part.quick_rows
            } else {
                part.rows
            };
            let loops = Loops::new(&lab, rows, 8)?;
            let cost = |scheme: &str| -> Result<Cost, ReproError> {
                Ok(loops.cost_of(&loops.measure(part.kernel, scheme, part.iterations)?))
            };
            let base = cost("none")?;
            let ours = [cost("R")?, cost(&format!("CP{}", part.checkpoint))?].map(|cost| Cost {
                seconds: cost.seconds / base.seconds,
                writes: cost.writes / base.writes,
            });
            for (scheme, cost) in ["R", "CP"].iter().zip(&ours) {
                sheet.ours(&format!("{}-{scheme}-time", part.name), cost.seconds)?;
                sheet.ours(&format!("{}-{scheme}-writes", part.name), cost.writes)?;
            }
            ratios.push(ours);
        }
        for (at, scheme) in ["R", "CP"].iter().enumerate() {
            sheet.ours(
                &format!("mean-{scheme}-time"),
                mean(ratios.iter().map(|r| r[at].seconds)),
            )?;
            sheet.ours(
                &format!("mean-{scheme}-writes"),
                mean(ratios.iter().map(|r| r[at].writes)),
            )?;
        }
        sheet.note(
            "P4 does not say how many iterations it measures, nor what a checkpoint holds: here those that come closest to its 300 million \
             instructions, and one checkpoint of the arrays that the loop writes",
        );
        sheet.finish()
    }
}

/// The geometric mean.
fn mean(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len() as f64;
    (ratios.map(f64::ln).sum::<f64>() / count).exp()
}
