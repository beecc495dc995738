//! The array loop: what each mode costs.

use prestore_machine::Machine;
use prestore_modes::Mode;

use super::flush::{State, cycles};
use super::modes::Programs;
use super::{FILE, MACHINE};
use crate::error::ReproError;
use crate::experiment::{Experiment, Options};
use crate::lab::Lab;
use crate::published::Sheet;
use crate::report::Report;

/// Elements of 8 bytes that lie in the L1.
const SMALL: u64 = 2000;
/// P1's: 800 KB.
const LARGE: u64 = 100_000;

/// `p1-fig-3`.
#[derive(Debug)]
pub struct Loop;

impl Experiment for Loop {
    fn name(&self) -> &'static str {
        "p1-fig-3"
    }

    fn about(&self) -> &'static str {
        "caching modes: a loop over an array on a Xeon E5620"
    }

    fn run(&self, options: &Options) -> Result<Report, ReproError> {
        use Mode::{NonTemporal, Uncacheable, WriteBack, WriteCombining, WriteThrough};

        let lab = Lab::new(options)?;
        let mut sheet = Sheet::of(FILE, self.name())?;
        let machine = Machine::find(MACHINE)?;
        let mut programs = Programs::new(&lab);
        let arguments = |kind: &str, elements: u64| {
            let passes = lab.count(4 * LARGE) / elements;
            format!("--kind={kind} --elements={elements} --passes={passes}")
        };
        let mut plain = |kind: &str, mode| {
            let arguments = arguments(kind, LARGE);
            programs.seconds(("modes_array", &arguments, "none"), &machine, mode)
        };
        let read =
            [WriteBack, WriteThrough, WriteCombining, Uncacheable].map(|mode| plain("r", mode));
        let [wb, wt, wc, uc] = read;
        let (wb, wt, wc, uc) = (wb?, wt?, wc?, uc?);
        sheet.ours("r-wt", wt / wb)?;
        sheet.ours("r-wc", wc / uc)?;
        sheet.ours("w-wt", plain("w", WriteThrough)? / plain("w", Uncacheable)?)?;
        sheet.ours("w-wc", plain("w", WriteCombining)? / plain("w", WriteBack)?)?;
        for (key, state) in [
            ("flush-clean", State::Clean),
            ("flush-dirty", State::Dirty),
            ("flush-absent", State::Absent),
        ] {
            sheet.ours(key, cycles(&machine, state)?)?;
        }
        let mut ordered = |kind: &str, elements, mode| {
            let arguments = arguments(kind, elements);
            programs.written_for(mode, ("modes_array", &arguments), &machine)
        };
        let through = ordered("w", LARGE, WriteThrough)?;
        sheet.ours("wb-wb", ordered("w", LARGE, WriteBack)? / through)?;
        sheet.ours("wb-nt", ordered("w", LARGE, NonTemporal)? / through)?;
        let through = ordered("rw", LARGE, WriteThrough)?;
        sheet.ours("rwb-wb", ordered("rw", LARGE, WriteBack)? / through)?;
        sheet.ours("rwb-wc", ordered("rw", LARGE, WriteCombining)? / through)?;
        sheet.ours("rwb-nt", ordered("rw", LARGE, NonTemporal)? / through)?;
        for (key, kind) in [("l1-wb", "w"), ("l1-rwb", "rw")] {
            let through = ordered(kind, SMALL, WriteThrough)?;
            sheet.ours(key, ordered(kind, SMALL, WriteBack)? / through)?;
        }
        sheet.note(
            "\"50% faster\" is read as 1.5 times the time; P1 writes \"2x faster\" where it means twice",
        );
        sheet.finish()
    }
}
