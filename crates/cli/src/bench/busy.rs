//! Runs that others disturbed are made again.

use prestore_measure::CpuTime;

/// How often a disturbed run is made again: what keeps a host busy for longer will not be over soon.
const AGAIN: usize = 2;

/// Keeps account of runs that were disturbed.
#[derive(Debug, Default)]
pub struct Busy {
    runs: usize,
    disturbed: usize,
    /// Of the last that was.
    why: String,
}

impl Busy {
    /// Makes a run; again if others used the CPUs meanwhile. Answers the last one made.
    pub fn undisturbed<T, E>(&mut self, mut run: impl FnMut() -> Result<T, E>) -> Result<T, E> {
        self.watched(&mut run, CpuTime::now)
    }

    fn watched<T, E>(
        &mut self,
        run: &mut impl FnMut() -> Result<T, E>,
        mut now: impl FnMut() -> Option<CpuTime>,
    ) -> Result<T, E> {
        self.runs += 1;
        let mut again = 0;
        loop {
            let before = now();
            let result = run()?;
            let load = before.and_then(|before| now()?.since(&before));
            let Some(why) = load.and_then(|load| load.busy()) else {
                return Ok(result);
            };
            if again == AGAIN {
                self.disturbed += 1;
                self.why = why;
                return Ok(result);
            }
            again += 1;
        }
    }

    /// A sentence where runs stayed disturbed.
    pub fn told(&self) -> Option<String> {
        (self.disturbed > 0).then(|| {
            format!(
                "{} of {} runs were disturbed, made again and disturbed still: {} in the last; measure on an idle host",
                self.disturbed, self.runs, self.why
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks of two CPUs, of which others use so many ticks of 200 in each run.
    fn clocks(others: &[u64]) -> impl FnMut() -> Option<CpuTime> {
        let mut at = (0, 0);
        let mut times = vec![];
        for others in others {
            times.push(at);
            at = (at.0 + others, at.1 + 200 - others);
            times.push(at);
        }
        let mut times = times.into_iter();
        move || {
            let (used, idle) = times.next()?;
            let system = format!("cpu  {used} 0 0 {idle} 0 0 0 0\ncpu0 0\ncpu1 0\n");
            CpuTime::parse(&system, "1 (x) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20")
        }
    }

    fn runs(others: &[u64]) -> (u32, Option<String>) {
        let (mut busy, mut made) = (Busy::default(), 0);
        let mut run = || -> Result<u32, ()> {
            made += 1;
            Ok(made)
        };
        let last = busy.watched(&mut run, clocks(others)).unwrap_or(0);
        (last, busy.told())
    }

    #[test]
    fn a_quiet_run_is_made_once() {
        assert_eq!(runs(&[2]), (1, None));
    }

    #[test]
    fn a_disturbed_one_is_made_again() {
        assert_eq!(runs(&[80, 2]), (2, None));
    }

    #[test]
    fn what_stays_disturbed_is_said() {
        let (made, told) = runs(&[80, 80, 80]);
        assert_eq!(made, 3);
        assert!(told.is_some_and(|t| t.contains("1 of 1 runs") && t.contains("0.8 CPUs")));
    }

    #[test]
    fn where_the_system_says_nothing_runs_count() {
        assert_eq!(runs(&[]), (1, None));
    }
}
