//! What the schemes do to instructions and caches (table 3.7).

use prestore_sim::Results;

use super::FILE;
use super::multiply::matrix_rows;
use super::schemes::Loops;
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// The columns of the table that are relative to the base, without the flushes.
const COLUMNS: [&str; 5] = ["instructions", "stores", "dirty", "misses", "evictions"];

/// `p4-table-3-7`.
#[derive(Debug)]
pub struct Statistics;

impl Experiment for Statistics {
    fn name(&self) -> &'static str {
        "p4-table-3-7"
    }

    fn about(&self) -> &'static str {
        "failure-safe tiled matrix multiply on PCM: instructions, stores, evictions, misses and flushes, 8 threads"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let mut sheet = Sheet::of(FILE, self.name())?;
        let lab = Lab::new(options)?;
        let loops = Loops::new(&lab, matrix_rows(options), 8)?;
        let base = Counts::of(&loops.results("tmm_ii", "none")?);
        let recompute = Counts::of(&loops.results("tmm_ii", "R")?);
        for (name, scheme) in [("CP", Some("CPall")), ("L_ii", Some("L")), ("R_ii", None)] {
            let ours = match scheme {
                Some(scheme) => Counts::of(&loops.results("tmm_ii", scheme)?),
                None => recompute,
            };
            for (column, (ours, base)) in COLUMNS.iter().zip(ours.columns.iter().zip(base.columns))
            {
                sheet.ours(&format!("{name}-{column}"), ours / base)?;
            }
            if scheme.is_some() {
                sheet.ours(&format!("{name}-flushes"), ours.flushes / recompute.flushes)?;
            }
        }
        sheet.note("the instructions of threads that wait for a checkpoint are left out: waiting is simulated, not polled");
        sheet.finish()
    }
}

#[derive(Clone, Copy)]
struct Counts {
    /// As [`COLUMNS`].
    columns: [f64; 5],
    flushes: f64,
}

impl Counts {
    fn of(results: &Results) -> Counts {
        let sum = |of: fn(&prestore_sim::OpCounts) -> u64| {
            results
                .threads
                .iter()
                .map(|thread| of(&thread.ops))
                .sum::<u64>() as f64
        };
        let (mut clean, mut dirty, mut misses, mut requests) = (0, 0, 0, 0);
        if let Some(last) = results.levels.last() {
            (clean, dirty) = (last.counts.clean_evictions, last.counts.dirty_evictions);
            misses = last.counts.load_misses + last.counts.own_misses;
            requests = misses + last.counts.load_hits + last.counts.own_hits;
        }
        let evictions = (clean + dirty) as f64;
        Counts {
            columns: [
                results.instructions as f64,
                sum(|ops| ops.stores),
                dirty as f64 / evictions,
                misses as f64 / requests as f64,
                evictions,
            ],
            flushes: sum(|ops| ops.flushes),
        }
    }
}
