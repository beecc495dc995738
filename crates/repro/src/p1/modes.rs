//! A program in its mode.

use std::collections::BTreeMap;

use prestore_machine::Machine;
use prestore_modes::{Chosen, Mode, fitted};
use prestore_trace::container::Trace;

use crate::error::ReproError;
use crate::lab::{Lab, Run};

/// Region 1 of each program: without making the file.
const MEASURED: Option<u64> = Some(1);

/// How P1 writes a program for a mode (its section 3.3), as `--form` of the workloads.
pub(super) fn form(mode: Mode) -> &'static str {
    match mode {
        Mode::WriteBack => "clflush",
        Mode::WriteThrough | Mode::Uncacheable | Mode::PersistentCaches => "order",
        Mode::WriteCombining => "fence",
        Mode::NonTemporal => "nt",
    }
}

/// Programs that were recorded, and where their files lie.
pub(super) struct Programs<'l> {
    lab: &'l Lab<'l>,
    recordings: usize,
    recorded: BTreeMap<String, Vec<(Trace, Chosen)>>,
}

impl<'l> Programs<'l> {
    /// Each program is recorded once.
    pub(super) fn new(lab: &'l Lab<'l>) -> Self {
        Self {
            lab,
            recordings: 1,
            recorded: BTreeMap::new(),
        }
    }

    /// Each is recorded three times, with threads that take turns, and the time is the median: how often the work of one is in
    /// vain, because another was faster, is decided in the recording and not on the machine that is simulated.
    pub(super) fn with_threads(lab: &'l Lab<'l>) -> Self {
        Self {
            recordings: 3,
            ..Self::new(lab)
        }
    }

    /// Seconds of `program` in this form, with its file in a mode's memory, on `machine`.
    pub(super) fn seconds(
        &mut self,
        (program, arguments, form): (&'static str, &str, &str),
        machine: &Machine,
        mode: Mode,
    ) -> Result<f64, ReproError> {
        let arguments = format!("{arguments} --form={form}");
        let key = format!("{program} {arguments}");
        let wrong = |why: String| ReproError::Replay {
            what: key.clone(),
            why,
        };
        if !self.recorded.contains_key(&key) {
            let all = (0..self.recordings).map(|number| {
                let run = Run::new(program, &arguments);
                let several = self.recordings > 1;
                let run = match several {
                    true => run.by_turns(number),
                    false => run,
                };
                let trace = self.lab.record(&run)?;
                let chosen = Chosen::new(&trace, &[], false, &mut |_, _| false);
                Ok((trace, chosen.map_err(|e| wrong(e.to_string()))?))
            });
            let all: Result<_, ReproError> = all.collect();
            self.recorded.insert(key.clone(), all?);
        }
        let mut all = Vec::with_capacity(self.recordings);
        for (trace, chosen) in &self.recorded[&key] {
            let named = chosen.located.iter().map(|l| (l.name.clone(), mode));
            let named: Vec<(String, Mode)> = named.collect();
            let machine =
                fitted(machine, &chosen.ranges, &named).map_err(|e| wrong(e.to_string()))?;
            all.push(self.lab.simulate(trace, &machine, MEASURED)?.seconds);
        }
        all.sort_by(f64::total_cmp);
        Ok(all[all.len() / 2])
    }

    /// The same in the form that P1 writes for the mode.
    pub(super) fn written_for(
        &mut self,
        mode: Mode,
        (program, arguments): (&'static str, &str),
        machine: &Machine,
    ) -> Result<f64, ReproError> {
        self.seconds((program, arguments, form(mode)), machine, mode)
    }
}
