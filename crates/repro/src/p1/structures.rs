//! The persistent data structures.

use prestore_machine::Machine;
use prestore_modes::Mode::{self, Uncacheable, WriteBack, WriteCombining, WriteThrough};

use super::modes::Programs;
use super::{FILE, MACHINE};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// A structure's name in the rows, its program, and its modes, the fastest first as P1 has them.
const ALL: [(&str, &str, [Mode; 4]); 3] = [
    (
        "queue",
        "modes_queue",
        [WriteBack, WriteThrough, Uncacheable, WriteCombining],
    ),
    (
        "hash",
        "modes_hash",
        [WriteBack, WriteThrough, WriteCombining, Uncacheable],
    ),
    (
        "cowlist",
        "modes_cowlist",
        [WriteThrough, WriteBack, WriteCombining, Uncacheable],
    ),
];

/// The arguments of P1's program; `count` shortens them.
pub(super) fn arguments(program: &str, count: impl Fn(u64) -> u64) -> String {
    match program {
        "modes_queue" => format!("--elements={}", count(20_000)),
        "modes_hash" => format!("--elements={}", count(4000)),
        "modes_cowlist" => format!("--length=200 --mutations={}", count(2000)),
        _ => format!("--kind=rw --passes={}", count(4)),
    }
}

/// `p1-fig-4`.
#[derive(Debug)]
pub struct Structures;

impl Experiment for Structures {
    fn name(&self) -> &'static str {
        "p1-fig-4"
    }

    fn about(&self) -> &'static str {
        "caching modes: queue, hash table, copy-on-write list on a Xeon E5620"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let machine = Machine::find(MACHINE)?;
        let mut programs = Programs::with_threads(&lab);
        for (name, program, order) in ALL {
            let arguments = arguments(program, |full| lab.count(full));
            let mut times = Vec::new();
            for mode in order {
                let seconds = programs.written_for(mode, (program, &arguments), &machine)?;
                times.push((mode, seconds));
            }
            let best = times[0].1;
            for (mode, seconds) in &times[1..] {
                let key = format!("{name}-{}", mode.word().to_lowercase());
                sheet.ours(&key, seconds / best)?;
            }
            let as_published = times.is_sorted_by(|a, b| a.1 < b.1);
            sheet.ours(&format!("{name}-order"), f64::from(u8::from(as_published)))?;
        }
        sheet.note(
            "P1 does not say how long its list is, how often the hash table is traversed, nor how its log is laid out: \
             200 elements, once between insertion and removal, and entries of three words that are persistent before \
             the store each",
        );
        sheet.finish()
    }
}
