//! Every mode for every range.

use std::sync::Arc;

use prestore_machine::Machine;
use prestore_replay::HandOffs;
use prestore_sim::Results;
use prestore_whatif::at_once;

use crate::report::{MachineModes, ModeCost, ModesReport, RangeModes, SCHEMA_VERSION, Together};
use crate::{Chosen, Mode, ModesError, Way};

/// A recording, its persistent ranges, and the machines to compare modes on.
pub struct Comparison<'a> {
    /// How to simulate.
    pub way: Way<'a>,
    /// The ranges.
    pub chosen: Chosen,
    /// On what.
    pub machines: &'a [Machine],
}

/// One simulation: a machine, and the modes of all ranges.
type Wanted<'m> = (&'m Machine, Vec<Mode>);

impl Comparison<'_> {
    /// Simulates the program as recorded, and with each range in each mode alone; then each range in its best. On as many
    /// threads as the host has; `done` is called after each simulation, with how many are left of those that are known by then.
    ///
    /// # Errors
    /// The first that a simulation met.
    pub fn compare(&self, done: &(dyn Fn(usize) + Sync)) -> Result<ModesReport, ModesError> {
        let hand_offs = self.way.hand_offs()?;
        let wanted: Vec<Vec<Wanted<'_>>> = (self.machines.iter())
            .map(|machine| self.alone(machine))
            .collect();
        let flat: Vec<Wanted<'_>> = wanted.iter().flatten().cloned().collect();
        let mut outcomes = self.simulated(&flat, &hand_offs, done)?.into_iter();
        let mut machines = Vec::new();
        for (machine, wanted) in self.machines.iter().zip(&wanted) {
            let results: Vec<Results> = outcomes.by_ref().take(wanted.len()).collect();
            let recorded = cost(Mode::WriteBack, &results[0], results[0].cycles);
            let ranges: Vec<RangeModes> = (0..self.chosen.located.len())
                .map(|number| self.range(number, wanted, &results))
                .collect();
            let together = self.together(machine, &ranges, &recorded, (&hand_offs, done))?;
            machines.push(MachineModes {
                machine: machine.name.clone(),
                recorded,
                ranges,
                together,
                notes: notes(machine),
            });
        }
        Ok(ModesReport {
            schema_version: SCHEMA_VERSION,
            machines,
        })
    }

    /// As recorded, and each range in each other mode.
    fn alone<'m>(&self, machine: &'m Machine) -> Vec<Wanted<'m>> {
        let recorded = vec![Mode::WriteBack; self.chosen.located.len()];
        let mut wanted = vec![(machine, recorded.clone())];
        for number in 0..recorded.len() {
            for mode in possible(machine).skip(1) {
                let mut modes = recorded.clone();
                modes[number] = mode;
                wanted.push((machine, modes));
            }
        }
        wanted
    }

    fn simulated(
        &self,
        wanted: &[Wanted<'_>],
        hand_offs: &Arc<HandOffs>,
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Results>, ModesError> {
        let one = |(machine, modes): &Wanted<'_>| {
            let modes = (&self.chosen, modes.as_slice());
            self.way.simulate(machine, modes, hand_offs, &mut |_| ())
        };
        at_once(wanted, one, done).into_iter().collect()
    }

    fn range(&self, number: usize, wanted: &[Wanted<'_>], results: &[Results]) -> RangeModes {
        let mut all: Vec<(Mode, &Results)> = (wanted.iter().zip(results))
            .filter(|((_, modes), _)| {
                let mut others = modes.iter().enumerate().filter(|(i, _)| *i != number);
                others.all(|(_, mode)| *mode == Mode::WriteBack)
            })
            .map(|((_, modes), results)| (modes[number], results))
            .collect();
        let caches = all.iter().position(|(m, _)| *m == Mode::PersistentCaches);
        let caches = caches.map(|at| all.remove(at).1).unwrap_or(&results[0]);
        // Equal ones stay in the order of the modes.
        all.sort_by_key(|(_, results)| results.cycles);
        let least = all[0].1.cycles;
        RangeModes {
            name: self.chosen.located[number].name.clone(),
            bytes: self.chosen.bytes(number),
            best: all[0].0,
            modes: all.into_iter().map(|(m, r)| cost(m, r, least)).collect(),
            persistent_caches: cost(Mode::PersistentCaches, caches, least),
        }
    }

    fn together(
        &self,
        machine: &Machine,
        ranges: &[RangeModes],
        recorded: &ModeCost,
        (hand_offs, done): (&Arc<HandOffs>, &(dyn Fn(usize) + Sync)),
    ) -> Result<Together, ModesError> {
        let modes: Vec<Mode> = ranges.iter().map(|range| range.best).collect();
        let (cycles, seconds) = match ranges {
            [one] => (one.modes[0].cycles, one.modes[0].seconds),
            _ => {
                let results = self.simulated(&[(machine, modes.clone())], hand_offs, done)?;
                (results[0].cycles, results[0].seconds)
            }
        };
        Ok(Together {
            modes,
            cycles,
            seconds,
            speedup: recorded.cycles as f64 / cycles.max(1) as f64,
        })
    }
}

/// The modes that the machine can have, write-back first.
fn possible(machine: &Machine) -> impl Iterator<Item = Mode> + '_ {
    let all = Mode::ALL.into_iter();
    all.filter(|mode| mode.possible_on(machine).is_ok())
}

fn notes(machine: &Machine) -> Vec<String> {
    let lacks = |mode: Mode| {
        let lacks = mode.possible_on(machine).err()?;
        Some(format!("not {}: {} has {lacks}", mode.word(), machine.name))
    };
    Mode::ALL.into_iter().filter_map(lacks).collect()
}

fn cost(mode: Mode, results: &Results, least: u64) -> ModeCost {
    ModeCost {
        mode,
        cycles: results.cycles,
        seconds: results.seconds,
        slower: results.cycles as f64 / least.max(1) as f64 - 1.0,
    }
}
