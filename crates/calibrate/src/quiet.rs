//! Is the host quiet enough for its figures to be its own?

use std::thread;
use std::time::Duration;

use prestore_measure::{CpuTime, Load, Summary};

use crate::bandwidth;
use crate::clock;
use crate::{CalibrateError, Effort, pin};

/// How long the host is watched before anything is measured.
const WATCHED: Duration = Duration::from_millis(500);
/// Each thread's memory of the reference bandwidth.
const REFERENCE_BYTES: usize = 64 << 20;
/// References that lie this much of the first apart were not measured on the same host, as it were.
const APART: f64 = 0.10;

/// Figures that are measured before and after all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reference {
    /// GHz.
    pub clock: f64,
    /// GB/s that all CPUs read together.
    pub read: f64,
}

impl Reference {
    /// Measures it, in about a tenth of a second.
    ///
    /// # Errors
    /// Those of [`crate::calibrate`].
    pub fn measure() -> Result<Self, CalibrateError> {
        let core = clock::core(Effort::Quick)?.ok_or(CalibrateError::NoClock)?;
        let rounds = bandwidth::reading(Effort::Quick, &pin::cpus(), REFERENCE_BYTES)?;
        Ok(Self {
            clock: core.clock.value(),
            read: Summary::of(&rounds).ok_or(CalibrateError::NoClock)?.median,
        })
    }
}

/// What was seen of a host around its calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watch {
    /// While nothing was measured.
    pub idle: Option<Load>,
    /// While it was.
    pub meanwhile: Option<Load>,
    /// Before.
    pub before: Reference,
    /// After.
    pub after: Reference,
}

impl Watch {
    /// Watches the host while `measure` does its work. Answers what that found, too.
    ///
    /// # Errors
    /// Those of `measure`, and of the reference.
    pub fn over<T>(
        measure: impl FnOnce() -> Result<T, CalibrateError>,
    ) -> Result<(T, Self), CalibrateError> {
        let idle = idle();
        let before = Reference::measure()?;
        let began = CpuTime::now();
        let measured = measure()?;
        let meanwhile = began.and_then(|began| CpuTime::now()?.since(&began));
        let watch = Self {
            idle,
            meanwhile,
            before,
            after: Reference::measure()?,
        };
        Ok((measured, watch))
    }

    /// Why what was measured meanwhile is not to be relied on, a sentence each.
    pub fn disturbed(&self) -> Vec<String> {
        let mut why: Vec<String> = Vec::new();
        let loads = [("before", self.idle), ("while", self.meanwhile)];
        for (when, load) in loads {
            let busy = load.and_then(|load| load.busy());
            why.extend(busy.map(|busy| format!("{when} it was measured {busy}")));
        }
        let references = [
            ("the clock", "GHz", self.before.clock, self.after.clock),
            (
                "the bandwidth of reading",
                "GB/s",
                self.before.read,
                self.after.read,
            ),
        ];
        for (what, unit, before, after) in references {
            if (after / before - 1.0).abs() > APART {
                why.push(format!(
                    "{what} was {before:.1} {unit} before and {after:.1} after"
                ));
            }
        }
        why
    }
}

/// How busy the host is with others' work alone; `None` where the system does not say.
fn idle() -> Option<Load> {
    let before = CpuTime::now()?;
    thread::sleep(WATCHED);
    CpuTime::now()?.since(&before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch() -> Watch {
        let reference = Reference {
            clock: 3.0,
            read: 99.0,
        };
        Watch {
            idle: Some(Load::default()),
            meanwhile: None,
            before: reference,
            after: reference,
        }
    }

    #[test]
    fn a_quiet_host_is_not_disturbed() {
        assert_eq!(watch().disturbed(), [""; 0]);
    }

    #[test]
    fn bandwidth_that_a_neighbour_took_meanwhile_shows() {
        let mut seen = watch();
        seen.after.read = 68.0;
        let why = seen.disturbed();
        assert_eq!(why.len(), 1);
        assert!(
            why[0].contains("99.0 GB/s before and 68.0 after"),
            "{why:?}"
        );
        seen.after.read = 95.0;
        assert!(seen.disturbed().is_empty());
    }

    #[test]
    fn work_of_others_shows_before_and_meanwhile() {
        let mut seen = watch();
        let busy = Load {
            others: 1.5,
            stolen: 0.0,
        };
        seen.idle = Some(busy);
        assert!(seen.disturbed()[0].starts_with("before it was measured other processes used 1.5"));
        (seen.idle, seen.meanwhile) = (None, Some(busy));
        assert!(seen.disturbed()[0].starts_with("while it was measured other"));
    }
}
