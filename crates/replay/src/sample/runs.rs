//! Runs of units, side by side.

use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread;

use prestore_sim::{MeasuredUnits, Mechanism, Sampling, SimulationError, UnitSimulation};

use super::units::UnitsOf;
use crate::SourceError;

/// One of them.
pub(crate) struct Run<'r, 't, M> {
    pub source: UnitsOf<'t>,
    pub mechanism: &'r mut M,
}

/// What is measured in all `runs`, which are in the order of their units, the notes of their sources, and before how many units the largest
/// cache was not turned over. `watch` is told of each unit.
pub(crate) fn side_by_side<M: Mechanism + Send>(
    simulation: &UnitSimulation<'_>,
    sampling: &Sampling,
    mut runs: Vec<Run<'_, '_, M>>,
    mut watch: Box<dyn FnMut(usize) + '_>,
) -> Result<(MeasuredUnits, Vec<String>, u64), SimulationError<SourceError>> {
    let (told, hears) = channel();
    for run in &mut runs {
        run.source.told = Some(told.clone());
    }
    drop(told);
    let count = runs.len();
    let mut ended: Vec<_> = runs.iter().map(|_| None).collect();
    let left = Mutex::new(runs.into_iter().zip(&mut ended));
    let work = || {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((mut run, ended)) = next else {
                break;
            };
            let measured = simulation.measure(&mut run.source, run.mechanism, sampling);
            *ended = Some((measured, run.source.inner().notes(), run.source.stale));
        }
    };
    thread::scope(|scope| {
        let builder = || thread::Builder::new().name("units".to_owned());
        let spawned = (0..count).filter(|_| builder().spawn_scoped(scope, work).is_ok());
        // Where the system has no thread, there is this one.
        if spawned.count() == 0 {
            work();
        }
        for () in hears {
            watch(1);
        }
    });
    drop(left);
    let mut all = MeasuredUnits::default();
    let (mut notes, mut stale) = (Vec::new(), 0);
    for (measured, said, of_run) in ended.into_iter().flatten() {
        all = all.and(measured?);
        stale += of_run;
        for note in said {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok((all, notes, stale))
}
