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
    recorded: BTreeMap<String, (Trace, Chosen)>,
}

impl<'l> Programs<'l> {
    pub(super) fn new(lab: &'l Lab<'l>) -> Self {
        Self {
            lab,
            recorded: BTreeMap::new(),
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
            let trace = self.lab.record(&Run::new(program, &arguments))?;
            let chosen = Chosen::new(&trace, &[], false, &mut |_, _| false);
            let chosen = chosen.map_err(|e| wrong(e.to_string()))?;
            self.recorded.insert(key.clone(), (trace, chosen));
        }
        let (trace, chosen) = &self.recorded[&key];
        let named = chosen.located.iter().map(|l| (l.name.clone(), mode));
        let named: Vec<(String, Mode)> = named.collect();
        let machine = fitted(machine, &chosen.ranges, &named).map_err(|e| wrong(e.to_string()))?;
        Ok(self.lab.simulate(trace, &machine, MEASURED)?.seconds)
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
